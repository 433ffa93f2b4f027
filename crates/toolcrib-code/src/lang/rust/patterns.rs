//! Names that Rust's patterns bind.

use tree_sitter::Node;

use super::{after, exprs};
use crate::facts::{BindingKind, Cx, DefId, Flow, Part, Parts, ScopeKind, Source, Span, TypeId, span};
use crate::lang::F;

pub(super) fn let_<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let mut source = Source::nothing();
    source.ty = cx.field(node, F::Type).map_or(TypeId::NONE, |ty| cx.ty(ty));
    if let Some(value) = cx.field(node, F::Value) {
        source.value = cx.expr(value);
    }
    source.visible = Some(after(cx, node));
    if let Some(pattern) = cx.field(node, F::Pattern) {
        bind(cx, pattern, BindingKind::Local, source);
    }
    Flow::Children
}

/// `if let` and `while let`: seen from there to the end of the branch.
pub(super) fn let_condition<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let mut source = Source::nothing();
    if let Some(value) = cx.field(node, F::Value) {
        source.value = cx.expr(value);
    }
    let branch = cx.above.iter().rev().find_map(|above| match above.kind() {
        "if_expression" => Some(cx.field(*above, F::Consequence)),
        "while_expression" => Some(cx.field(*above, F::Body)),
        "match_arm" => Some(cx.field(*above, F::Value)),
        "let_chain" | "match_pattern" | "parenthesized_expression" | "binary_expression" => None,
        _ => Some(None),
    });
    let end = branch.flatten().map_or(span(node).end, |branch| span(branch).end);
    source.visible = Some(Span::new(span(node).end, end));
    if let Some(pattern) = cx.field(node, F::Pattern) {
        bind(cx, pattern, BindingKind::Pattern, source);
    }
    Flow::Children
}

pub(super) fn for_<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let value = cx.field(node, F::Value).map(|value| cx.expr(value));
    let mut source = Source::nothing();
    source.value = value.unwrap_or_default();
    source.part = Parts::one(Part::Element);
    source.visible = cx.field(node, F::Body).map(span);
    if let Some(pattern) = cx.field(node, F::Pattern) {
        bind(cx, pattern, BindingKind::Loop, source);
    }
    Flow::Children
}

pub(super) fn match_arm<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let matched = cx.above.iter().rev().find(|above| above.kind() == "match_expression").copied();
    let value = matched.and_then(|matched| cx.field(matched, F::Value));
    let mut source = Source::nothing();
    source.value = value.map(|value| cx.expr(value)).unwrap_or_default();
    cx.enter(ScopeKind::Block, node, DefId::NONE);
    if let Some(pattern) = cx.field(node, F::Pattern).and_then(|pattern| pattern.named_child(0)) {
        bind(cx, pattern, BindingKind::Pattern, source);
    }
    Flow::Children
}

/// Binds every name of a pattern. Not by recursion: a pattern nests as deep as it likes.
pub(super) fn bind<'t>(cx: &mut Cx<'t>, pattern: Node<'t>, kind: BindingKind, source: Source) {
    let mut left = vec![(pattern, source)];
    while let Some((node, source)) = left.pop() {
        match node.kind() {
            // A bare capitalised name in a pattern is a constant or a variant.
            "identifier" => {
                let text = cx.text(node);
                let constant = kind != BindingKind::Parameter && text.starts_with(|c: char| c.is_uppercase());
                if constant || text == "_" {
                    continue;
                }
                cx.bind(node, kind, &source);
            }
            "shorthand_field_identifier" => {
                let name = cx.sym(node);
                cx.bind(node, kind, &source.part(Part::Field(name)));
            }
            "mut_pattern" | "ref_pattern" | "reference_pattern" | "or_pattern" | "match_pattern" => {
                left.extend(cx.named(node).into_iter().map(|child| (child, source)));
            }
            "captured_pattern" => {
                // `name @ pattern`
                left.extend(cx.named(node).into_iter().map(|child| (child, source)));
            }
            "tuple_pattern" => {
                for (index, child) in cx.named(node).into_iter().enumerate() {
                    left.push((child, source.part(Part::Index(index.min(255) as u8))));
                }
            }
            "slice_pattern" => {
                left.extend(cx.named(node).into_iter().map(|child| (child, source.part(Part::Element))));
            }
            "tuple_struct_pattern" => {
                let ty = cx.field(node, F::Type);
                let variant = ty.and_then(|ty| exprs::last_name(cx, ty)).map(|name| cx.sym(name));
                for (index, child) in cx.named(node).into_iter().enumerate().skip(1) {
                    let part = match variant {
                        Some(variant) => Part::Variant(variant, (index - 1).min(255) as u8),
                        None => Part::Unknown,
                    };
                    left.push((child, source.part(part)));
                }
            }
            "struct_pattern" => {
                // The fields' types are the struct's, whatever is matched.
                let ty = cx.field(node, F::Type).map(|ty| cx.ty(ty));
                let source = match ty {
                    Some(ty) => Source { ty, part: Parts::default(), ..source },
                    None => source,
                };
                for child in cx.named(node).into_iter().filter(|child| child.kind() == "field_pattern") {
                    let name = cx.field(child, F::Name);
                    let field = name.map(|name| cx.sym(name)).unwrap_or_default();
                    match (cx.field(child, F::Pattern), name) {
                        (Some(pattern), _) => left.push((pattern, source.part(Part::Field(field)))),
                        (None, Some(name)) => left.push((name, source)),
                        (None, None) => {}
                    }
                }
            }
            _ => {}
        }
    }
}
