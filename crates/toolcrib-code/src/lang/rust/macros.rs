//! Macro calls in Rust: their arguments are only tokens, but mostly tokens of expressions.

use tree_sitter::Node;

use super::exprs;
use crate::facts::{ARGS_UNKNOWN, Cx, Expr, ExprId, Flow, Role};
use crate::lang::F;

pub(super) fn invocation<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(path) = cx.field(node, F::Macro)
        && let Some(name) = exprs::last_name(cx, path)
    {
        let receiver = exprs::receiver_of(cx, path);
        cx.mark_use(name, Role::Macro, ARGS_UNKNOWN, receiver);
    }
    Flow::Children
}

/// Reads `a.b(c)` and `A::b(c)` off the tokens.
pub(super) fn token_tree<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let mut cursor = node.walk();
    let tokens: Vec<Node<'t>> = node.children(&mut cursor).collect();
    let mut before = ExprId::NONE;
    let mut joined = false;
    let mut path = false;
    for (index, token) in tokens.iter().enumerate() {
        let next = tokens.get(index + 1).copied();
        match token.kind() {
            "." | "::" => {
                joined = before.is_some();
                path = token.kind() == "::";
                continue;
            }
            "?" => continue,
            "identifier" => {
                let receiver = if joined { before } else { ExprId::NONE };
                let called =
                    next.filter(|next| next.kind() == "token_tree" && cx.text(*next).starts_with('('));
                let role = match next.map(|next| next.kind()) {
                    _ if called.is_some() => Role::Call,
                    Some("!") => Role::Macro,
                    _ => Role::Read,
                };
                let args = called.map_or(0, |list| count(cx, list));
                cx.mark_use(*token, role, args, receiver);
                let name = cx.sym(*token);
                before = match receiver.is_some() {
                    true => cx.expr_id(Expr::Member { base: receiver, name, path }),
                    false => cx.expr_id(Expr::Name(name)),
                };
                if called.is_some() {
                    before = cx.expr_id(Expr::Call { callee: before, args, first: ExprId::NONE });
                }
            }
            "self" if next.is_none_or(|next| next.kind() != "::") => before = cx.expr_id(Expr::This),
            "self" | "super" | "crate" => {
                let name = cx.sym(*token);
                before = cx.expr_id(Expr::Name(name));
            }
            "token_tree" => {
                // The arguments of a call keep the chain; anything else in brackets is a value of its own.
                let follows_name = index.checked_sub(1).and_then(|last| tokens.get(last));
                if before.is_some() && cx.text(*token).starts_with('[') {
                    before = cx.expr_id(Expr::Index(before));
                } else if follows_name.is_none_or(|last| last.kind() != "identifier") {
                    before = cx.expr_id(Expr::Unknown);
                }
            }
            "string_literal" | "raw_string_literal" => before = cx.expr_id(Expr::Unknown),
            _ => before = ExprId::NONE,
        }
        joined = false;
    }
    Flow::Children
}

fn count<'t>(cx: &Cx<'t>, list: Node<'t>) -> u8 {
    let mut cursor = list.walk();
    let tokens: Vec<&str> = list.children(&mut cursor).map(|token| token.kind()).collect();
    let inside = tokens.get(1..tokens.len().saturating_sub(1)).unwrap_or_default();
    // A closure's commas would be counted too.
    if inside.contains(&"|") || cx.text(list).len() > 4000 {
        return ARGS_UNKNOWN;
    }
    match inside {
        [] => 0,
        [rest @ .., last] => {
            let commas = rest.iter().filter(|token| **token == ",").count();
            (commas + 1 + usize::from(*last == ",") - usize::from(*last == ",")).min(254) as u8
        }
    }
}
