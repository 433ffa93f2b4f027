//! Java.

mod exprs;

use std::sync::OnceLock;

use tree_sitter::Node;

use super::{F, Handler, Language, Rules, kit};
use crate::facts::{
    BindingKind, Cx, DefId, ExprId, Flags, Flow, Import, ImportKind, ImportName, Kind, Param, Part, Role,
    ScopeKind, Source, Sym, Type, TypeId, span,
};

/// Java.
pub(super) static JAVA: Language = Language {
    name: "java",
    extensions: &["java"],
    file_names: &[],
    shebangs: &[],
    comments: &["line_comment", "block_comment"],
    doc_prefixes: &["/**"],
    tests: &["test/", "tests/", "*Test.java", "*Tests.java", "*IT.java"],
    full: true,
    rewrite: None,
    grammar: || tree_sitter_java::LANGUAGE.into(),
    rules: Rules::Walk { handlers: &[HANDLERS, exprs::HANDLERS], expr: exprs::expr, ty: exprs::ty },
    compiled: OnceLock::new(),
};

const HANDLERS: &[(&str, Handler)] = &[
    ("package_declaration", package),
    ("import_declaration", import),
    ("class_declaration", class),
    ("record_declaration", class),
    ("interface_declaration", interface),
    ("annotation_type_declaration", interface),
    ("enum_declaration", enumeration),
    ("enum_constant", constant),
    ("method_declaration", method),
    ("constructor_declaration", method),
    ("annotation_type_element_declaration", method),
    ("field_declaration", field),
    ("constant_declaration", field),
    ("local_variable_declaration", local),
    ("enhanced_for_statement", for_each),
    ("catch_clause", catch),
    ("resource", resource),
    ("lambda_expression", lambda),
    ("type_parameters", type_parameters),
    ("class_body", anonymous),
    ("compact_constructor_declaration", method),
    ("type_pattern", type_pattern),
    ("instanceof_expression", instance_of),
    ("block", kit::block),
    ("for_statement", kit::block),
    ("switch_block", kit::block),
    ("annotation", annotation),
    ("marker_annotation", annotation),
    ("break_statement", kit::skip),
    ("continue_statement", kit::skip),
];

fn package<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(name) = cx.child(node, &["scoped_identifier", "identifier"]) {
        cx.facts.package = cx.sym(name);
    }
    Flow::Skip
}

fn import<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(path) = cx.child(node, &["scoped_identifier", "identifier"]) else { return Flow::Skip };
    let star = cx.child(node, &["asterisk"]);
    let text: String = cx.text(path).split_whitespace().collect();
    let (kind, source, name, start) = match star {
        Some(star) => (ImportKind::Glob, text.as_str(), "*", star.start_byte()),
        None => {
            let (source, name) = text.rsplit_once('.').unwrap_or(("", &text));
            (ImportKind::Names, source, name, path.end_byte() - name.len())
        }
    };
    let (source, name, start) = (cx.intern(source), cx.intern(name), start as u32);
    if star.is_none() {
        cx.reference_at(name, start, Role::Import, 0, ExprId::NONE);
    }
    let names = vec![ImportName { name, alias: Sym::NONE, start }];
    let (span, scope) = (span(node), cx.scope);
    cx.import(Import { kind, source, alias: Sym::NONE, names, span, scope });
    Flow::Skip
}

fn flags<'t>(cx: &Cx<'t>, node: Node<'t>) -> Flags {
    let text = cx.child(node, &["modifiers"]).map_or("", |modifiers| cx.text(modifiers));
    let has = |word: &str| text.split_whitespace().any(|part| part == word);
    let in_interface =
        cx.facts.definition(cx.definition).is_some_and(|around| around.kind == Kind::Interface);
    Flags::default()
        .when(has("public") || has("protected") || in_interface, Flags::EXPORTED)
        .when(has("static"), Flags::STATIC)
        .when(has("abstract"), Flags::ABSTRACT)
        .when(["@Test", "@ParameterizedTest"].iter().any(|test| has(test)), Flags::TEST)
}

