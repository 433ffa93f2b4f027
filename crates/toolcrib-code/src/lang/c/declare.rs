//! C's declarators: the name is somewhere inside.

use tree_sitter::Node;

use super::exprs;
use crate::facts::{
    BindingKind, Cx, ExprId, Flags, Flow, Kind, Param, Part, ScopeKind, Source, Span, Type, TypeId, span,
};
use crate::lang::F;

/// What a declarator comes down to.
#[derive(Default)]
pub(in crate::lang) struct Declared<'t> {
    /// The name, qualified or not.
    pub(in crate::lang) name: Option<Node<'t>>,
    /// The parameters, if it is a function.
    pub(in crate::lang) parameters: Option<Node<'t>>,
    /// Whether there is a pointer or reference on the way.
    pub(in crate::lang) pointer: bool,
    pub(in crate::lang) array: bool,
    pub(in crate::lang) value: Option<Node<'t>>,
}

/// Follows a declarator to its name.
pub(in crate::lang) fn unwrap<'t>(cx: &Cx<'t>, declarator: Node<'t>) -> Declared<'t> {
    let mut found = Declared::default();
    let mut at = declarator;
    for _ in 0..32 {
        let next = match at.kind() {
            "init_declarator" => {
                found.value = cx.field(at, F::Value);
                cx.field(at, F::Declarator)
            }
            "pointer_declarator" | "pointer_type_declarator" => {
                found.pointer = true;
                cx.field(at, F::Declarator)
            }
            "reference_declarator"
            | "parenthesized_declarator"
            | "attributed_declarator"
            | "variadic_declarator" => {
                found.pointer |= at.kind() == "reference_declarator";
                at.named_child(0)
            }
            "array_declarator" => {
                found.array = true;
                cx.field(at, F::Declarator)
            }
            "function_declarator" => {
                // A pointer to a function is a variable.
                let inner = cx.field(at, F::Declarator);
                if inner.is_some_and(|inner| inner.kind() != "parenthesized_declarator") {
                    found.parameters = cx.field(at, F::Parameters);
                }
                inner
            }
            _ => {
                found.name = Some(at);
                return found;
            }
        };
        match next {
            Some(next) => at = next,
            None => return found,
        }
    }
    found
}

fn flags<'t>(cx: &Cx<'t>, node: Node<'t>) -> Flags {
    let words: Vec<&str> = cx
        .named(node)
        .into_iter()
        .filter(|child| child.kind() == "storage_class_specifier")
        .map(|child| cx.text(child))
        .collect();
    let is_static = words.contains(&"static");
    Flags::default()
        .when(!is_static || cx.scope_kind() == ScopeKind::Type, Flags::EXPORTED)
        .when(is_static, Flags::STATIC)
}

fn parameters<'t>(cx: &mut Cx<'t>, list: Option<Node<'t>>) -> (Vec<Param>, bool) {
    let mut params = Vec::new();
    let mut variadic = false;
    for node in list.map(|list| cx.named(list)).unwrap_or_default() {
        if matches!(node.kind(), "variadic_parameter" | "variadic_parameter_declaration") {
            variadic = true;
            continue;
        }
        if !node.kind().ends_with("parameter_declaration") {
            continue;
        }
        let declared =
            cx.field(node, F::Declarator).map(|declarator| unwrap(cx, declarator)).unwrap_or_default();
        let ty = cx.field(node, F::Type).map_or(TypeId::NONE, |ty| cx.ty(ty));
        let name = declared.name.filter(|name| name.kind() == "identifier").map(|name| cx.sym(name));
        if name.is_none() && cx.text(node) == "void" {
            continue;
        }
        let optional = node.kind() == "optional_parameter_declaration";
        params.push(Param { name: name.unwrap_or_default(), ty, optional, rest: false });
    }
    (params, variadic)
}

/// A function with its body, in or out of its class.
pub(in crate::lang) fn function<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let declared = cx.field(node, F::Declarator).map(|declarator| unwrap(cx, declarator)).unwrap_or_default();
    let Some(name) = declared.name else { return Flow::Children };
    let body = cx
        .field(node, F::Body)
        .or_else(|| cx.child(node, &["default_method_clause", "delete_method_clause"]));
    match define_function(cx, node, name, &declared, body) {
        Some(id) => {
            cx.enter(ScopeKind::Function, node, id);
            Flow::Children
        }
        None => Flow::Children,
    }
}

