//! `isinstance`: where it has been asked, a name is known to be of a type.

use tree_sitter::Node;

use crate::facts::{BindingKind, Cx, Source, Span, span};
use crate::lang::F;

/// `isinstance(x, T)` in a condition.
pub(super) fn isinstance<'t>(cx: &mut Cx<'t>, call: Node<'t>) {
    let Some(list) = cx.field(call, F::Arguments) else { return };
    let args = cx.named(list);
    let [of, ty] = args.as_slice() else { return };
    let is_path = of.kind() == "identifier" || of.kind() == "attribute";
    let text = cx.text(*of);
    if !is_path || text.len() > 80 || text.contains(|c: char| !(c == '_' || c == '.' || c.is_alphanumeric()))
    {
        return;
    }
    let Some(visible) = holds(cx, call) else { return };
    let (name, start) = (cx.intern(text), of.start_byte() as u32);
    let ty = cx.ty(*ty);
    let scope = cx.function_scope();
    let source = Source { scope: Some(scope), visible: Some(visible), ..Source::typed(ty) };
    cx.bind_at(name, start, BindingKind::Narrowed, &source);
}

/// The part of the file in which a condition is known to hold.
fn holds<'t>(cx: &Cx<'t>, call: Node<'t>) -> Option<Span> {
    let mut inner = call;
    let mut negated = false;
    for (index, around) in cx.above.iter().copied().enumerate().rev().take(24) {
        let after = call.end_byte() as u32;
        match around.kind() {
            "parenthesized_expression" => {}
            "not_operator" => negated = !negated,
            "boolean_operator" => {
                let text = cx.slice(Span::new(
                    cx.field(around, F::Left)?.end_byte() as u32,
                    cx.field(around, F::Right)?.start_byte() as u32,
                ));
                // `not isinstance(x, T) or …`: what comes after is only asked if it holds.
                let is_and = text.contains("and");
                if is_and == negated {
                    let right = cx.field(around, F::Right)?;
                    return (right != inner).then(|| span(right));
                }
            }
            "if_statement" | "elif_clause" | "while_statement" => {
                let body = cx.field(around, F::Consequence).or_else(|| cx.field(around, F::Body))?;
                if inner == body {
                    return None;
                }
                if !negated {
                    return Some(Span::new(after, body.end_byte() as u32));
                }
                let leaves = cx.named(body).last().is_some_and(|last| {
                    matches!(
                        last.kind(),
                        "return_statement" | "raise_statement" | "continue_statement" | "break_statement"
                    )
                });
                let block = cx.above.get(index.checked_sub(1)?)?;
                return leaves.then(|| Span::new(around.end_byte() as u32, block.end_byte() as u32));
            }
            "assert_statement" if !negated => {
                let block = cx.above.get(index.checked_sub(1)?)?;
                return Some(Span::new(after, block.end_byte() as u32));
            }
            "conditional_expression" => {
                let parts = cx.named(around);
                let [yes, asked, no] = parts.as_slice() else { return None };
                return (inner == *asked).then(|| span(if negated { *no } else { *yes }));
            }
            "if_clause" if !negated => {
                return cx.above.get(index.checked_sub(1)?).map(|around| span(*around));
            }
            _ => return None,
        }
        inner = around;
    }
    None
}
