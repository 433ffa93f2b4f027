//! JavaScript and JSX, and what TypeScript shares with them.

mod binds;
pub(super) mod exprs;
mod modules;
pub(super) mod objects;

use std::sync::OnceLock;

use tree_sitter::Node;

use super::{F, Handler, Language, Rules, kit};
use crate::facts::{
    BindingKind, Cx, DefId, ExprId, Flags, Flow, Kind, Param, Part, Role, ScopeKind, Source, Sym, TypeId,
    span,
};

/// JavaScript.
pub(super) static JAVASCRIPT: Language = Language {
    name: "javascript",
    extensions: &["js", "jsx", "mjs", "cjs"],
    file_names: &[],
    shebangs: &["node", "nodejs", "bun", "deno"],
    comments: &["comment"],
    doc_prefixes: &["/**", "//"],
    tests: TESTS,
    full: true,
    rewrite: None,
    grammar: || tree_sitter_javascript::LANGUAGE.into(),
    rules: Rules::Walk { handlers: &[HANDLERS, OWN, exprs::HANDLERS], expr: exprs::expr, ty: exprs::no_type },
    compiled: OnceLock::new(),
};

pub(super) const TESTS: &[&str] = &[
    "__tests__/",
    "test/",
    "tests/",
    "*.test.js",
    "*.spec.js",
    "*.test.jsx",
    "*.test.mjs",
    "*.test.ts",
    "*.spec.ts",
    "*.test.tsx",
    "*.spec.tsx",
];

const OWN: &[(&str, Handler)] = &[("field_definition", field)];

pub(super) const HANDLERS: &[(&str, Handler)] = &[
    ("function_declaration", function),
    ("generator_function_declaration", function),
    ("function_expression", function_expression),
    ("generator_function", function_expression),
    ("arrow_function", function_expression),
    ("class_declaration", class),
    ("class", class),
    ("method_definition", method),
    ("pair", objects::pair),
    ("object", objects::object),
    ("statement_block", block),
    ("for_statement", kit::block),
    ("for_in_statement", binds::for_in),
    ("catch_clause", binds::catch),
    ("lexical_declaration", binds::declaration),
    ("variable_declaration", binds::declaration),
    ("assignment_expression", binds::assignment),
    ("augmented_assignment_expression", binds::assignment),
    ("update_expression", binds::update),
    ("import_statement", modules::import),
    ("export_statement", modules::export),
    ("return_statement", return_),
    ("labeled_statement", label),
    ("break_statement", kit::skip),
    ("continue_statement", kit::skip),
];

/// What the statement around a declaration says of it.
pub(super) fn export_flags(cx: &Cx<'_>) -> Flags {
    let exported = cx.above.iter().rev().take(2).find(|above| above.kind() == "export_statement");
    match exported {
        Some(statement) => {
            let mut cursor = statement.walk();
            let default = statement.children(&mut cursor).take(3).any(|child| child.kind() == "default");
            Flags::EXPORTED.when(default, Flags::DEFAULT_EXPORT)
        }
        None => Flags::default(),
    }
}

/// Parameters of a function, as declared.
pub(super) fn parameters<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> (Vec<Param>, Flags) {
    let list = match (cx.field(node, F::Parameters), cx.field(node, F::Parameter)) {
        (Some(list), _) => cx.named(list),
        (None, Some(one)) => vec![one],
        (None, None) => Vec::new(),
    };
    let mut params = Vec::new();
    let mut flags = Flags::default();
    for parameter in list.into_iter().filter(|parameter| !parameter.is_extra()) {
        let (target, ty, optional) = parts(cx, parameter);
        let rest = target.kind() == "rest_pattern";
        if cx.text(target) == "this" {
            continue;
        }
        let named = if rest { target.named_child(0).unwrap_or(target) } else { target };
        let text = if named.kind() == "identifier" { cx.text(named) } else { "" };
        let name = cx.intern(text);
        flags = flags.when(rest, Flags::VARIADIC);
        params.push(Param { name, ty, optional, rest });
    }
    (params, flags)
}