/// All types of a clause, marked as what a type stands on.
fn bases<'t>(cx: &mut Cx<'t>, clause: Option<Node<'t>>) -> Vec<TypeId> {
    let Some(clause) = clause else { return Vec::new() };
    let list = match cx.child(clause, &["type_list"]) {
        Some(list) => cx.named(list),
        None => cx.named(clause),
    };
    list.into_iter()
        .map(|ty| {
            exprs::mark_type(cx, ty, Role::Inherit);
            cx.ty(ty)
        })
        .collect()
}

fn type_like<'t>(cx: &mut Cx<'t>, node: Node<'t>, kind: Kind) -> Flow {
    let Some(name) = cx.field(node, F::Name) else { return Flow::Children };
    let mut new = cx.new_definition(name, kind, node);
    new.flags = flags(cx, node);
    for clause in [
        cx.field(node, F::Superclass),
        cx.field(node, F::Interfaces),
        cx.child(node, &["extends_interfaces"]),
    ] {
        new.bases.extend(bases(cx, clause));
    }
    new.head_end = cx.field(node, F::Body).map_or(new.head_end, |body| body.start_byte() as u32);
    let record = cx.field(node, F::Parameters);
    new.params = parameters(cx, record);
    let definition = cx.define(new);
    cx.enter(ScopeKind::Type, node, definition);
    for parameter in record.map(|list| cx.named(list)).unwrap_or_default() {
        if let Some(name) = cx.field(parameter, F::Name) {
            let mut new = cx.new_definition(name, Kind::Field, parameter);
            new.flags = Flags::EXPORTED;
            new.ty = cx.field(parameter, F::Type).map_or(TypeId::NONE, |ty| cx.ty(ty));
            cx.define(new);
        }
    }
    Flow::Children
}

fn class<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    type_like(cx, node, Kind::Class)
}

fn interface<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    type_like(cx, node, Kind::Interface)
}

fn enumeration<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    type_like(cx, node, Kind::Enum)
}

fn constant<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(name) = cx.field(node, F::Name) else { return Flow::Children };
    let mut new = cx.new_definition(name, Kind::Variant, node);
    new.flags = Flags::EXPORTED;
    new.head_end = cx.field(node, F::Body).map_or(new.head_end, |body| body.start_byte() as u32);
    cx.define(new);
    Flow::Children
}

fn parameters<'t>(cx: &mut Cx<'t>, list: Option<Node<'t>>) -> Vec<Param> {
    let mut params = Vec::new();
    for parameter in list.map(|list| cx.named(list)).unwrap_or_default() {
        let rest = parameter.kind() == "spread_parameter";
        if let Some((name, ty)) = named(cx, parameter) {
            params.push(Param { name: cx.sym(name), ty, optional: false, rest });
        }
    }
    params
}

fn named<'t>(cx: &mut Cx<'t>, parameter: Node<'t>) -> Option<(Node<'t>, TypeId)> {
    match parameter.kind() {
        "formal_parameter" => {
            let ty = cx.field(parameter, F::Type).map_or(TypeId::NONE, |ty| cx.ty(ty));
            Some((cx.field(parameter, F::Name)?, ty))
        }
        "spread_parameter" => {
            let declarator = cx.child(parameter, &["variable_declarator"])?;
            let ty = cx.named(parameter).into_iter().find(|part| part.kind() != "modifiers");
            let ty = ty.map_or(TypeId::NONE, |ty| cx.ty(ty));
            Some((cx.field(declarator, F::Name)?, cx.type_id(Type::Array(ty))))
        }
        "identifier" => Some((parameter, TypeId::NONE)),
        _ => None,
    }
}

fn bind_parameters<'t>(cx: &mut Cx<'t>, list: Option<Node<'t>>) {
    for parameter in list.map(|list| cx.named(list)).unwrap_or_default() {
        if let Some((name, ty)) = named(cx, parameter) {
            cx.bind(name, BindingKind::Parameter, &Source::typed(ty));
        }
    }
}

