//! TypeScript and TSX: JavaScript with types.

use std::sync::OnceLock;

use tree_sitter::Node;

use super::javascript::{
    self, bind_parameters, export_flags, exprs, field, member_flags, objects, parameters,
};
use super::{F, Handler, Language, Rules, kit};
use crate::facts::{
    BindingKind, Cx, DefId, ExprId, Flags, Flow, Kind, Role, ScopeKind, Source, Type, TypeId,
};

/// TypeScript.
pub(super) static TYPESCRIPT: Language = Language {
    name: "typescript",
    extensions: &["ts", "mts", "cts"],
    file_names: &[],
    shebangs: &["ts-node", "tsx"],
    comments: &["comment"],
    doc_prefixes: &["/**", "//"],
    tests: javascript::TESTS,
    full: true,
    rewrite: None,
    grammar: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
    rules: Rules::Walk {
        handlers: &[javascript::HANDLERS, HANDLERS, exprs::HANDLERS],
        expr: exprs::expr,
        ty,
    },
    compiled: OnceLock::new(),
};

/// TypeScript with JSX.
pub(super) static TSX: Language = Language {
    name: "tsx",
    extensions: &["tsx"],
    file_names: &[],
    shebangs: &[],
    comments: &["comment"],
    doc_prefixes: &["/**", "//"],
    tests: javascript::TESTS,
    full: true,
    rewrite: None,
    grammar: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    rules: Rules::Walk {
        handlers: &[javascript::HANDLERS, HANDLERS, exprs::HANDLERS],
        expr: exprs::expr,
        ty,
    },
    compiled: OnceLock::new(),
};

const HANDLERS: &[(&str, Handler)] = &[
    ("function_signature", javascript::function),
    ("abstract_class_declaration", javascript::class),
    ("public_field_definition", field),
    ("method_signature", javascript::method),
    ("abstract_method_signature", javascript::method),
    ("property_signature", property),
    ("interface_declaration", interface),
    ("type_alias_declaration", alias),
    ("enum_declaration", enumeration),
    ("enum_body", enum_body),
    ("object_type", object_type),
    ("ambient_declaration", ambient),
    ("internal_module", namespace),
    ("module", namespace),
    ("type_parameters", type_parameters),
    ("required_parameter", parameter_property),
    ("optional_parameter", parameter_property),
    ("type_identifier", kit::type_name),
    ("nested_type_identifier", nested),
    ("type_query", type_query),
    ("function_type", function_type),
    ("constructor_type", function_type),
    ("call_signature", function_type),
    ("construct_signature", function_type),
    ("index_signature", index_signature),
];

fn property<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(name) = cx.field(node, F::Name).filter(|name| name.kind() == "property_identifier") else {
        return Flow::Children;
    };
    // A type literal that is not the body of an alias or an interface has no name to find its members by.
    if cx.scope_kind() != ScopeKind::Type {
        return Flow::Children;
    }
    let mut new = cx.new_definition(name, Kind::Property, node);
    new.flags = member_flags(cx, node, name);
    if let Some(ty) = cx.field(node, F::Type) {
        let next = cx.next_definition();
        objects::own_types(cx, ty, next);
        new.ty = cx.ty(ty);
    }
    cx.define(new);
    Flow::Children
}

/// Members of an object type are those of what it is the type of; of others nobody knows by name.
fn object_type<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let owner = cx.owner_of(node);
    let own = cx.facts.definition(owner).is_some_and(|owner| owner.body.is_some());
    match (owner.is_some(), own) {
        // Type parameters of an alias are in the scope around.
        (true, true) => {
            let body = cx.facts.definition(owner).map(|owner| owner.body).unwrap_or_default();
            cx.enter(ScopeKind::Type, node, owner);
            if let Some(owner) = owner.index().and_then(|index| cx.facts.definitions.get_mut(index)) {
                owner.body = body;
            }
        }
        (true, false) => {
            cx.enter(ScopeKind::Type, node, owner);
        }
        (false, _) => {
            cx.enter(ScopeKind::Block, node, DefId::NONE);
        }
    }
    Flow::Children
}