/// A parameter's target, type, and whether it may be left out.
fn parts<'t>(cx: &mut Cx<'t>, parameter: Node<'t>) -> (Node<'t>, TypeId, bool) {
    match parameter.kind() {
        "assignment_pattern" => (cx.field(parameter, F::Left).unwrap_or(parameter), TypeId::NONE, true),
        "required_parameter" | "optional_parameter" => {
            let target = cx.field(parameter, F::Pattern).unwrap_or(parameter);
            let ty = cx.field(parameter, F::Type).map_or(TypeId::NONE, |ty| cx.ty(ty));
            let optional =
                parameter.kind() == "optional_parameter" || cx.field(parameter, F::Value).is_some();
            (target, ty, optional)
        }
        _ => (parameter, TypeId::NONE, false),
    }
}

/// The body of a namespace is no block of its own.
fn block<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    match cx.parent_kind() {
        "internal_module" | "module" | "ambient_declaration" => Flow::Children,
        _ => kit::block(cx, node),
    }
}

/// Binds the parameters in the scope of the function.
pub(super) fn bind_parameters<'t>(cx: &mut Cx<'t>, node: Node<'t>) {
    bind_given(cx, node, None);
}

/// Binds the parameters; what no type is written for is what the function is given by what it is handed to.
fn bind_given<'t>(cx: &mut Cx<'t>, node: Node<'t>, given: Option<(ExprId, Sym)>) {
    let list = match (cx.field(node, F::Parameters), cx.field(node, F::Parameter)) {
        (Some(list), _) => cx.named(list),
        (None, Some(one)) => vec![one],
        (None, None) => Vec::new(),
    };
    let list = list.into_iter().filter(|parameter| !parameter.is_extra());
    for (index, parameter) in list.enumerate() {
        let (target, ty, _) = parts(cx, parameter);
        let value = cx.field(parameter, F::Value).or_else(|| cx.field(parameter, F::Right));
        let source = match (given, value) {
            (Some((of, method)), None) if ty.is_none() && target.kind() != "rest_pattern" => {
                Source::value(of, Part::Given(method, index.min(255) as u8))
            }
            _ => {
                let value = value.map_or(ExprId::NONE, |value| cx.expr(value));
                Source { ty, value, ..Source::nothing() }
            }
        };
        binds::targets(cx, target, BindingKind::Parameter, source);
    }
}

pub(super) fn function<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(name) = cx.field(node, F::Name) else { return function_expression(cx, node) };
    let mut new = cx.new_definition(name, Kind::Function, node);
    let (params, flags) = parameters(cx, node);
    let body = cx.field(node, F::Body);
    new.params = params;
    new.flags = flags
        .with(export_flags(cx))
        .when(cx.text(node).starts_with("async"), Flags::ASYNC)
        .when(body.is_none(), Flags::DECLARATION);
    new.ty = cx.field(node, F::ReturnType).map_or(TypeId::NONE, |ty| cx.ty(ty));
    new.head_end = body.map_or(new.head_end, |body| body.start_byte() as u32);
    let definition = cx.define(new);
    cx.enter(ScopeKind::Function, node, definition);
    bind_parameters(cx, node);
    Flow::Children
}

/// A function as a value; the one that is given a name at once was defined with it.
pub(super) fn function_expression<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let owner = cx.take_owner(node);
    let kind = if owner.is_some() { ScopeKind::Function } else { ScopeKind::Closure };
    let given = exprs::context(cx);
    cx.enter(kind, node, owner);
    if let Some(name) = cx.field(node, F::Name) {
        cx.bind(name, BindingKind::Local, &Source::nothing());
    }
    bind_given(cx, node, given);
    let body = cx.field(node, F::Body).filter(|body| body.kind() != "statement_block");
    if let Some(body) = body {
        objects::returned(cx, body);
        cx.returns(body);
    }
    Flow::Children
}

pub(super) fn class<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let owner = cx.take_owner(node);
    let name = cx.field(node, F::Name);
    if owner.is_some() || name.is_none() {
        heritage(cx, node);
        cx.enter(ScopeKind::Type, node, owner);
        return Flow::Children;
    }
    let Some(name) = name else { return Flow::Children };
    let mut new = cx.new_definition(name, Kind::Class, node);
    new.flags = export_flags(cx).when(node.kind().starts_with("abstract"), Flags::ABSTRACT);
    new.bases = heritage(cx, node);
    new.head_end = cx.field(node, F::Body).map_or(new.head_end, |body| body.start_byte() as u32);
    let definition = cx.define(new);
    cx.enter(ScopeKind::Type, node, definition);
    Flow::Children
}

