//! Types and expressions, each kept once however often it is written.

use tree_sitter::Node;

use super::cx::Cx;
use super::{Expr, ExprId, Type, TypeId};

/// Expressions and types are followed this deep.
const MAX_DEPTH: u32 = 48;

impl<'t> Cx<'t> {
    pub(crate) fn ty(&mut self, node: Node<'t>) -> TypeId {
        if self.depth >= MAX_DEPTH {
            return TypeId::NONE;
        }
        self.depth += 1;
        let ty = (self.compiled.ty)(self, node);
        self.depth -= 1;
        self.type_id(ty)
    }

    pub(crate) fn type_id(&mut self, ty: Type) -> TypeId {
        if let Some(id) = self.types.get(&ty) {
            return *id;
        }
        self.facts.types.push(ty.clone());
        let id = TypeId::new(self.facts.types.len() - 1);
        self.types.insert(ty, id);
        id
    }

    /// A type by its path alone.
    pub(crate) fn named_type(&mut self, path: &str) -> TypeId {
        let path = self.intern(path);
        self.type_id(Type::Named { path, args: Vec::new() })
    }

    pub(crate) fn expr(&mut self, node: Node<'t>) -> ExprId {
        if let Some(id) = self.expr_of.get(&node.id()) {
            return *id;
        }
        if self.depth >= MAX_DEPTH {
            return self.expr_id(Expr::Unknown);
        }
        self.depth += 1;
        let expr = (self.compiled.expr)(self, node);
        self.depth -= 1;
        let id = self.expr_id(expr);
        self.expr_of.insert(node.id(), id);
        id
    }

    pub(crate) fn expr_id(&mut self, expr: Expr) -> ExprId {
        if let Some(id) = self.exprs.get(&expr) {
            return *id;
        }
        self.facts.exprs.push(expr.clone());
        let id = ExprId::new(self.facts.exprs.len() - 1);
        self.exprs.insert(expr, id);
        id
    }
}