fn define_function<'t>(
    cx: &mut Cx<'t>,
    node: Node<'t>,
    name: Node<'t>,
    declared: &Declared<'t>,
    body: Option<Node<'t>>,
) -> Option<crate::facts::DefId> {
    let last = exprs::last_name(cx, name)?;
    let text = cx.text(last);
    let (owner, in_type) = (exprs::qualifier(cx, name), cx.scope_kind() == ScopeKind::Type);
    let class = cx.facts.definition(cx.definition).map(|class| cx.names.get(class.name).to_owned());
    let owner_last = owner.as_deref().and_then(|owner| owner.rsplit('.').next());
    let constructs = class.as_deref().filter(|_| in_type) == Some(text) || owner_last == Some(text);
    let kind = match in_type || owner.is_some() {
        _ if constructs => Kind::Constructor,
        true => Kind::Method,
        false => Kind::Function,
    };
    let mut new = cx.new_definition(last, kind, node);
    new.flags = flags(cx, node).when(body.is_none(), Flags::DECLARATION);
    new.head_end = body.map_or(new.head_end, |body| body.start_byte() as u32);
    if let Some(list) = cx.child(node, &["field_initializer_list"]) {
        new.head_end = list.start_byte() as u32;
    }
    let (params, variadic) = parameters(cx, declared.parameters);
    new.params = params;
    new.flags = new.flags.when(variadic, Flags::VARIADIC);
    new.ty = return_type(cx, node);
    if let Some(owner) = owner {
        new.owner = cx.named_type(&owner);
    }
    Some(cx.define(new))
}

fn return_type<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> TypeId {
    let trailing =
        cx.field(node, F::Declarator).and_then(|declarator| cx.child(declarator, &["trailing_return_type"]));
    match trailing.and_then(|trailing| trailing.named_child(0)) {
        Some(ty) => cx.ty(ty),
        None => cx
            .field(node, F::Type)
            .filter(|ty| !matches!(ty.kind(), "placeholder_type_specifier" | "auto"))
            .map_or(TypeId::NONE, |ty| cx.ty(ty)),
    }
}

/// The declarators of a declaration.
pub(in crate::lang) fn declarators<'t>(cx: &Cx<'t>, node: Node<'t>) -> Vec<Node<'t>> {
    let Some(field) = std::num::NonZeroU16::new(cx.compiled.field(F::Declarator)) else { return Vec::new() };
    let mut cursor = node.walk();
    node.children_by_field_id(field, &mut cursor).collect()
}

fn written_type<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> TypeId {
    cx.field(node, F::Type)
        .filter(|ty| !matches!(ty.kind(), "placeholder_type_specifier" | "auto"))
        .map_or(TypeId::NONE, |ty| cx.ty(ty))
}

pub(in crate::lang) fn declaration<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let ty = written_type(cx, node);
    for declarator in declarators(cx, node) {
        let declared = unwrap(cx, declarator);
        let Some(name) = declared.name else { continue };
        let local = cx.in_function();
        if declared.parameters.is_some() && !local {
            define_function(cx, node, name, &declared, None);
            continue;
        }
        let ty = if declared.array { cx.type_id(Type::Array(ty)) } else { ty };
        let value = declared.value.or_else(|| cx.field(node, F::Value));
        let value = value.map_or(ExprId::NONE, |value| cx.expr(value));
        if name.kind() == "structured_binding_declarator" {
            for (index, part) in cx.named(name).into_iter().enumerate() {
                let part_of = Part::Index(index.min(255) as u8);
                cx.bind(part, BindingKind::Local, &Source { ty, ..Source::value(value, part_of) });
            }
            continue;
        }
        let Some(last) = exprs::last_name(cx, name) else { continue };
        if local {
            let visible = Some(Span::new(span(declarator).start, cx.scope_span().end));
            cx.bind(last, BindingKind::Local, &Source { ty, value, visible, ..Source::nothing() });
            continue;
        }
        let constant = cx.text(node).starts_with("const") || cx.text(node).contains(" const ");
        let mut new = cx.new_definition(last, if constant { Kind::Constant } else { Kind::Variable }, node);
        new.flags = flags(cx, node).when(cx.text(node).starts_with("extern"), Flags::DECLARATION);
        (new.ty, new.value) = (ty, value);
        new.head_end = declared.value.map_or(new.head_end, |value| value.start_byte() as u32);
        cx.define(new);
    }
    Flow::Children
}

pub(in crate::lang) fn field<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let ty = written_type(cx, node);
    for declarator in declarators(cx, node) {
        let declared = unwrap(cx, declarator);
        let Some(name) = declared.name else { continue };
        if declared.parameters.is_some() {
            define_function(cx, node, name, &declared, None);
            continue;
        }
        let Some(last) = exprs::last_name(cx, name) else { continue };
        let mut new = cx.new_definition(last, Kind::Field, node);
        new.flags = flags(cx, node);
        new.ty = if declared.array { cx.type_id(Type::Array(ty)) } else { ty };
        cx.define(new);
    }
    Flow::Children
}

/// Bound in the function whose definition is around; a declaration's parameters are nobody's.
pub(in crate::lang) fn parameter<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let declared = cx.field(node, F::Declarator).map(|declarator| unwrap(cx, declarator)).unwrap_or_default();
    if let Some(name) = declared.name.filter(|name| name.kind() == "identifier") {
        if cx.in_function() {
            let ty = written_type(cx, node);
            let ty = if declared.array { cx.type_id(Type::Array(ty)) } else { ty };
            cx.bind(name, BindingKind::Parameter, &Source::typed(ty));
        } else {
            cx.skip(name);
        }
    }
    Flow::Children
}