/// `declare global { … }`
fn ambient<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(name) = cx.child(node, &["global"]) {
        let new = cx.new_definition(name, Kind::Module, node);
        let definition = cx.define(new);
        cx.enter(ScopeKind::Module, node, definition);
    }
    Flow::Children
}

fn interface<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(name) = cx.field(node, F::Name) else { return Flow::Children };
    let mut new = cx.new_definition(name, Kind::Interface, node);
    new.flags = export_flags(cx);
    if let Some(clause) = cx.child(node, &["extends_type_clause"]) {
        for base in cx.named(clause) {
            new.bases.push(cx.ty(base));
            exprs::mark(cx, base, Role::Inherit);
        }
    }
    new.head_end = cx.field(node, F::Body).map_or(new.head_end, |body| body.start_byte() as u32);
    let definition = cx.define(new);
    cx.enter(ScopeKind::Type, node, definition);
    Flow::Children
}

fn alias<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(name) = cx.field(node, F::Name) else { return Flow::Children };
    let mut new = cx.new_definition(name, Kind::Type, node);
    new.flags = export_flags(cx);
    if let Some(ty) = cx.field(node, F::Value) {
        let next = cx.next_definition();
        objects::own_types(cx, ty, next);
        new.ty = cx.ty(ty);
    }
    let definition = cx.define(new);
    cx.enter(ScopeKind::Type, node, definition);
    Flow::Children
}

fn enumeration<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(name) = cx.field(node, F::Name) else { return Flow::Children };
    let mut new = cx.new_definition(name, Kind::Enum, node);
    new.flags = export_flags(cx);
    new.head_end = cx.field(node, F::Body).map_or(new.head_end, |body| body.start_byte() as u32);
    let definition = cx.define(new);
    cx.enter(ScopeKind::Type, node, definition);
    Flow::Children
}

fn enum_body<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    for member in cx.named(node) {
        let name = if member.kind() == "enum_assignment" { cx.field(member, F::Name) } else { Some(member) };
        if let Some(name) = name.filter(|name| name.kind() == "property_identifier") {
            let mut new = cx.new_definition(name, Kind::Variant, member);
            new.flags = Flags::EXPORTED;
            cx.define(new);
        }
    }
    Flow::Children
}

fn namespace<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(name) = cx.field(node, F::Name) else { return Flow::Children };
    let mut new = cx.new_definition(name, Kind::Module, node);
    if name.kind() == "string" {
        let text = cx.text(name).trim_matches(['"', '\'', '`']);
        new.name = cx.intern(&format!("\"{text}\""));
    }
    new.flags = export_flags(cx);
    new.head_end = cx.field(node, F::Body).map_or(new.head_end, |body| body.start_byte() as u32);
    let definition = cx.define(new);
    cx.enter(ScopeKind::Module, node, definition);
    Flow::Children
}

fn type_parameters<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    for parameter in cx.named(node).into_iter().filter(|child| child.kind() == "type_parameter") {
        let Some(name) = cx.field(parameter, F::Name) else { continue };
        let bound = cx
            .child(parameter, &["constraint"])
            .or_else(|| cx.child(parameter, &["default_type"]))
            .and_then(|constraint| constraint.named_child(0));
        let ty = bound.map_or(TypeId::NONE, |bound| cx.ty(bound));
        cx.bind(name, BindingKind::TypeParameter, &Source::typed(ty));
    }
    Flow::Children
}

/// `constructor(private db: Database)` declares a field.
fn parameter_property<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let modifier = cx.child(node, &["accessibility_modifier", "readonly", "override_modifier"]);
    let name = cx.field(node, F::Pattern).filter(|name| name.kind() == "identifier");
    let class = cx.type_around();
    if let (Some(modifier), Some(name)) = (modifier, name)
        && class.is_some()
    {
        let mut new = cx.new_definition(name, Kind::Field, node);
        new.flags = Flags::default().when(cx.text(modifier) != "private", Flags::EXPORTED);
        new.ty = cx.field(node, F::Type).map_or(TypeId::NONE, |ty| cx.ty(ty));
        cx.define_in(class, new);
    }
    Flow::Children
}

