//! Objects that are written out: what they have as members, and whose members these are.

use tree_sitter::Node;

use super::{exprs, parameters};
use crate::facts::{Cx, DefId, Flow, Kind, ScopeKind, TypeId};
use crate::lang::F;

/// The object that a value is, through what does not change it.
fn written<'t>(value: Node<'t>) -> Option<Node<'t>> {
    let mut at = value;
    for _ in 0..4 {
        match at.kind() {
            "object" => return Some(at),
            "parenthesized_expression" | "as_expression" | "satisfies_expression" => {
                at = at.named_child(0)?
            }
            _ => return None,
        }
    }
    None
}

/// The members of an object that is the value of the next definition are that definition's.
pub(super) fn own<'t>(cx: &mut Cx<'t>, value: Node<'t>) {
    if let Some(object) = written(value) {
        let next = cx.next_definition();
        cx.own(object, next);
    }
}

/// The members of an object that a function returns are the function's.
pub(super) fn returned<'t>(cx: &mut Cx<'t>, value: Node<'t>) {
    let Some(object) = written(value) else { return };
    let function = cx.definition;
    let scope = cx.facts.scope(cx.function_scope()).map(|scope| (scope.kind, scope.definition));
    let open = cx
        .facts
        .definition(function)
        .is_some_and(|around| around.kind.is_callable() && around.ty.is_none() && around.value.is_none());
    if open && scope == Some((ScopeKind::Function, function)) {
        cx.own(object, function);
    }
}

/// Whether the members here belong to nothing that has a name, while the definition around is a type.
pub(super) fn is_stray(cx: &Cx<'_>) -> bool {
    let object = cx.parent().filter(|parent| matches!(parent.kind(), "object" | "object_type"));
    object.is_some_and(|object| cx.owner_of(object).is_none())
        && cx.facts.definition(cx.definition).is_some_and(|around| around.kind.is_type())
}

/// Members are seen through what they are members of, never by their bare name.
pub(super) fn object<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let owner = cx.owner_of(node);
    // A function's own scope is that of its body.
    let body = cx.facts.definition(owner).map(|owner| owner.body).filter(|body| body.is_some());
    cx.enter(ScopeKind::Type, node, owner);
    if let (Some(body), Some(index)) = (body, owner.index())
        && let Some(owner) = cx.facts.definitions.get_mut(index)
    {
        owner.body = body;
    }
    Flow::Children
}

/// A member of an object literal: its key is a name if a function or an object is behind it.
pub(super) fn pair<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(key) = cx.field(node, F::Key) else { return Flow::Children };
    cx.skip(key);
    let Some(value) = cx.field(node, F::Value) else { return Flow::Children };
    let owned = cx.parent().is_some_and(|object| cx.owner_of(object).is_some());
    let top = cx.definition.is_none();
    if key.kind() != "property_identifier" || is_stray(cx) || !(owned || top) {
        return Flow::Children;
    }
    if exprs::is_function(value) {
        let mut new = cx.new_definition(key, Kind::Method, node);
        (new.params, new.flags) = parameters(cx, value);
        new.ty = cx.field(value, F::ReturnType).map_or(TypeId::NONE, |ty| cx.ty(ty));
        new.head_end = cx.field(value, F::Body).map_or(new.head_end, |body| body.start_byte() as u32);
        let definition = cx.define(new);
        cx.own(value, definition);
    } else if owned && written(value).is_some_and(|object| object.named_child_count() > 0) {
        let mut new = cx.new_definition(key, Kind::Property, node);
        own(cx, value);
        new.value = cx.expr(value);
        new.head_end = value.start_byte() as u32;
        cx.define(new);
    }
    Flow::Children
}

/// The object types that a written type is made of, through unions and intersections.
pub(in crate::lang) fn own_types<'t>(cx: &mut Cx<'t>, ty: Node<'t>, owner: DefId) {
    let mut left = vec![ty];
    while let Some(at) = left.pop() {
        match at.kind() {
            "object_type" => cx.own(at, owner),
            "union_type" | "intersection_type" | "parenthesized_type" | "readonly_type"
            | "type_annotation" => {
                left.extend(cx.named(at));
            }
            _ => {}
        }
    }
}
