//! What gives a name a value in Python.

use tree_sitter::Node;

use super::{exported, exprs, written};
use crate::facts::{
    BindingKind, Cx, DefId, Expr, ExprId, Flags, Flow, Kind, Literal, Part, Role, ScopeId, ScopeKind, Source,
    Span, Sym, TypeId, span,
};
use crate::lang::F;

pub(super) fn assignment<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(left) = cx.field(node, F::Left) else { return Flow::Children };
    let written = cx.field(node, F::Type);
    let mut ty = written.map_or(TypeId::NONE, |ty| cx.ty(ty));
    let right = cx.field(node, F::Right);
    let is_alias = written.is_some_and(|ty| cx.text(ty).ends_with("TypeAlias"));
    if let Some(right) = right.filter(|_| (ty.is_none() || is_alias) && left.kind() == "identifier") {
        let named = if is_alias { Some(cx.ty(right)) } else { written::alias(cx, right) };
        if let Some(named) = named.filter(|_| !cx.in_function()) {
            ty = named;
            if right.kind() != "call" {
                exprs::mark_type(cx, right, Role::Type);
            }
        }
    }
    let value = right.map_or(ExprId::NONE, |right| cx.expr(right));
    if cx.text(left) == "__all__" && cx.scope_kind() == ScopeKind::File {
        all(cx, right);
    }
    let source = Source { ty, value, visible: after(cx, node), ..Source::nothing() };
    targets(cx, node, left, BindingKind::Local, source);
    Flow::Children
}

/// From the end of what gives a name its value: what is written in there still sees what the name was before.
fn after<'t>(cx: &Cx<'t>, node: Node<'t>) -> Option<Span> {
    let scope = cx.facts.scope(cx.function_scope())?;
    Some(Span::new(node.end_byte() as u32, scope.span.end))
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
    let scope = cx.function_scope();
    if cx.in_function() || cx.scope_kind() == ScopeKind::Comprehension {
        // What belongs to a scope further out, and what is a function by that name, is only given another value.
        if cx.was_seen(scope, taken(), sym) || is_function(cx, scope, sym) {
            cx.mark_use(at, Role::Write, 0, ExprId::NONE);
            return;
        }
        let source = alternatives(cx, scope, sym, source);
        cx.bind(at, kind, &Source { scope: Some(scope), ..source });
        return;
    }
    if !cx.is_first(scope, DefId::NONE, sym) {
        cx.mark_use(at, Role::Write, 0, ExprId::NONE);
        another_value(cx, scope, DefId::NONE, sym, at, source);
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
    let value = whole(cx, at, source);
    (new.ty, new.value) = (if source.part.is_whole() { source.ty } else { TypeId::NONE }, value);
    if node.kind() != "assignment" {
        new.span = span(at);
    } else if span(node).end - span(node).start > 200 {
        new.head_end = cx.field(node, F::Right).map_or(new.head_end, |right| right.start_byte() as u32);
    }
    cx.define(new);
}

/// Marks a name that a function takes from a scope further out.
fn taken() -> DefId {
    DefId::new(u32::MAX as usize - 1)
}

/// How many values of one name are kept.
const MAX_VALUES: usize = 6;

/// `global x`, `nonlocal x`
pub(super) fn outer<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let scope = cx.function_scope();
    for name in cx.named(node) {
        let name = cx.sym(name);
        cx.is_first(scope, taken(), name);
    }
    Flow::Skip
}

fn is_function(cx: &Cx<'_>, scope: ScopeId, name: Sym) -> bool {
    let Some(from) = cx.facts.scope(scope).map(|scope| scope.span.start) else { return false };
    let inside = cx.facts.definitions.iter().rev().take_while(|definition| definition.name_start >= from);
    inside.take(256).any(|other| other.scope == scope && other.name == name && other.kind.is_callable())
}

/// A value that is given in a branch does not replace what was there before.
fn alternatives(cx: &mut Cx<'_>, scope: ScopeId, name: Sym, source: Source) -> Source {
    if !source.part.is_whole() || source.ty.is_some() {
        return source;
    }
    let bindings = cx.facts.bindings.iter().enumerate().rev().take(256);
    let before = bindings.filter(|(_, other)| other.kind != BindingKind::Narrowed);
    let before = before.map(|(index, other)| (index, other.name, other.scope, other.start));
    let Some((index, start)) = before
        .filter(|(_, other, at, _)| *other == name && *at == scope)
        .map(|(index, _, _, start)| (index, start))
        .next()
    else {
        return source;
    };
    let branch = cx.above.iter().rev().find(|node| {
        matches!(
            node.kind(),
            "if_statement"
                | "elif_clause"
                | "else_clause"
                | "except_clause"
                | "case_clause"
                | "for_statement"
                | "while_statement"
                | "try_statement"
                | "function_definition"
                | "lambda"
        )
    });
    let in_branch = branch.is_some_and(|node| {
        !matches!(node.kind(), "function_definition" | "lambda") && start < node.start_byte() as u32
    });
    if !in_branch {
        return source;
    }
    let bound = cx.expr_id(Expr::Bound(index as u32));
    let value = match cx.facts.expr(source.value) {
        None | Some(Expr::Literal(Literal::Null)) => bound,
        _ => cx.expr_id(Expr::Either(bound, source.value)),
    };
    Source { value, ..source }
}

