//! Python.

mod binds;
mod exprs;
mod imports;
mod narrow;
mod written;

use std::sync::OnceLock;

use tree_sitter::Node;

use super::{F, Handler, Language, Rules, kit};
use crate::facts::{
    BindingKind, Cx, DefId, ExprId, Flags, Flow, Kind, Param, Role, ScopeKind, Source, Span, TypeId, span,
};

/// Python.
pub(super) static PYTHON: Language = Language {
    name: "python",
    extensions: &["py", "pyi", "pyw"],
    file_names: &["SConstruct", "SConscript"],
    shebangs: &["python"],
    comments: &["comment"],
    doc_prefixes: &["#:"],
    tests: &["tests/", "test/", "test_*", "*_test.py", "conftest.py"],
    full: true,
    rewrite: None,
    grammar: || tree_sitter_python::LANGUAGE.into(),
    rules: Rules::Walk { handlers: &[HANDLERS, exprs::HANDLERS], expr: exprs::expr, ty: exprs::ty },
    compiled: OnceLock::new(),
};

const HANDLERS: &[(&str, Handler)] = &[
    ("function_definition", function),
    ("class_definition", class),
    ("decorator", decorator),
    ("lambda", lambda),
    ("assignment", binds::assignment),
    ("augmented_assignment", binds::augmented),
    ("named_expression", binds::walrus),
    ("for_statement", binds::for_),
    ("for_in_clause", binds::for_in),
    ("with_item", binds::with_item),
    ("except_clause", binds::except),
    ("case_pattern", binds::case_pattern),
    ("global_statement", binds::outer),
    ("nonlocal_statement", binds::outer),
    ("list_comprehension", comprehension),
    ("set_comprehension", comprehension),
    ("dictionary_comprehension", comprehension),
    ("generator_expression", comprehension),
    ("import_statement", imports::import),
    ("import_from_statement", imports::from),
    ("future_import_statement", kit::skip),
    ("return_statement", return_),
    ("type_alias_statement", type_alias),
];

/// Whether the current definition is a method, and what its decorators make of it.
fn decorators<'t>(cx: &mut Cx<'t>) -> Decorators {
    let mut found = Decorators::default();
    let Some(around) = cx.parent().filter(|parent| parent.kind() == "decorated_definition") else {
        return found;
    };
    found.span = Some(span(around));
    let mut flags = Flags::default();
    for decorator in cx.named(around).into_iter().filter(|child| child.kind() == "decorator") {
        let text = cx.text(decorator).trim_start_matches('@').trim();
        let name = text.split('(').next().unwrap_or(text);
        let last = name.rsplit('.').next().unwrap_or(name);
        flags = flags
            .when(last == "staticmethod", Flags::STATIC)
            .when(matches!(last, "property" | "cached_property" | "setter" | "getter"), Flags::ACCESSOR)
            .when(last.starts_with("abstract"), Flags::ABSTRACT);
        found.enters |= matches!(last, "contextmanager" | "asynccontextmanager");
        if found.outermost.is_none()
            && !KEEPING.contains(&last)
            && let Some(inner) = decorator.named_child(0)
        {
            found.outermost = cx.expr(inner);
        }
    }
    found.flags = flags;
    found
}

#[derive(Default)]
struct Decorators {
    flags: Flags,
    span: Option<Span>,
    /// The first that may make something else of the function.
    outermost: ExprId,
    /// It makes a context manager of a generator.
    enters: bool,
}

/// Decorators after which a function is what it was.
const KEEPING: &[&str] = &[
    "staticmethod",
    "classmethod",
    "property",
    "cached_property",
    "setter",
    "getter",
    "deleter",
    "overload",
    "override",
    "final",
    "abstractmethod",
    "wraps",
    "lru_cache",
    "cache",
    "contextmanager",
    "asynccontextmanager",
    "fixture",
];

fn exported(name: &str) -> bool {
    !name.starts_with('_') || (name.starts_with("__") && name.ends_with("__"))
}

/// The string that a body begins with.
fn docstring<'t>(cx: &Cx<'t>, body: Option<Node<'t>>) -> Span {
    let first =
        body.and_then(|body| body.named_child(0)).filter(|first| first.kind() == "expression_statement");
    let text = first.and_then(|first| cx.child(first, &["string", "concatenated_string"]));
    text.map(span).unwrap_or_default()
}

fn function<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(name) = cx.field(node, F::Name) else { return Flow::Children };
    let in_class = cx.scope_kind() == ScopeKind::Type;
    let text = cx.text(name);
    let kind = match (in_class, text) {
        (true, "__init__") => Kind::Constructor,
        (true, _) => Kind::Method,
        (false, _) => Kind::Function,
    };
    let mut new = cx.new_definition(name, kind, node);
    let decorators = decorators(cx);
    let (flags, outer) = (decorators.flags, decorators.span);
    new.decorator = decorators.outermost;
    let is_async = cx.text(node).starts_with("async");
    new.flags = flags
        .when(exported(text) && !cx.in_function(), Flags::EXPORTED)
        .when(is_async, Flags::ASYNC)
        .when(text.starts_with("test"), Flags::TEST);
    new.span = outer.unwrap_or(new.span);
    let body = cx.field(node, F::Body);
    new.head_end = body.map_or(new.head_end, |body| body.start_byte() as u32);
    new.doc = docstring(cx, body);
    new.ty = cx.field(node, F::ReturnType).map_or(TypeId::NONE, |ty| cx.ty(ty));
    if decorators.enters {
        new.ty = written::entered(cx, new.ty);
    }
    let list = cx.field(node, F::Parameters).map(|list| cx.named(list)).unwrap_or_default();
    let takes_receiver = in_class && !flags.has(Flags::STATIC);
    new.flags = new.flags.when(takes_receiver && !list.is_empty(), Flags::RECEIVER);
    for parameter in list.iter().skip(usize::from(takes_receiver)) {
        let Some(parameter) = parameter_of(cx, *parameter) else { continue };
        new.flags = new.flags.when(parameter.rest, Flags::VARIADIC);
        new.params.push(Param {
            name: cx.sym(parameter.name),
            ty: parameter.ty,
            optional: parameter.value.is_some(),
            rest: parameter.rest,
        });
    }
    let definition = cx.define(new);
    let scope = cx.enter(ScopeKind::Function, node, definition);
    // What is written in the head is seen from outside of the function.
    if let (Some(body), Some(index)) = (body, scope.index())
        && let Some(scope) = cx.facts.scopes.get_mut(index)
    {
        scope.span = span(body);
    }
    bind_parameters(cx, &list);
    Flow::Children
}

