//! Rust.

mod exprs;
mod macros;
mod patterns;
mod unwrap;
mod uses;

use std::sync::OnceLock;

use tree_sitter::Node;

use super::{F, Handler, Language, Rules, kit};
use crate::facts::{
    BindingKind, Cx, DefId, ExprId, Flags, Flow, Kind, Param, Part, Role, ScopeKind, Source, Span, Sym, Type,
    TypeId, span,
};

/// Rust.
pub(super) static RUST: Language = Language {
    name: "rust",
    extensions: &["rs"],
    file_names: &[],
    shebangs: &["rust-script"],
    comments: &["line_comment", "block_comment"],
    doc_prefixes: &["///", "/**"],
    tests: &["tests/", "benches/", "tests.rs", "*_test.rs", "*_tests.rs"],
    full: true,
    rewrite: Some(unwrap::unwrapped),
    grammar: || tree_sitter_rust::LANGUAGE.into(),
    rules: Rules::Walk { handlers: &[HANDLERS, exprs::HANDLERS], expr: exprs::expr, ty: exprs::ty },
    compiled: OnceLock::new(),
};

const HANDLERS: &[(&str, Handler)] = &[
    ("function_item", function),
    ("function_signature_item", function),
    ("struct_item", structure),
    ("union_item", structure),
    ("enum_item", enumeration),
    ("enum_variant", variant),
    ("field_declaration", field),
    ("ordered_field_declaration_list", tuple_fields),
    ("trait_item", trait_),
    ("impl_item", impl_),
    ("type_item", alias),
    ("associated_type", alias),
    ("const_item", constant),
    ("static_item", constant),
    ("mod_item", module),
    ("macro_definition", macro_),
    ("use_declaration", uses::use_),
    ("extern_crate_declaration", uses::extern_crate),
    ("attribute_item", attribute),
    ("inner_attribute_item", attribute),
    ("type_parameters", type_parameters),
    ("block", kit::block),
    ("closure_expression", closure),
    ("let_declaration", patterns::let_),
    ("let_condition", patterns::let_condition),
    ("for_expression", patterns::for_),
    ("match_arm", patterns::match_arm),
    ("macro_invocation", macros::invocation),
    ("token_tree", macros::token_tree),
    ("visibility_modifier", kit::skip),
    ("lifetime", kit::skip),
    ("string_literal", kit::skip),
    ("raw_string_literal", kit::skip),
    ("label", kit::skip),
];

/// `pub` of any reach, and what a trait declares.
fn visibility<'t>(cx: &Cx<'t>, node: Node<'t>) -> Flags {
    let in_trait = cx.facts.definition(cx.definition).is_some_and(|around| {
        around.kind == Kind::Trait || (around.kind == Kind::Impl && !around.bases.is_empty())
    });
    Flags::default().when(in_trait || cx.child(node, &["visibility_modifier"]).is_some(), Flags::EXPORTED)
}

/// Whether the code around is only compiled for tests.
fn in_test(cx: &Cx<'_>) -> bool {
    cx.facts.definition(cx.definition).is_some_and(|around| around.flags.has(Flags::TEST))
}