/// A variable or field is given a value once more.
fn another_value<'t>(cx: &mut Cx<'t>, scope: ScopeId, of: DefId, name: Sym, at: Node<'t>, source: Source) {
    let all = cx.facts.definitions.iter().enumerate().rev().take(2000);
    let mut same = all.filter(|(_, other)| {
        let here = if of.is_some() { other.parent == of } else { other.scope == scope };
        here && other.name == name && !other.kind.is_callable() && !other.kind.is_type()
    });
    let Some((index, old_ty, old)) = same.next().map(|(index, found)| (index, found.ty, found.value)) else {
        return;
    };
    if old_ty.is_some() {
        return;
    }
    let mut value = old;
    if !is_nothing(cx, source.value) && values(cx, old) < MAX_VALUES {
        let new = whole(cx, at, source);
        let new = cx.expr_id(Expr::Inside(new, at.start_byte() as u32));
        value = match is_nothing(cx, old) {
            true => new,
            false => cx.expr_id(Expr::Either(old, new)),
        };
    }
    if let Some(definition) = cx.facts.definitions.get_mut(index) {
        definition.value = value;
        if source.part.is_whole() {
            definition.ty = source.ty;
        }
    }
}

/// The value that a name gets; of a part of one, what a binding without a name holds.
fn whole<'t>(cx: &mut Cx<'t>, at: Node<'t>, source: Source) -> ExprId {
    if source.part.is_whole() || source.value.is_none() {
        return source.value;
    }
    let (name, index, scope) = (cx.sym(at), cx.facts.bindings.len(), cx.function_scope());
    let hidden = Source { scope: Some(scope), visible: Some(Span::default()), ..source };
    cx.bind_at(name, at.start_byte() as u32, BindingKind::Narrowed, &hidden);
    cx.expr_id(Expr::Bound(index as u32))
}

fn is_nothing(cx: &Cx<'_>, value: ExprId) -> bool {
    matches!(cx.facts.expr(value), None | Some(Expr::Unknown | Expr::Literal(Literal::Null)))
}

fn values(cx: &Cx<'_>, value: ExprId) -> usize {
    let (mut at, mut count) = (value, 1);
    while let Some(Expr::Either(left, _)) = cx.facts.expr(at) {
        (at, count) = (*left, count + 1);
    }
    count
}

/// A function without a written return type is known by what it returns.
pub(super) fn returns<'t>(cx: &mut Cx<'t>, value: Node<'t>) {
    let is_function = |scope: &crate::facts::Scope| scope.kind == ScopeKind::Function;
    if !cx.facts.scope(cx.function_scope()).is_some_and(is_function) {
        return;
    }
    let around = cx.facts.definition(cx.definition).filter(|around| around.kind.is_callable());
    let Some(old) = around.filter(|around| around.ty.is_none()).map(|around| around.value) else { return };
    let new = exprs::placed(cx, value);
    if is_nothing(cx, new) {
        return;
    }
    let value = match old.is_some() {
        true if values(cx, old) >= MAX_VALUES => old,
        true if old == new => old,
        true => cx.expr_id(Expr::Either(old, new)),
        false => new,
    };
    if let Some(index) = cx.definition.index()
        && let Some(around) = cx.facts.definitions.get_mut(index)
    {
        around.value = value;
    }
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
        if own && class.is_some() {
            another_value(cx, body, class, sym, name, source);
        }
        return;
    }
    let mut new = cx.new_definition(name, Kind::Field, node);
    new.flags = Flags::default().when(exported(cx.text(name)), Flags::EXPORTED);
    let value = whole(cx, name, source);
    (new.ty, new.value) = (if source.part.is_whole() { source.ty } else { TypeId::NONE }, value);
    // A parameter's value is only known inside the method: what it is annotated with is the field's type.
    if let Some(crate::facts::Expr::Name(value)) = cx.facts.expr(source.value)
        && new.ty.is_none()
    {
        let (value, scope) = (*value, cx.function_scope());
        let of = cx.facts.bindings.iter().rev().take(64).find(|binding| {
            binding.name == value && binding.kind == BindingKind::Parameter && binding.scope == scope
        });
        new.ty = of.map_or(TypeId::NONE, |binding| binding.ty);
    }
    cx.define_in(class, new);
}

pub(super) fn walrus<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let (Some(name), Some(value)) = (cx.field(node, F::Name), cx.field(node, F::Value)) {
        let value = cx.expr(value);
        let source = Source { visible: after(cx, node), ..Source::value(value, Part::Whole) };
        targets(cx, node, name, BindingKind::Local, source);
    }
    Flow::Children
}

pub(super) fn for_<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let (Some(left), Some(right)) = (cx.field(node, F::Left), cx.field(node, F::Right)) {
        let value = cx.expr(right);
        let source = Source { visible: after(cx, right), ..Source::value(value, Part::Element) };
        targets(cx, node, left, BindingKind::Loop, source);
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
