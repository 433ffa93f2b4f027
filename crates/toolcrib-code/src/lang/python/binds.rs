//! What gives a name a value in Python.

use tree_sitter::Node;

use super::{exported, exprs};
use crate::facts::{
    BindingKind, Cx, DefId, ExprId, Flags, Flow, Kind, Part, Role, ScopeKind, Source, TypeId, span,
};
use crate::lang::F;

pub(super) fn assignment<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(left) = cx.field(node, F::Left) else { return Flow::Children };
    let ty = cx.field(node, F::Type).map_or(TypeId::NONE, |ty| cx.ty(ty));
    let right = cx.field(node, F::Right);
    let value = right.map_or(ExprId::NONE, |right| cx.expr(right));
    if cx.text(left) == "__all__" && cx.scope_kind() == ScopeKind::File {
        all(cx, right);
    }
    let source = Source { ty, value, ..Source::nothing() };
    targets(cx, node, left, BindingKind::Local, source);
    Flow::Children
}

/// `__all__`: what a module exports, and in which file to look for it.
fn all<'t>(cx: &mut Cx<'t>, list: Option<Node<'t>>) {
    for item in list.map(|list| cx.named(list)).unwrap_or_default() {
        if let Some(content) = cx.child(item, &["string_content"]) {
            let (name, start) = (cx.sym(content), content.start_byte() as u32);
            cx.export(name, name, start);
            cx.reference_at(name, start, Role::Export, 0, ExprId::NONE);
        }
    }
}

pub(super) fn augmented<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(left) = cx.field(node, F::Left) {
        write(cx, left);
    }
    if cx.field(node, F::Left).is_some_and(|left| cx.text(left) == "__all__") {
        let right = cx.field(node, F::Right);
        all(cx, right);
    }
    Flow::Children
}

fn write<'t>(cx: &mut Cx<'t>, target: Node<'t>) {
    match target.kind() {
        "identifier" => cx.mark_use(target, Role::Write, 0, ExprId::NONE),
        "attribute" => {
            let receiver = exprs::object(cx, target);
            if let Some(name) = cx.field(target, F::Attribute) {
                cx.mark_use(name, Role::Write, 0, receiver);
            }
        }
        _ => {}
    }
}

/// Gives all names of a target their part of the value.
fn targets<'t>(cx: &mut Cx<'t>, node: Node<'t>, target: Node<'t>, kind: BindingKind, source: Source) {
    let mut left = vec![(target, source)];
    while let Some((at, source)) = left.pop() {
        match at.kind() {
            "identifier" => name(cx, node, at, kind, source),
            "attribute" => attribute(cx, node, at, source),
            "pattern_list" | "tuple_pattern" | "list_pattern" | "expression_list" | "tuple" => {
                for (index, child) in cx.named(at).into_iter().enumerate() {
                    left.push((child, source.part(Part::Index(index.min(255) as u8))));
                }
            }
            "list_splat_pattern" | "as_pattern_target" | "parenthesized_expression" => {
                left.extend(at.named_child(0).map(|child| (child, source)));
            }
            _ => {}
        }
    }
}

fn name<'t>(cx: &mut Cx<'t>, node: Node<'t>, at: Node<'t>, kind: BindingKind, source: Source) {
    let sym = cx.sym(at);
    if cx.in_function() || cx.scope_kind() == ScopeKind::Comprehension {
        let scope = cx.function_scope();
        cx.bind(at, kind, &Source { scope: Some(scope), ..source });
        return;
    }
    let scope = cx.function_scope();
    if !cx.is_first(scope, DefId::NONE, sym) {
        cx.mark_use(at, Role::Write, 0, ExprId::NONE);
        return;
    }
    let text = cx.text(at);
    let constant = text.chars().any(char::is_uppercase) && !text.chars().any(char::is_lowercase);
    let kind = match cx.scope_kind() {
        ScopeKind::Type => Kind::Field,
        _ if constant => Kind::Constant,
        _ => Kind::Variable,
    };
    let mut new = cx.new_definition(at, kind, node);
    new.flags = Flags::default().when(exported(text), Flags::EXPORTED);
    if source.part.is_whole() {
        (new.ty, new.value) = (source.ty, source.value);
    }
    if node.kind() != "assignment" {
        new.span = span(at);
    } else if span(node).end - span(node).start > 200 {
        new.head_end = cx.field(node, F::Right).map_or(new.head_end, |right| right.start_byte() as u32);
    }
    cx.define(new);
}