fn function<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(name) = cx.field(node, F::Name) else { return Flow::Children };
    let in_type = cx.scope_kind() == ScopeKind::Type;
    let mut new = cx.new_definition(name, if in_type { Kind::Method } else { Kind::Function }, node);
    new.flags = visibility(cx, node).when(in_test(cx), Flags::TEST);
    let body = cx.field(node, F::Body);
    new.head_end = body.map_or(new.head_end, |body| body.start_byte() as u32);
    new.flags = new.flags.when(body.is_none(), Flags::DECLARATION);
    if let Some(modifiers) = cx.child(node, &["function_modifiers"]) {
        new.flags = new.flags.when(cx.text(modifiers).contains("async"), Flags::ASYNC);
    }
    new.ty = cx.field(node, F::ReturnType).map_or(TypeId::NONE, |ty| cx.ty(ty));
    let parameters = cx.field(node, F::Parameters).map(|list| cx.named(list)).unwrap_or_default();
    for parameter in &parameters {
        match parameter.kind() {
            "self_parameter" => new.flags = new.flags.with(Flags::RECEIVER),
            "variadic_parameter" => new.flags = new.flags.with(Flags::VARIADIC),
            "parameter" => {
                let pattern = cx.field(*parameter, F::Pattern);
                let name = pattern.map_or("", |pattern| cx.text(pattern));
                if name == "self" {
                    new.flags = new.flags.with(Flags::RECEIVER);
                    continue;
                }
                let name = cx.intern(name);
                let ty = cx.field(*parameter, F::Type).map_or(TypeId::NONE, |ty| cx.ty(ty));
                new.params.push(Param { name, ty, optional: false, rest: false });
            }
            _ => {}
        }
    }
    new.flags = new.flags.when(in_type && !new.flags.has(Flags::RECEIVER), Flags::STATIC);
    let definition = cx.define(new);
    cx.enter(ScopeKind::Function, node, definition);
    bind_parameters(cx, &parameters, None);
    Flow::Children
}

fn bind_parameters<'t>(cx: &mut Cx<'t>, parameters: &[Node<'t>], given: Option<(ExprId, Sym)>) {
    for (index, parameter) in parameters.iter().enumerate() {
        let (pattern, ty) = match parameter.kind() {
            "parameter" => (cx.field(*parameter, F::Pattern), cx.field(*parameter, F::Type)),
            "attribute_item" | "self_parameter" | "variadic_parameter" => (None, None),
            // The parameters of a closure may be bare patterns.
            _ => (Some(*parameter), None),
        };
        let ty = ty.map_or(TypeId::NONE, |ty| cx.ty(ty));
        let source = match given {
            Some((value, method)) if ty.is_none() => {
                Source::value(value, Part::Given(method, index.min(255) as u8))
            }
            _ => Source::typed(ty),
        };
        if let Some(pattern) = pattern {
            patterns::bind(cx, pattern, BindingKind::Parameter, source);
        }
    }
}

fn closure<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let parameters = cx.field(node, F::Parameters).map(|list| cx.named(list)).unwrap_or_default();
    // `items.map(|item| …)`: what the method hands over tells what the parameter is.
    let callee = cx.handed_to().and_then(|call| cx.field(call, F::Function));
    let given = callee.filter(|callee| callee.kind() == "field_expression").map(|callee| {
        let method = cx.field(callee, F::Field).map(|name| cx.sym(name)).unwrap_or_default();
        (exprs::receiver_of(cx, callee), method)
    });
    cx.enter(ScopeKind::Closure, node, DefId::NONE);
    bind_parameters(cx, &parameters, given);
    Flow::Children
}

/// A type with a body: its members are defined as the walk comes to them.
fn type_like<'t>(cx: &mut Cx<'t>, node: Node<'t>, kind: Kind) -> Option<DefId> {
    let name = cx.field(node, F::Name)?;
    let mut new = cx.new_definition(name, kind, node);
    new.flags = visibility(cx, node).when(in_test(cx), Flags::TEST);
    if let Some(body) = cx.field(node, F::Body).filter(|body| body.kind() != "ordered_field_declaration_list")
    {
        new.head_end = body.start_byte() as u32;
    }
    if let Some(bounds) = cx.field(node, F::Bounds) {
        new.bases = cx.named(bounds).into_iter().map(|bound| cx.ty(bound)).collect();
    }
    let definition = cx.define(new);
    cx.enter(ScopeKind::Type, node, definition);
    Some(definition)
}

fn structure<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    type_like(cx, node, Kind::Struct);
    Flow::Children
}

fn enumeration<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    type_like(cx, node, Kind::Enum);
    Flow::Children
}

fn trait_<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    type_like(cx, node, Kind::Trait);
    Flow::Children
}

