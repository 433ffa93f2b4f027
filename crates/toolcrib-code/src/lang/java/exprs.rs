//! Names, expressions and types in Java.

use tree_sitter::Node;

use crate::facts::{Cx, Expr, ExprId, Flow, Role, Type};
use crate::lang::{F, Handler, kit};

pub(super) const HANDLERS: &[(&str, Handler)] = &[
    ("identifier", kit::read),
    ("type_identifier", kit::type_name),
    ("method_invocation", call),
    ("object_creation_expression", new),
    ("field_access", field),
    ("method_reference", reference),
    ("assignment_expression", assignment),
    ("scoped_type_identifier", scoped),
    ("scoped_identifier", scoped),
];

fn object<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> ExprId {
    cx.field(node, F::Object).map_or(ExprId::NONE, |object| cx.expr(object))
}

fn call<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let receiver = object(cx, node);
    let args = kit::count_args(cx, cx.field(node, F::Arguments), &[]);
    if let Some(name) = cx.field(node, F::Name) {
        cx.mark_use(name, Role::Call, args, receiver);
    }
    Flow::Children
}

pub(super) fn mark_type<'t>(cx: &mut Cx<'t>, ty: Node<'t>, role: Role) {
    mark(cx, ty, role, 0);
}

fn mark<'t>(cx: &mut Cx<'t>, ty: Node<'t>, role: Role, args: u8) {
    let mut at = ty;
    for _ in 0..8 {
        match at.kind() {
            "type_identifier" => return cx.mark_use(at, role, args, ExprId::NONE),
            "generic_type" | "annotated_type" => {
                match cx.child(at, &["type_identifier", "scoped_type_identifier"]) {
                    Some(inner) => at = inner,
                    None => return,
                }
            }
            "scoped_type_identifier" => {
                let parts = cx.named(at);
                let receiver = parts.first().map_or(ExprId::NONE, |base| cx.expr(*base));
                if let Some(name) = parts.last() {
                    cx.mark_use(*name, role, args, receiver);
                }
                return;
            }
            _ => return,
        }
    }
}

/// `Outer.Inner`
fn scoped<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let parts = cx.named(node);
    if let (Some(base), Some(name)) = (parts.first(), parts.last()) {
        let receiver = cx.expr(*base);
        let role = if name.kind() == "type_identifier" { Role::Type } else { Role::Read };
        cx.mark_new(*name, role, receiver);
    }
    Flow::Children
}

fn new<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let args = kit::count_args(cx, cx.field(node, F::Arguments), &[]);
    if let Some(ty) = cx.field(node, F::Type) {
        mark(cx, ty, Role::Construct, args);
    }
    Flow::Children
}

fn field<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let receiver = object(cx, node);
    if let Some(name) = cx.field(node, F::Field) {
        cx.mark_new(name, Role::Read, receiver);
    }
    Flow::Children
}

/// `Type::method`
fn reference<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let parts = cx.named(node);
    if let (Some(base), Some(name)) = (parts.first(), parts.last())
        && parts.len() > 1
        && name.kind() == "identifier"
    {
        let receiver = cx.expr(*base);
        cx.mark_use(*name, Role::Read, 0, receiver);
    }
    Flow::Children
}

fn assignment<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    match cx.field(node, F::Left) {
        Some(left) if left.kind() == "identifier" => cx.mark_use(left, Role::Write, 0, ExprId::NONE),
        Some(left) if left.kind() == "field_access" => {
            let receiver = object(cx, left);
            if let Some(name) = cx.field(left, F::Field) {
                cx.mark_use(name, Role::Write, 0, receiver);
            }
        }
        _ => {}
    }
    Flow::Children
}

/// What an expression is.
pub(super) fn expr<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Expr {
    match node.kind() {
        "identifier" | "type_identifier" => Expr::Name(cx.sym(node)),
        "this" => Expr::This,
        "super" => Expr::Super,
        "scoped_type_identifier" | "scoped_identifier" => {
            let parts = cx.named(node);
            let base = parts.first().map_or(ExprId::NONE, |base| cx.expr(*base));
            let name = parts.last().map(|name| cx.sym(*name)).unwrap_or_default();
            Expr::Member { base, name, path: false }
        }
        "generic_type" => node.named_child(0).map_or(Expr::Unknown, |inner| {
            let id = cx.expr(inner);
            cx.facts.expr(id).cloned().unwrap_or(Expr::Unknown)
        }),
        // `Outer.this`
        "field_access" if cx.field(node, F::Field).is_some_and(|name| name.kind() == "this") => {
            cx.field(node, F::Object).map_or(Expr::Unknown, |object| Expr::Typed(cx.ty(object)))
        }
        "field_access" => {
            let base = object(cx, node);
            let name = cx.field(node, F::Field).map(|name| cx.sym(name)).unwrap_or_default();
            Expr::Member { base, name, path: false }
        }
        "method_invocation" => {
            let base = object(cx, node);
            let name = cx.field(node, F::Name).map(|name| cx.sym(name)).unwrap_or_default();
            let callee = match base.is_some() {
                true => Expr::Member { base, name, path: false },
                false => Expr::Name(name),
            };
            let args = kit::count_args(cx, cx.field(node, F::Arguments), &[]);
            Expr::Call { callee: cx.expr_id(callee), args, first: kit::first_arg(cx, node) }
        }
        "object_creation_expression" | "cast_expression" => {
            cx.field(node, F::Type).map_or(Expr::Unknown, |ty| Expr::Typed(cx.ty(ty)))
        }
        "array_access" => cx.field(node, F::Array).map_or(Expr::Unknown, |array| Expr::Index(cx.expr(array))),
        "parenthesized_expression" => node.named_child(0).map_or(Expr::Unknown, |inner| {
            let id = cx.expr(inner);
            cx.facts.expr(id).cloned().unwrap_or(Expr::Unknown)
        }),
        "ternary_expression" => match (cx.field(node, F::Consequence), cx.field(node, F::Alternative)) {
            (Some(left), Some(right)) => Expr::Either(cx.expr(left), cx.expr(right)),
            _ => Expr::Unknown,
        },
        "null_literal" => Expr::Literal(crate::facts::Literal::Null),
        kind => kit::literal(kind).unwrap_or(Expr::Unknown),
    }
}

/// What a type is.
pub(super) fn ty<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Type {
    match node.kind() {
        "type_identifier"
        | "scoped_type_identifier"
        | "integral_type"
        | "floating_point_type"
        | "boolean_type"
        | "void_type"
        | "identifier" => {
            let text: String = cx.text(node).split_whitespace().collect();
            Type::Named { path: cx.intern(&text), args: Vec::new() }
        }
        "generic_type" => {
            let parts = cx.named(node);
            let path: String =
                parts.first().map(|base| cx.text(*base).split_whitespace().collect()).unwrap_or_default();
            let path = cx.intern(&path);
            let list = parts.get(1).map(|list| cx.named(*list)).unwrap_or_default();
            Type::Named { path, args: list.into_iter().map(|arg| cx.ty(arg)).collect() }
        }
        "array_type" => cx.field(node, F::Element).map_or(Type::Unknown, |inner| Type::Array(cx.ty(inner))),
        "wildcard" | "annotated_type" => cx.named(node).last().map_or(Type::Unknown, |inner| {
            let id = cx.ty(*inner);
            cx.facts.ty(id).cloned().unwrap_or(Type::Unknown)
        }),
        _ => Type::Unknown,
    }
}