/// `self.x = …` in a method defines a field.
fn attribute<'t>(cx: &mut Cx<'t>, node: Node<'t>, at: Node<'t>, source: Source) {
    let own = cx.field(at, F::Object).is_some_and(|object| matches!(cx.text(object), "self" | "cls"));
    let class = cx.type_around();
    let Some(name) = cx.field(at, F::Attribute) else { return };
    let sym = cx.sym(name);
    let body = cx.facts.definition(class).map(|class| class.body).unwrap_or_default();
    let first = own && class.is_some() && cx.is_first(body, DefId::NONE, sym);
    if !first {
        write(cx, at);
        return;
    }
    let mut new = cx.new_definition(name, Kind::Field, node);
    new.flags = Flags::default().when(exported(cx.text(name)), Flags::EXPORTED);
    if source.part.is_whole() {
        (new.ty, new.value) = (source.ty, source.value);
    }
    // A parameter's value is only known inside the method: what it is annotated with is the field's type.
    if let Some(crate::facts::Expr::Name(value)) = cx.facts.expr(source.value)
        && new.ty.is_none()
        && let Some(scope) = cx.facts.scope(cx.function_scope())
    {
        let (value, span) = (*value, scope.span);
        let of = cx.facts.bindings.iter().rev().take(64).find(|binding| {
            binding.name == value && binding.kind == BindingKind::Parameter && span.contains(binding.start)
        });
        new.ty = of.map_or(TypeId::NONE, |binding| binding.ty);
    }
    cx.define_in(class, new);
}

pub(super) fn walrus<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let (Some(name), Some(value)) = (cx.field(node, F::Name), cx.field(node, F::Value)) {
        let value = cx.expr(value);
        targets(cx, node, name, BindingKind::Local, Source::value(value, Part::Whole));
    }
    Flow::Children
}

pub(super) fn for_<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let (Some(left), Some(right)) = (cx.field(node, F::Left), cx.field(node, F::Right)) {
        let value = cx.expr(right);
        targets(cx, node, left, BindingKind::Loop, Source::value(value, Part::Element));
    }
    Flow::Children
}

pub(super) fn for_in<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let (Some(left), Some(right)) = (cx.field(node, F::Left), cx.field(node, F::Right)) {
        let value = cx.expr(right);
        let scope = Some(cx.scope);
        let source = Source { scope, ..Source::value(value, Part::Element) };
        let mut todo = vec![(left, source)];
        while let Some((at, source)) = todo.pop() {
            match at.kind() {
                "identifier" => cx.bind(at, BindingKind::Comprehension, &source),
                "pattern_list" | "tuple_pattern" | "list_pattern" => {
                    let parts = cx.named(at).into_iter().enumerate();
                    todo.extend(
                        parts.map(|(index, part)| (part, source.part(Part::Index(index.min(255) as u8)))),
                    );
                }
                _ => {}
            }
        }
    }
    Flow::Children
}

pub(super) fn with_item<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let inner = cx.field(node, F::Value).filter(|value| value.kind() == "as_pattern");
    if let Some(inner) = inner
        && let (Some(value), Some(alias)) = (inner.named_child(0), cx.field(inner, F::Alias))
    {
        let value = cx.expr(value);
        targets(cx, node, alias, BindingKind::Local, Source::value(value, Part::Entered));
    }
    Flow::Children
}

pub(super) fn except<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let inner = cx.child(node, &["as_pattern"]);
    let (value, alias) = match inner {
        Some(inner) => (inner.named_child(0), cx.field(inner, F::Alias)),
        None => (cx.field(node, F::Value), cx.field(node, F::Alias)),
    };
    if let (Some(value), Some(alias)) = (value, alias) {
        let ty = cx.ty(value);
        targets(cx, node, alias, BindingKind::Catch, Source::typed(ty));
    }
    Flow::Children
}

/// A bare name in a `case` takes the value; a dotted one is compared.
pub(super) fn case_pattern<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(inner) = node.named_child(0) else { return Flow::Children };
    match inner.kind() {
        "dotted_name" if inner.named_child_count() == 1 => {
            if let Some(name) = inner.named_child(0).filter(|name| cx.text(*name) != "_") {
                let scope = cx.function_scope();
                cx.bind(name, BindingKind::Pattern, &Source { scope: Some(scope), ..Source::nothing() });
            }
        }
        "class_pattern" => {
            if let Some(class) = inner.named_child(0) {
                let names = cx.named(class);
                if let [name] = names.as_slice() {
                    cx.mark_use(*name, Role::Type, 0, ExprId::NONE);
                }
            }
        }
        _ => {}
    }
    Flow::Children
}