fn variant<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(name) = cx.field(node, F::Name) else { return Flow::Children };
    let mut new = cx.new_definition(name, Kind::Variant, node);
    new.flags = Flags::EXPORTED;
    if let Some(body) = cx.field(node, F::Body).filter(|body| body.kind() == "ordered_field_declaration_list")
    {
        for ty in cx.named(body).into_iter().filter(|child| child.kind() != "attribute_item") {
            let ty = cx.ty(ty);
            new.params.push(Param { name: cx.intern(""), ty, optional: false, rest: false });
        }
    }
    let definition = cx.define(new);
    cx.enter(ScopeKind::Type, node, definition);
    Flow::Children
}

fn field<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(name) = cx.field(node, F::Name) else { return Flow::Children };
    let mut new = cx.new_definition(name, Kind::Field, node);
    new.flags = visibility(cx, node);
    new.ty = cx.field(node, F::Type).map_or(TypeId::NONE, |ty| cx.ty(ty));
    cx.define(new);
    Flow::Children
}

/// The fields of a tuple struct, named by their place.
fn tuple_fields<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let parent = cx.facts.definition(cx.definition).map(|around| around.kind);
    if parent == Some(Kind::Struct) {
        let types = cx.named(node).into_iter().filter(|child| {
            !matches!(
                child.kind(),
                "attribute_item" | "visibility_modifier" | "line_comment" | "block_comment"
            )
        });
        for (index, ty) in types.enumerate().take(255) {
            let mut new = cx.new_definition(ty, Kind::Field, ty);
            // The type is no name: it is still to be walked.
            cx.take_mark(ty);
            new.name = cx.intern(&index.to_string());
            new.ty = cx.ty(ty);
            cx.define(new);
        }
    }
    Flow::Children
}

fn impl_<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(subject) = cx.field(node, F::Type) else { return Flow::Children };
    let ty = cx.ty(subject);
    let named = exprs::last_name(cx, subject);
    let mut new = cx.new_definition(named.unwrap_or(subject), Kind::Impl, node);
    // The name of an impl is a use of the type's name.
    cx.take_mark(named.unwrap_or(subject));
    new.ty = ty;
    if let Some(trait_) = cx.field(node, F::Trait) {
        new.bases.push(cx.ty(trait_));
        if let Some(name) = exprs::last_name(cx, trait_) {
            let receiver = exprs::receiver_of(cx, trait_);
            cx.mark_use(name, Role::Inherit, 0, receiver);
        }
    }
    new.head_end = cx.field(node, F::Body).map_or(new.head_end, |body| body.start_byte() as u32);
    new.flags = new.flags.when(in_test(cx), Flags::TEST);
    let definition = cx.define(new);
    cx.enter(ScopeKind::Type, node, definition);
    Flow::Children
}

fn alias<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(name) = cx.field(node, F::Name) else { return Flow::Children };
    let mut new = cx.new_definition(name, Kind::Type, node);
    new.flags = visibility(cx, node);
    new.ty = cx.field(node, F::Type).map_or(TypeId::NONE, |ty| cx.ty(ty));
    let definition = cx.define(new);
    cx.enter(ScopeKind::Type, node, definition);
    Flow::Children
}

fn constant<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(name) = cx.field(node, F::Name) else { return Flow::Children };
    if cx.text(name) == "_" {
        cx.skip(name);
        return Flow::Children;
    }
    let kind = if node.kind() == "static_item" { Kind::Variable } else { Kind::Constant };
    let mut new = cx.new_definition(name, kind, node);
    new.flags = visibility(cx, node).when(in_test(cx), Flags::TEST);
    new.ty = cx.field(node, F::Type).map_or(TypeId::NONE, |ty| cx.ty(ty));
    if let Some(value) = cx.field(node, F::Value) {
        new.head_end = value.start_byte() as u32;
        new.value = cx.expr(value);
    }
    cx.define(new);
    Flow::Children
}

fn module<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(name) = cx.field(node, F::Name) else { return Flow::Children };
    let mut new = cx.new_definition(name, Kind::Module, node);
    let body = cx.field(node, F::Body);
    new.flags = visibility(cx, node)
        .when(body.is_none(), Flags::DECLARATION)
        .when(in_test(cx) || cx.text(name) == "tests", Flags::TEST);
    new.head_end = body.map_or(new.head_end, |body| body.start_byte() as u32);
    let definition = cx.define(new);
    cx.enter(ScopeKind::Module, node, definition);
    Flow::Children
}