struct Parameter<'t> {
    name: Node<'t>,
    ty: TypeId,
    value: ExprId,
    rest: bool,
}

fn parameter_of<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Option<Parameter<'t>> {
    let plain = |name| Parameter { name, ty: TypeId::NONE, value: ExprId::NONE, rest: false };
    Some(match node.kind() {
        "identifier" => plain(node),
        "list_splat_pattern" | "dictionary_splat_pattern" => {
            Parameter { rest: true, ..plain(node.named_child(0)?) }
        }
        "default_parameter" | "typed_default_parameter" => {
            let name = cx.field(node, F::Name)?;
            let ty = cx.field(node, F::Type).map_or(TypeId::NONE, |ty| cx.ty(ty));
            let value = cx.field(node, F::Value).map_or(ExprId::NONE, |value| cx.expr(value));
            Parameter { name, ty, value, rest: false }
        }
        "typed_parameter" => {
            let mut inner = node.named_child(0)?;
            let rest = inner.kind() != "identifier";
            if rest {
                inner = inner.named_child(0)?;
            }
            let ty = cx.field(node, F::Type).map_or(TypeId::NONE, |ty| cx.ty(ty));
            Parameter { name: inner, ty, value: ExprId::NONE, rest }
        }
        _ => return None,
    })
}

fn bind_parameters<'t>(cx: &mut Cx<'t>, list: &[Node<'t>]) {
    for node in list {
        if let Some(parameter) = parameter_of(cx, *node) {
            let ty = written::collected(cx, *node, parameter.ty, parameter.rest);
            let source = Source { ty, value: parameter.value, ..Source::nothing() };
            cx.bind(parameter.name, BindingKind::Parameter, &source);
        }
    }
}

fn lambda<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    cx.enter(ScopeKind::Closure, node, DefId::NONE);
    let list = cx.field(node, F::Parameters).map(|list| cx.named(list)).unwrap_or_default();
    bind_parameters(cx, &list);
    Flow::Children
}

fn class<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(name) = cx.field(node, F::Name) else { return Flow::Children };
    let mut new = cx.new_definition(name, Kind::Class, node);
    let outer = decorators(cx).span;
    let text = cx.text(name);
    new.flags = Flags::default()
        .when(exported(text) && !cx.in_function(), Flags::EXPORTED)
        .when(text.starts_with("Test"), Flags::TEST);
    new.span = outer.unwrap_or(new.span);
    let body = cx.field(node, F::Body);
    new.head_end = body.map_or(new.head_end, |body| body.start_byte() as u32);
    new.doc = docstring(cx, body);
    for base in cx.field(node, F::Superclasses).map(|list| cx.named(list)).unwrap_or_default() {
        if matches!(base.kind(), "keyword_argument" | "comment" | "list_splat" | "dictionary_splat") {
            continue;
        }
        new.bases.push(cx.ty(base));
        exprs::mark_type(cx, base, Role::Inherit);
    }
    let definition = cx.define(new);
    let scope = cx.enter(ScopeKind::Type, node, definition);
    // What is a method is no field, however it is set.
    for child in body.map(|body| cx.named(body)).unwrap_or_default() {
        let inner =
            if child.kind() == "decorated_definition" { cx.field(child, F::Definition) } else { None };
        let function = inner.unwrap_or(child);
        if function.kind() == "function_definition"
            && let Some(name) = cx.field(function, F::Name)
        {
            let name = cx.sym(name);
            cx.is_first(scope, DefId::NONE, name);
        }
    }
    Flow::Children
}

fn decorator<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(inner) = node.named_child(0) {
        match inner.kind() {
            "identifier" => cx.mark_use(inner, Role::Attribute, 0, ExprId::NONE),
            "attribute" => {
                let receiver = exprs::object(cx, inner);
                if let Some(name) = cx.field(inner, F::Attribute) {
                    cx.mark_use(name, Role::Attribute, 0, receiver);
                }
            }
            _ => {}
        }
    }
    Flow::Children
}

fn comprehension<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    cx.enter(ScopeKind::Comprehension, node, DefId::NONE);
    Flow::Children
}

fn return_<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(value) = node.named_child(0) {
        binds::returns(cx, value);
    }
    Flow::Children
}

fn type_alias<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(name) = cx.field(node, F::Left).and_then(|left| left.named_child(0)) else {
        return Flow::Children;
    };
    let name = if name.kind() == "identifier" { Some(name) } else { cx.child(name, &["identifier"]) };
    if let Some(name) = name {
        let mut new = cx.new_definition(name, Kind::Type, node);
        new.ty = cx.field(node, F::Right).map_or(TypeId::NONE, |ty| cx.ty(ty));
        cx.define(new);
    }
    Flow::Children
}
