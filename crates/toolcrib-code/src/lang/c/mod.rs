//! C, and what C++ shares with it.

pub(super) mod declare;
pub(super) mod exprs;

use std::sync::OnceLock;

use tree_sitter::Node;

use super::{F, Handler, Language, Rules, kit};
use crate::facts::{
    Cx, DefId, Flags, Flow, Import, ImportKind, Kind, Role, ScopeId, ScopeKind, Sym, TypeId, span,
};

/// C.
pub(super) static C: Language = Language {
    name: "c",
    extensions: &["c", "h"],
    file_names: &[],
    shebangs: &["tcc"],
    comments: &["comment"],
    doc_prefixes: &["/*", "//"],
    tests: TESTS,
    full: true,
    rewrite: None,
    grammar: || tree_sitter_c::LANGUAGE.into(),
    rules: Rules::Walk { handlers: &[HANDLERS, exprs::HANDLERS], expr: exprs::expr, ty: exprs::ty },
    compiled: OnceLock::new(),
};

pub(super) const TESTS: &[&str] =
    &["test/", "tests/", "*_test.c", "*_test.cc", "*_test.cpp", "test_*", "*_unittest.cc"];

pub(super) const HANDLERS: &[(&str, Handler)] = &[
    ("preproc_include", include),
    ("preproc_def", macro_),
    ("preproc_function_def", macro_),
    ("function_definition", declare::function),
    ("declaration", declare::declaration),
    ("field_declaration", declare::field),
    ("parameter_declaration", declare::parameter),
    ("type_definition", typedef),
    ("struct_specifier", structure),
    ("union_specifier", structure),
    ("enum_specifier", enumeration),
    ("enumerator", enumerator),
    ("compound_statement", kit::block),
    ("for_statement", kit::block),
    ("statement_identifier", kit::skip),
];

fn include<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(path) = cx.field(node, F::Path) {
        // `<…>` stays, so that it is known where to look.
        let text = cx.text(path).trim_matches('"');
        let (source, span, scope) = (cx.intern(text), span(node), cx.scope);
        cx.import(Import {
            kind: ImportKind::Include,
            source,
            alias: Sym::NONE,
            names: Vec::new(),
            span,
            scope,
        });
    }
    Flow::Skip
}

fn macro_<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(name) = cx.field(node, F::Name) else { return Flow::Skip };
    let function = node.kind() == "preproc_function_def";
    let mut new = cx.new_definition(name, if function { Kind::Macro } else { Kind::Constant }, node);
    let parameters = cx.field(node, F::Parameters);
    new.head_end = parameters.unwrap_or(name).end_byte() as u32;
    new.flags = Flags::EXPORTED;
    // Wherever it is written, it is nobody's and seen everywhere.
    let (scope, definition) = (cx.scope, cx.definition);
    (cx.scope, cx.definition) = (ScopeId::new(0), DefId::NONE);
    cx.define(new);
    (cx.scope, cx.definition) = (scope, definition);
    Flow::Skip
}

fn typedef<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let mut declared = Vec::new();
    for declarator in declare::declarators(cx, node) {
        let name = declare::unwrap(cx, declarator).name;
        declared.extend(name.filter(|name| name.kind() == "type_identifier"));
    }
    let Some((name, more)) = declared.split_first() else { return Flow::Children };
    let name = *name;
    let mut new = cx.new_definition(name, Kind::Type, node);
    new.flags = Flags::EXPORTED;
    new.ty = cx.field(node, F::Type).map_or(TypeId::NONE, |ty| cx.ty(ty));
    let body = cx.field(node, F::Type).and_then(|ty| cx.field(ty, F::Body));
    new.head_end = body.map_or(new.head_end, |body| body.start_byte() as u32);
    let id = cx.define(new);
    // `typedef struct { … } Name, *Pointer;`
    for other in more {
        let mut new = cx.new_definition(*other, Kind::Type, node);
        new.flags = Flags::EXPORTED;
        new.head_end = body.map_or(new.head_end, |body| body.start_byte() as u32);
        let first = cx.text(name);
        new.ty = cx.named_type(first);
        cx.define(new);
    }
    // `typedef struct { … } Name;`: the members are those of the name.
    if body.is_some() && cx.field(node, F::Type).is_some_and(|ty| cx.field(ty, F::Name).is_none()) {
        cx.enter(ScopeKind::Type, node, id);
    }
    Flow::Children
}

/// A struct, union or class; without a body it is only named.
pub(super) fn type_like<'t>(cx: &mut Cx<'t>, node: Node<'t>, kind: Kind) -> Flow {
    let (Some(name), Some(body)) = (cx.field(node, F::Name), cx.field(node, F::Body)) else {
        return Flow::Children;
    };
    let Some(last) = exprs::last_name(cx, name) else { return Flow::Children };
    let mut new = cx.new_definition(last, kind, node);
    new.head_end = body.start_byte() as u32;
    new.flags = Flags::EXPORTED;
    if let Some(clause) = cx.child(node, &["base_class_clause"]) {
        for base in cx.named(clause) {
            if !matches!(base.kind(), "access_specifier" | "attribute_declaration" | "virtual") {
                new.bases.push(cx.ty(base));
                exprs::mark(cx, base, Role::Inherit, 0);
            }
        }
    }
    let id = cx.define(new);
    cx.enter(ScopeKind::Type, node, id);
    Flow::Children
}

fn structure<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    type_like(cx, node, Kind::Struct)
}

fn enumeration<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    type_like(cx, node, Kind::Enum)
}

fn enumerator<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(name) = cx.field(node, F::Name) {
        let mut new = cx.new_definition(name, Kind::Variant, node);
        new.flags = Flags::EXPORTED;
        // Seen by its bare name around the enumeration, unless that is a class.
        let scope = cx.scope;
        let scoped = cx.above.iter().rev().nth(1).is_some_and(|list| {
            list.kind() == "enum_specifier" && cx.child(*list, &["class", "struct"]).is_some()
        });
        let named = cx.facts.definition(cx.definition).is_some_and(|around| around.body == cx.scope);
        if named && !scoped {
            cx.scope = cx.facts.scope(scope).map_or(scope, |inner| inner.parent);
        }
        cx.define(new);
        cx.scope = scope;
    }
    Flow::Children
}