fn nested<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let module = cx.field(node, F::Module);
    let receiver = module.map_or(ExprId::NONE, |module| cx.expr(module));
    if let Some(module) = module.filter(|module| module.kind() == "identifier") {
        cx.mark_new(module, Role::Type, ExprId::NONE);
    }
    if let Some(name) = cx.field(node, F::Name) {
        cx.mark_new(name, Role::Type, receiver);
    }
    Flow::Children
}

fn type_query<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(inner) = node.named_child(0) {
        exprs::mark(cx, inner, Role::Read);
    }
    Flow::Children
}

/// The parameters of a type of functions are names that only its reader cares about.
fn function_type<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    cx.enter(ScopeKind::Closure, node, DefId::NONE);
    bind_parameters(cx, node);
    Flow::Children
}

fn index_signature<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(name) = cx.field(node, F::Name) {
        cx.skip(name);
    }
    Flow::Children
}

/// What a type is.
fn ty<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Type {
    match node.kind() {
        "type_annotation"
        | "parenthesized_type"
        | "readonly_type"
        | "optional_type"
        | "constraint"
        | "asserts_annotation"
        | "type_predicate_annotation" => node.named_child(0).map_or(Type::Unknown, |inner| copy(cx, inner)),
        "this_type" => Type::Own,
        "type_identifier" | "nested_type_identifier" | "predefined_type" | "identifier" => {
            let text: String = cx.text(node).split_whitespace().collect();
            Type::Named { path: cx.intern(&text), args: Vec::new() }
        }
        "generic_type" => {
            let base: String =
                cx.field(node, F::Name).map_or("", |name| cx.text(name)).split_whitespace().collect();
            let path = cx.intern(&base);
            let list = cx.field(node, F::TypeArguments).map(|list| cx.named(list)).unwrap_or_default();
            Type::Named { path, args: list.into_iter().map(|arg| cx.ty(arg)).collect() }
        }
        "array_type" => node.named_child(0).map_or(Type::Unknown, |inner| Type::Array(cx.ty(inner))),
        "tuple_type" => {
            let members = cx.named(node);
            Type::Tuple(members.into_iter().map(|member| cx.ty(member)).collect())
        }
        "union_type" | "intersection_type" => {
            let members = cx.named(node).into_iter().filter(|member| {
                !matches!(cx.text(*member), "null" | "undefined") && member.kind() != "literal_type"
            });
            let members: Vec<Node<'t>> = members.collect();
            match members.as_slice() {
                [one] => copy(cx, *one),
                _ => Type::Union(members.into_iter().map(|member| cx.ty(member)).collect()),
            }
        }
        "function_type" => {
            let params = parameters(cx, node).0.into_iter().map(|param| param.ty).collect();
            let returns = cx.field(node, F::ReturnType).map_or(TypeId::NONE, |ty| cx.ty(ty));
            Type::Callable { params, returns }
        }
        "object_type" => match cx.owner_of(node) {
            owner if owner.is_some() => Type::Object(owner),
            _ => Type::Unknown,
        },
        "type_query" => node.named_child(0).map_or(Type::Unknown, |value| Type::Of(cx.expr(value))),
        "lookup_type" => match (node.named_child(0), node.named_child(1)) {
            (Some(of), Some(key)) => {
                let name = match key.kind() {
                    "literal_type" => cx.text(key).trim_matches(['"', '\'', '`']),
                    _ => "",
                };
                Type::Indexed(cx.ty(of), cx.intern(name))
            }
            _ => Type::Unknown,
        },
        "literal_type" | "template_literal_type" | "index_type_query" => {
            Type::Named { path: cx.intern("string"), args: Vec::new() }
        }
        "type_predicate" => Type::Named { path: cx.intern("boolean"), args: Vec::new() },
        _ => Type::Unknown,
    }
}

fn copy<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Type {
    let id = cx.ty(node);
    cx.facts.ty(id).cloned().unwrap_or(Type::Unknown)
}