/// The classes and interfaces that a class stands on.
pub(super) fn heritage<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Vec<TypeId> {
    let Some(heritage) = cx.child(node, &["class_heritage"]) else { return Vec::new() };
    let mut bases = Vec::new();
    for part in cx.named(heritage) {
        match part.kind() {
            "extends_clause" => {
                if let Some(value) = cx.field(part, F::Value) {
                    let args = cx.field(part, F::TypeArguments).map(|list| cx.named(list));
                    let base = exprs::as_type(cx, value);
                    bases.push(exprs::with_args(cx, base, args.unwrap_or_default()));
                    exprs::mark(cx, value, Role::Inherit);
                }
            }
            "implements_clause" => {
                for ty in cx.named(part) {
                    bases.push(cx.ty(ty));
                    exprs::mark(cx, ty, Role::Inherit);
                }
            }
            _ => {
                bases.push(exprs::as_type(cx, part));
                exprs::mark(cx, part, Role::Inherit);
            }
        }
    }
    bases
}

pub(super) fn method<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let named = cx.field(node, F::Name).filter(|name| name.kind() != "computed_property_name");
    let Some(name) = named.filter(|_| !objects::is_stray(cx)) else {
        cx.enter(ScopeKind::Closure, node, DefId::NONE);
        bind_parameters(cx, node);
        return Flow::Children;
    };
    let kind = if cx.text(name) == "constructor" { Kind::Constructor } else { Kind::Method };
    let mut new = cx.new_definition(name, kind, node);
    let (params, flags) = parameters(cx, node);
    let body = cx.field(node, F::Body);
    new.params = params;
    new.flags = member_flags(cx, node, name).with(flags).when(body.is_none(), Flags::DECLARATION);
    new.ty = cx.field(node, F::ReturnType).map_or(TypeId::NONE, |ty| cx.ty(ty));
    new.head_end = body.map_or(new.head_end, |body| body.start_byte() as u32);
    let definition = cx.define(new);
    cx.enter(ScopeKind::Function, node, definition);
    bind_parameters(cx, node);
    Flow::Children
}

/// What stands before a member's name.
pub(super) fn member_flags<'t>(cx: &Cx<'t>, node: Node<'t>, name: Node<'t>) -> Flags {
    let before = cx.slice(crate::facts::Span::new(span(node).start, span(name).start));
    let has = |word: &str| before.split_whitespace().any(|part| part == word);
    Flags::default()
        .when(!has("private") && !cx.text(name).starts_with('#'), Flags::EXPORTED)
        .when(has("static"), Flags::STATIC)
        .when(has("async"), Flags::ASYNC)
        .when(has("abstract"), Flags::ABSTRACT)
        .when(has("get") || has("set"), Flags::ACCESSOR)
}

/// A field of a class; one whose value is a function is a method.
pub(super) fn field<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let name = cx.field(node, F::Name).or_else(|| cx.field(node, F::Property));
    let Some(name) = name.filter(|name| name.kind() != "computed_property_name") else {
        return Flow::Children;
    };
    let value = cx.field(node, F::Value);
    let function = value.filter(|value| exprs::is_function(*value));
    let mut new = cx.new_definition(name, if function.is_some() { Kind::Method } else { Kind::Field }, node);
    new.flags = member_flags(cx, node, name);
    new.ty = cx.field(node, F::Type).map_or(TypeId::NONE, |ty| cx.ty(ty));
    if let Some(function) = function {
        let (params, flags) = parameters(cx, function);
        new.params = params;
        new.flags = new.flags.with(flags);
        new.ty = exprs::returned(cx, function, new.ty);
        new.head_end = cx.field(function, F::Body).map_or(new.head_end, |body| body.start_byte() as u32);
    } else if let Some(value) = value {
        objects::own(cx, value);
        new.value = cx.expr(value);
        new.head_end = value.start_byte() as u32;
    }
    let definition = cx.define(new);
    if let Some(function) = function {
        cx.own(function, definition);
    }
    Flow::Children
}

fn return_<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(value) = node.named_child(0) {
        objects::returned(cx, value);
        cx.returns(value);
    }
    Flow::Children
}

fn label<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(label) = node.named_child(0) {
        cx.skip(label);
    }
    Flow::Children
}

/// The part that a key of an object pattern takes.
fn key_part<'t>(cx: &mut Cx<'t>, key: Node<'t>) -> Part {
    match key.kind() {
        "property_identifier" | "shorthand_property_identifier_pattern" => Part::Field(cx.sym(key)),
        _ => Part::Unknown,
    }
}