fn method<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(name) = cx.field(node, F::Name) else { return Flow::Children };
    let kind =
        if node.kind().ends_with("constructor_declaration") { Kind::Constructor } else { Kind::Method };
    let mut new = cx.new_definition(name, kind, node);
    let body = cx.field(node, F::Body);
    let list = cx.field(node, F::Parameters);
    new.flags = flags(cx, node).when(body.is_none(), Flags::DECLARATION);
    new.head_end = body.map_or(new.head_end, |body| body.start_byte() as u32);
    new.params = parameters(cx, list);
    new.flags = new.flags.when(new.params.iter().any(|param| param.rest), Flags::VARIADIC);
    new.ty = cx.field(node, F::Type).map_or(TypeId::NONE, |ty| cx.ty(ty));
    let definition = cx.define(new);
    cx.enter(ScopeKind::Function, node, definition);
    bind_parameters(cx, list);
    Flow::Children
}

fn declarators<'t>(cx: &Cx<'t>, node: Node<'t>) -> Vec<Node<'t>> {
    cx.named(node).into_iter().filter(|child| child.kind() == "variable_declarator").collect()
}

fn field<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let ty = cx.field(node, F::Type).map_or(TypeId::NONE, |ty| cx.ty(ty));
    let flags = flags(cx, node);
    let text = cx.child(node, &["modifiers"]).map_or("", |modifiers| cx.text(modifiers));
    let constant =
        (text.contains("static") && text.contains("final")) || node.kind() == "constant_declaration";
    for declarator in declarators(cx, node) {
        let Some(name) = cx.field(declarator, F::Name) else { continue };
        let mut new = cx.new_definition(name, if constant { Kind::Constant } else { Kind::Field }, node);
        new.flags = flags;
        new.ty = ty;
        if let Some(value) = cx.field(declarator, F::Value) {
            new.value = cx.expr(value);
            new.head_end = value.start_byte() as u32;
        }
        cx.define(new);
    }
    Flow::Children
}

/// The type of a local; `var` is none.
fn written_type<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> TypeId {
    match cx.field(node, F::Type) {
        Some(ty) if cx.text(ty) == "var" => {
            cx.skip(ty);
            TypeId::NONE
        }
        ty => ty.map_or(TypeId::NONE, |ty| cx.ty(ty)),
    }
}

fn local<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let ty = written_type(cx, node);
    for declarator in declarators(cx, node) {
        let value = cx.field(declarator, F::Value).map_or(ExprId::NONE, |value| cx.expr(value));
        if let Some(name) = cx.field(declarator, F::Name) {
            cx.bind(name, BindingKind::Local, &Source { ty, value, ..Source::nothing() });
        }
    }
    Flow::Children
}

fn for_each<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    cx.enter(ScopeKind::Block, node, DefId::NONE);
    let ty = written_type(cx, node);
    let value = cx.field(node, F::Value).map_or(ExprId::NONE, |value| cx.expr(value));
    if let Some(name) = cx.field(node, F::Name) {
        let part = if ty.is_some() { Part::Whole } else { Part::Element };
        cx.bind(
            name,
            BindingKind::Loop,
            &Source { ty, value, part: crate::facts::Parts::one(part), ..Source::nothing() },
        );
    }
    Flow::Children
}

fn catch<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    cx.enter(ScopeKind::Block, node, DefId::NONE);
    if let Some(parameter) = cx.child(node, &["catch_formal_parameter"]) {
        let ty = cx.child(parameter, &["catch_type"]).and_then(|types| types.named_child(0));
        let ty = ty.map_or(TypeId::NONE, |ty| cx.ty(ty));
        if let Some(name) = cx.field(parameter, F::Name) {
            cx.bind(name, BindingKind::Catch, &Source::typed(ty));
        }
    }
    Flow::Children
}

