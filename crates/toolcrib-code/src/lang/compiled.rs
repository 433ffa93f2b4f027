//! A language made ready: names of nodes and fields turned into the numbers that the tree has.

use tree_sitter::Node;

use super::{Language, Rules};
use crate::facts::{Cx, Expr, Flow, Type};

/// What is done at a node.
pub(crate) type Handler = for<'t> fn(&mut Cx<'t>, Node<'t>) -> Flow;
/// What an expression is.
pub(crate) type ExprRule = for<'t> fn(&mut Cx<'t>, Node<'t>) -> Expr;
/// What a type is.
pub(crate) type TypeRule = for<'t> fn(&mut Cx<'t>, Node<'t>) -> Type;

macro_rules! fields {
    ($($variant:ident = $name:literal,)*) => {
        /// Fields of nodes, in any grammar.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum F {
            $($variant,)*
        }

        const FIELD_NAMES: &[&str] = &[$($name,)*];
    };
}

fields! {
    Alias = "alias",
    Alternative = "alternative",
    Argument = "argument",
    Arguments = "arguments",
    Array = "array",
    Attribute = "attribute",
    Body = "body",
    Bounds = "bounds",
    Consequence = "consequence",
    Constructor = "constructor",
    Declaration = "declaration",
    Declarator = "declarator",
    Definition = "definition",
    Element = "element",
    Field = "field",
    Function = "function",
    Interfaces = "interfaces",
    Key = "key",
    Kind = "kind",
    Left = "left",
    List = "list",
    Macro = "macro",
    Method = "method",
    Module = "module",
    ModuleName = "module_name",
    Name = "name",
    Object = "object",
    Operand = "operand",
    Operator = "operator",
    Package = "package",
    Parameter = "parameter",
    Parameters = "parameters",
    Path = "path",
    Pattern = "pattern",
    Property = "property",
    Receiver = "receiver",
    Result = "result",
    ReturnType = "return_type",
    Right = "right",
    Scope = "scope",
    Source = "source",
    Superclass = "superclass",
    Superclasses = "superclasses",
    Trait = "trait",
    Type = "type",
    TypeArguments = "type_arguments",
    Value = "value",
}

/// A language made ready.
pub(crate) struct Compiled {
    pub(crate) language: &'static Language,
    pub(crate) grammar: tree_sitter::Language,
    handlers: Vec<Option<Handler>>,
    fields: Vec<u16>,
    pub(crate) expr: ExprRule,
    pub(crate) ty: TypeRule,
    pub(crate) outline: Option<&'static super::outline::Outline>,
}

impl Compiled {
    pub(crate) fn new(language: &'static Language) -> Self {
        let grammar = (language.grammar)();
        let field = |name: &&str| grammar.field_id_for_name(name).map_or(0, std::num::NonZero::get);
        let fields = FIELD_NAMES.iter().map(field).collect();
        let mut handlers: Vec<Option<Handler>> = vec![None; grammar.node_kind_count()];
        let mut set = |kind: &str, handler: Handler| {
            // A kind can have several numbers; all that share the name are meant.
            for id in 0..grammar.node_kind_count() as u16 {
                if grammar.node_kind_is_named(id)
                    && grammar.node_kind_for_id(id) == Some(kind)
                    && let Some(slot) = handlers.get_mut(id as usize)
                {
                    *slot = Some(handler);
                }
            }
        };
        for kind in language.comments {
            set(kind, comment);
        }
        let (expr, ty, outline): (ExprRule, TypeRule, _) = match &language.rules {
            Rules::Walk { handlers, expr, ty } => {
                for (kind, handler) in handlers.iter().copied().flatten() {
                    set(kind, *handler);
                }
                (*expr, *ty, None)
            }
            Rules::Outline(table) => {
                for (kind, handler) in table.handlers() {
                    set(kind, handler);
                }
                (super::outline::no_expr, super::outline::no_type, Some(*table))
            }
        };
        Self { language, grammar, handlers, fields, expr, ty, outline }
    }

    pub(crate) fn handler(&self, kind: u16) -> Option<Handler> {
        self.handlers.get(kind as usize).copied().flatten()
    }

    pub(crate) fn field(&self, field: F) -> u16 {
        self.fields.get(field as usize).copied().unwrap_or(0)
    }

    /// Kinds that a language has handlers for and its grammar does not know: a mistake in its table.
    #[cfg(test)]
    pub(crate) fn unknown_kinds(&self) -> Vec<&'static str> {
        let handlers: Vec<(&'static str, Handler)> = match &self.language.rules {
            Rules::Walk { handlers, .. } => handlers.iter().copied().flatten().copied().collect(),
            Rules::Outline(table) => table.handlers(),
        };
        let known = |kind: &&str| {
            let mut ids = 0..self.grammar.node_kind_count() as u16;
            ids.any(|id| self.grammar.node_kind_for_id(id) == Some(kind))
        };
        let kinds = handlers.into_iter().map(|(kind, _)| kind);
        kinds.chain(self.language.comments.iter().copied()).filter(|kind| !known(kind)).collect()
    }
}

fn comment<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    cx.comment(node);
    Flow::Skip
}

#[cfg(test)]
mod tests {
    use crate::lang::ALL;

    #[test]
    fn every_kind_in_a_table_is_one_of_the_grammar() {
        // What one language takes over from another may be more than it has.
        let shared =
            ["jsx_opening_element", "jsx_self_closing_element", "jsx_closing_element", "jsx_attribute"];
        for language in ALL {
            let unknown = language.compiled().unknown_kinds();
            let unknown: Vec<_> = unknown.into_iter().filter(|kind| !shared.contains(kind)).collect();
            assert!(unknown.is_empty(), "{}: {unknown:?}", language.name);
        }
    }
}
