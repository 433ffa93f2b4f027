//! C++: C with classes, namespaces and templates.

use std::sync::OnceLock;

use tree_sitter::Node;

use super::c::{self, declare, exprs};
use super::{F, Handler, Language, Rules, kit};
use crate::facts::{
    BindingKind, Cx, DefId, ExprId, Flags, Flow, Import, ImportKind, ImportName, Kind, Part, Role, ScopeKind,
    Source, Sym, TypeId, span,
};

/// C++.
pub(super) static CPP: Language = Language {
    name: "cpp",
    extensions: &["cpp", "cc", "cxx", "hpp", "hh", "hxx", "ipp", "inl"],
    file_names: &[],
    shebangs: &[],
    comments: &["comment"],
    doc_prefixes: &["/*", "//"],
    tests: c::TESTS,
    full: true,
    rewrite: None,
    grammar: || tree_sitter_cpp::LANGUAGE.into(),
    rules: Rules::Walk {
        handlers: &[c::HANDLERS, exprs::HANDLERS, HANDLERS],
        expr: exprs::expr,
        ty: exprs::ty,
    },
    compiled: OnceLock::new(),
};

const HANDLERS: &[(&str, Handler)] = &[
    ("class_specifier", class),
    ("namespace_definition", namespace),
    ("alias_declaration", alias),
    ("using_declaration", using),
    ("optional_parameter_declaration", declare::parameter),
    ("template_parameter_list", template_parameters),
    ("lambda_expression", lambda),
    ("for_range_loop", for_range),
    ("catch_clause", kit::block),
    ("if_statement", kit::block),
    ("field_initializer", exprs::initializer),
    ("new_expression", new),
    ("qualified_identifier", qualified),
    ("namespace_identifier", kit::read),
];

fn class<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    c::type_like(cx, node, Kind::Class)
}

fn namespace<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    // `namespace a::b` is a namespace in a namespace.
    let mut names = Vec::new();
    let mut left: Vec<Node<'t>> = cx.field(node, F::Name).into_iter().collect();
    while let Some(at) = left.pop().filter(|_| names.len() < 16) {
        match at.kind() {
            "nested_namespace_specifier" => left.extend(cx.named(at).into_iter().rev()),
            "namespace_identifier" | "identifier" => names.push(at),
            _ => {}
        }
    }
    for name in names {
        let mut new = cx.new_definition(name, Kind::Module, node);
        new.flags = Flags::EXPORTED;
        new.head_end = name.end_byte() as u32;
        let id = cx.define(new);
        cx.enter(ScopeKind::Module, node, id);
    }
    Flow::Children
}

fn alias<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(name) = cx.field(node, F::Name) {
        let mut new = cx.new_definition(name, Kind::Type, node);
        new.flags = Flags::EXPORTED;
        new.ty = cx.field(node, F::Type).map_or(TypeId::NONE, |ty| cx.ty(ty));
        cx.define(new);
    }
    Flow::Children
}

/// `using a::b;` brings a name in, `using namespace a;` all of them.
fn using<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(path) = node.named_child(0) else { return Flow::Skip };
    let whole = cx.child(node, &["namespace"]).is_some();
    let text = cx.text(path).replace("::", ".");
    let (kind, source, name) = match text.rsplit_once('.') {
        Some((source, name)) if !whole => (ImportKind::Names, source, name),
        _ => (ImportKind::Glob, text.as_str(), "*"),
    };
    let start = path.end_byte().saturating_sub(name.len()) as u32;
    let names = vec![ImportName { name: cx.intern(name), alias: Sym::NONE, start }];
    let (source, span, scope) = (cx.intern(source), span(node), cx.scope);
    cx.import(Import { kind, source, alias: Sym::NONE, names, span, scope });
    Flow::Children
}

fn template_parameters<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    for parameter in cx.named(node) {
        let name = cx.field(parameter, F::Name).or_else(|| cx.child(parameter, &["type_identifier"]));
        if let Some(name) = name.filter(|_| parameter.kind().contains("type_parameter")) {
            cx.bind(name, BindingKind::TypeParameter, &Source::nothing());
        }
    }
    Flow::Children
}

fn lambda<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    cx.enter(ScopeKind::Closure, node, DefId::NONE);
    Flow::Children
}

fn for_range<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    cx.enter(ScopeKind::Block, node, DefId::NONE);
    let ty =
        cx.field(node, F::Type).filter(|ty| ty.kind() != "placeholder_type_specifier" && ty.kind() != "auto");
    let ty = ty.map_or(TypeId::NONE, |ty| cx.ty(ty));
    let value = cx.field(node, F::Right).map_or(ExprId::NONE, |right| cx.expr(right));
    let declared =
        cx.field(node, F::Declarator).map(|declarator| declare::unwrap(cx, declarator)).unwrap_or_default();
    match declared.name {
        Some(name) if name.kind() == "identifier" => {
            let part = if ty.is_some() { Part::Whole } else { Part::Element };
            cx.bind(name, BindingKind::Loop, &Source { ty, ..Source::value(value, part) });
        }
        Some(names) => {
            for (index, name) in cx.named(names).into_iter().enumerate() {
                let source = Source::value(value, Part::Element).part(Part::Index(index.min(255) as u8));
                cx.bind(name, BindingKind::Loop, &source);
            }
        }
        None => {}
    }
    Flow::Children
}

fn new<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let args = kit::count_args(cx, cx.field(node, F::Arguments), &[]);
    if let Some(ty) = cx.field(node, F::Type) {
        exprs::mark(cx, ty, Role::Construct, args);
    }
    Flow::Children
}

fn qualified<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let receiver = exprs::qualifier_expr(cx, node);
    if let Some(name) = exprs::last_name(cx, node) {
        let role = if name.kind() == "type_identifier" { Role::Type } else { Role::Read };
        cx.mark_new(name, role, receiver);
    }
    Flow::Children
}
