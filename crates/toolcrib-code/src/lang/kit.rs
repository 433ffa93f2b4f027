//! What several languages do in the same way.

use tree_sitter::Node;

use crate::facts::{ARGS_UNKNOWN, Cx, Flow, Literal, Role, ScopeKind};
use crate::facts::{DefId, Expr, ExprId};
use crate::lang::F;

/// How many arguments a list has; unknown if one of these kinds spreads.
pub(super) fn count_args<'t>(cx: &Cx<'t>, list: Option<Node<'t>>, spreads: &[&str]) -> u8 {
    let Some(list) = list else { return 0 };
    cx.count(list, spreads).map_or(ARGS_UNKNOWN, |count| count.min(254) as u8)
}

/// The first argument of a call.
pub(super) fn first_arg<'t>(cx: &mut Cx<'t>, call: Node<'t>) -> ExprId {
    let list = cx.field(call, F::Arguments);
    match list.and_then(|list| list.named_child(0)) {
        // What is given as a function is a scope of its own, and of no use as a value.
        Some(first) if !first.kind().contains("comment") => cx.expr(first),
        _ => ExprId::NONE,
    }
}

/// A name that is read unless something else is known of it.
pub(super) fn read<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    cx.name(node, Role::Read);
    Flow::Skip
}

/// A name of a type.
pub(super) fn type_name<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    cx.name(node, Role::Type);
    Flow::Skip
}

/// A block with its own names.
pub(super) fn block<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    cx.enter(ScopeKind::Block, node, DefId::NONE);
    Flow::Children
}

/// Nothing of interest is in there.
pub(super) fn skip<'t>(_: &mut Cx<'t>, _: Node<'t>) -> Flow {
    Flow::Skip
}

/// The literal that a kind of node is, in most grammars.
pub(super) fn literal(kind: &str) -> Option<Expr> {
    let literal = match kind {
        "string_literal"
        | "raw_string_literal"
        | "string"
        | "template_string"
        | "interpreted_string_literal"
        | "concatenated_string"
        | "char_literal" => Literal::String,
        "integer_literal"
        | "float_literal"
        | "integer"
        | "float"
        | "number"
        | "int_literal"
        | "number_literal"
        | "decimal_integer_literal" => Literal::Number,
        "boolean_literal" | "true" | "false" => Literal::Boolean,
        "array_expression" | "list" | "array" | "list_comprehension" => Literal::List,
        "dictionary" | "object" | "dictionary_comprehension" => Literal::Map,
        "closure_expression"
        | "lambda"
        | "arrow_function"
        | "function_expression"
        | "func_literal"
        | "lambda_expression" => Literal::Function,
        "none" | "null" | "nil" | "undefined" | "unit_expression" => Literal::Null,
        _ => return None,
    };
    Some(Expr::Literal(literal))
}