fn resource<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(name) = cx.field(node, F::Name) {
        let ty = written_type(cx, node);
        let value = cx.field(node, F::Value).map_or(ExprId::NONE, |value| cx.expr(value));
        cx.bind(name, BindingKind::Local, &Source { ty, value, ..Source::nothing() });
    }
    Flow::Children
}

fn lambda<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    // `items.forEach(item -> …)`: what the method hands over tells what the parameter is.
    let call = cx.handed_to().filter(|call| call.kind() == "method_invocation");
    let given = call.and_then(|call| Some((cx.field(call, F::Object)?, cx.field(call, F::Name)?)));
    let given = given.map(|(object, name)| (cx.expr(object), cx.sym(name)));
    cx.enter(ScopeKind::Closure, node, DefId::NONE);
    let list = match cx.field(node, F::Parameters) {
        Some(one) if one.kind() == "identifier" => vec![one],
        Some(list) => cx.named(list),
        None => Vec::new(),
    };
    for (index, parameter) in list.into_iter().enumerate() {
        let Some((name, ty)) = named(cx, parameter) else { continue };
        let source = match given {
            Some((value, method)) if ty.is_none() => {
                Source::value(value, Part::Given(method, index.min(255) as u8))
            }
            _ => Source::typed(ty),
        };
        cx.bind(name, BindingKind::Parameter, &source);
    }
    Flow::Children
}

/// `new Type() { … }` and the bodies of constants: members of a type without a name, seen like those of a type around.
fn anonymous<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let (around, named) = match cx.parent() {
        Some(new) if new.kind() == "object_creation_expression" => {
            let ty = cx.field(new, F::Type);
            (ty.map_or(TypeId::NONE, |ty| cx.ty(ty)), ty)
        }
        Some(constant) if constant.kind() == "enum_constant" => {
            let own = cx.facts.definition(cx.definition).map(|own| cx.names.get(own.name).to_owned());
            (own.map_or(TypeId::NONE, |own| cx.named_type(&own)), cx.field(constant, F::Name))
        }
        _ => return Flow::Children,
    };
    let Some(named) = named else { return Flow::Children };
    let mark = cx.take_mark(named);
    let mut new = cx.new_definition(named, Kind::Impl, node);
    cx.take_mark(named);
    if let Some(mark) = mark {
        cx.mark(named, mark);
    }
    new.head_end = node.start_byte() as u32;
    new.ty = around;
    let definition = cx.define(new);
    cx.enter(ScopeKind::Type, node, definition);
    Flow::Children
}

fn type_parameters<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    for parameter in cx.named(node) {
        let bound = cx.child(parameter, &["type_bound"]).and_then(|bound| bound.named_child(0));
        let ty = bound.map_or(TypeId::NONE, |bound| cx.ty(bound));
        if let Some(name) = cx.child(parameter, &["type_identifier"]) {
            cx.bind(name, BindingKind::TypeParameter, &Source::typed(ty));
        }
    }
    Flow::Children
}

fn type_pattern<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let (Some(ty), Some(name)) = (node.named_child(0), node.named_child(1)) {
        let ty = cx.ty(ty);
        cx.bind(name, BindingKind::Pattern, &Source::typed(ty));
    }
    Flow::Children
}

/// `x instanceof T t`
fn instance_of<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let (Some(ty), Some(name)) = (cx.field(node, F::Right), cx.field(node, F::Name)) {
        let ty = cx.ty(ty);
        cx.bind(name, BindingKind::Pattern, &Source::typed(ty));
    }
    Flow::Children
}

fn annotation<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(name) = cx.field(node, F::Name).filter(|name| name.kind() == "identifier") {
        cx.mark_use(name, Role::Attribute, 0, ExprId::NONE);
    }
    for pair in cx.field(node, F::Arguments).map(|list| cx.named(list)).unwrap_or_default() {
        if let Some(key) = cx.field(pair, F::Key) {
            cx.skip(key);
        }
    }
    Flow::Children
}