fn macro_<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(name) = cx.field(node, F::Name) else { return Flow::Skip };
    let mut new = cx.new_definition(name, Kind::Macro, node);
    new.head_end = name.end_byte() as u32;
    let definition = cx.define(new);
    cx.enter(ScopeKind::Function, node, definition);
    Flow::Children
}

/// Derives name traits, other attributes name macros; `cfg(test)` and `test` make what follows a test.
fn attribute<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(inner) = cx.child(node, &["attribute"]) else { return Flow::Skip };
    let path = inner.named_child(0);
    let name = path.map_or("", |path| cx.text(path));
    let last = name.rsplit("::").next().unwrap_or(name);
    let is_test = matches!(last, "test" | "rstest" | "test_case" | "bench" | "proptest")
        || (last == "cfg" && cx.text(inner).contains("test") && !cx.text(inner).contains("not(test"));
    let exported = last == "macro_export";
    if node.kind() == "attribute_item" {
        let flags = Flags::default().when(is_test, Flags::TEST).when(exported, Flags::EXPORTED);
        cx.attribute(node, flags);
    }
    if last != "derive" {
        if let Some(path) = path.filter(|path| path.kind() == "identifier") {
            cx.reference(path, Role::Attribute, 0, crate::facts::ExprId::NONE);
        }
        return Flow::Skip;
    }
    let list = cx.field(inner, F::Arguments).map(|list| cx.named(list)).unwrap_or_default();
    for name in list.into_iter().filter(|child| child.kind() == "identifier") {
        cx.reference(name, Role::Attribute, 0, crate::facts::ExprId::NONE);
    }
    Flow::Skip
}

fn type_parameters<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    for parameter in cx.named(node) {
        let Some(name) = cx.field(parameter, F::Name) else { continue };
        match parameter.kind() {
            "type_parameter" => {
                let bounds =
                    cx.field(parameter, F::Bounds).map(|bounds| cx.named(bounds)).unwrap_or_default();
                let mut types: Vec<TypeId> = bounds
                    .into_iter()
                    .filter(|bound| bound.kind() != "lifetime")
                    .map(|bound| cx.ty(bound))
                    .collect();
                types.extend(where_bounds(cx, cx.text(name)));
                let ty = match types.as_slice() {
                    [] => TypeId::NONE,
                    [one] => *one,
                    _ => cx.type_id(Type::Union(types)),
                };
                cx.bind(name, BindingKind::TypeParameter, &Source::typed(ty));
            }
            "const_parameter" => cx.bind(name, BindingKind::TypeParameter, &Source::nothing()),
            _ => {}
        }
    }
    Flow::Children
}

/// The bounds that the item's `where` clause gives a type parameter.
fn where_bounds<'t>(cx: &mut Cx<'t>, name: &str) -> Vec<TypeId> {
    let Some(clause) = cx.parent().and_then(|item| cx.child(item, &["where_clause"])) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for predicate in cx.named(clause) {
        // `for<'a> &'a T: Trait` is said of references to it, through which members are found too.
        let about = cx.field(predicate, F::Left).is_some_and(|left| {
            let words = cx.text(left).split(['&', ' ', '<', '>', '\n']);
            words.filter(|word| !word.is_empty() && !word.starts_with('\'') && *word != "for").eq([name])
        });
        let bounds = cx.field(predicate, F::Bounds).filter(|_| about);
        for bound in bounds.map(|bounds| cx.named(bounds)).unwrap_or_default() {
            if bound.kind() != "lifetime" {
                found.push(cx.ty(bound));
            }
        }
    }
    found
}

/// From the end of a node to the end of the scope: where a `let` can be seen.
fn after<'t>(cx: &Cx<'t>, node: Node<'t>) -> Span {
    Span::new(span(node).end, cx.scope_span().end)
}
