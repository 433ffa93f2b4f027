//! Go.

mod exprs;

use std::sync::OnceLock;

use tree_sitter::Node;

use super::{F, Handler, Language, Rules, kit};
use crate::facts::{
    BindingKind, Cx, DefId, ExprId, Flags, Flow, Import, ImportKind, ImportName, Kind, Param, Part, Role,
    ScopeKind, Source, Span, Sym, TypeId, span,
};

/// Go.
pub(super) static GO: Language = Language {
    name: "go",
    extensions: &["go"],
    file_names: &[],
    shebangs: &[],
    comments: &["comment"],
    doc_prefixes: &["//", "/*"],
    tests: &["*_test.go", "testdata/"],
    full: true,
    rewrite: None,
    grammar: || tree_sitter_go::LANGUAGE.into(),
    rules: Rules::Walk { handlers: &[HANDLERS, exprs::HANDLERS], expr: exprs::expr, ty: exprs::ty },
    compiled: OnceLock::new(),
};

const HANDLERS: &[(&str, Handler)] = &[
    ("package_clause", package),
    ("import_spec", import),
    ("function_declaration", function),
    ("method_declaration", function),
    ("method_elem", function),
    ("func_literal", closure),
    ("function_type", function_type),
    ("type_spec", type_spec),
    ("type_alias", type_spec),
    ("field_declaration", field),
    ("const_spec", values),
    ("var_spec", values),
    ("short_var_declaration", short),
    ("range_clause", range),
    ("assignment_statement", assignment),
    ("block", kit::block),
    ("if_statement", kit::block),
    ("for_statement", kit::block),
    ("expression_switch_statement", kit::block),
    ("type_switch_statement", type_switch),
    ("expression_case", kit::block),
    ("type_case", type_case),
    ("communication_case", kit::block),
    ("type_parameter_list", type_parameters),
    ("label_name", kit::skip),
];

fn exported(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

fn package<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    cx.facts.package = node.named_child(0).map(|name| cx.sym(name)).unwrap_or_default();
    Flow::Skip
}

fn import<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(path) = cx.field(node, F::Path) else { return Flow::Skip };
    let text = cx.text(path).trim_matches(['"', '`']);
    let mut import = Import {
        kind: ImportKind::Module,
        source: cx.intern(text),
        alias: Sym::NONE,
        names: Vec::new(),
        span: span(node),
        scope: cx.scope,
    };
    match cx.field(node, F::Name).map(|name| (name.kind(), name)) {
        Some(("dot", dot)) => {
            import.kind = ImportKind::Glob;
            let start = dot.start_byte() as u32;
            import.names.push(ImportName { name: cx.intern("*"), alias: Sym::NONE, start });
        }
        Some(("blank_identifier", _)) => import.kind = ImportKind::SideEffect,
        Some((_, name)) => import.alias = cx.sym(name),
        None => {}
    }
    cx.import(import);
    Flow::Skip
}

fn parameters<'t>(cx: &mut Cx<'t>, list: Option<Node<'t>>) -> Vec<Param> {
    let mut params = Vec::new();
    for declaration in list.map(|list| cx.named(list)).unwrap_or_default() {
        let rest = declaration.kind() == "variadic_parameter_declaration";
        if !rest && declaration.kind() != "parameter_declaration" {
            continue;
        }
        let ty = cx.field(declaration, F::Type).map_or(TypeId::NONE, |ty| cx.ty(ty));
        let names = names(cx, declaration);
        if names.is_empty() {
            params.push(Param { name: Sym::NONE, ty, optional: false, rest });
        }
        for name in names {
            params.push(Param { name: cx.sym(name), ty, optional: false, rest });
        }
    }
    params
}

/// The names that a declaration gives the same type.
pub(super) fn names<'t>(cx: &Cx<'t>, node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.children_by_field_id(
        cx.compiled.field(F::Name).try_into().unwrap_or(std::num::NonZeroU16::MAX),
        &mut cursor,
    )
    .filter(|name| matches!(name.kind(), "identifier" | "field_identifier"))
    .collect()
}

fn bind_parameters<'t>(cx: &mut Cx<'t>, list: Option<Node<'t>>) {
    for declaration in list.map(|list| cx.named(list)).unwrap_or_default() {
        let ty = cx.field(declaration, F::Type).map_or(TypeId::NONE, |ty| cx.ty(ty));
        let ty = match declaration.kind() {
            "variadic_parameter_declaration" => cx.type_id(crate::facts::Type::Array(ty)),
            _ => ty,
        };
        for name in names(cx, declaration) {
            cx.bind(name, BindingKind::Parameter, &Source::typed(ty));
        }
    }
}

fn function<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(name) = cx.field(node, F::Name) else { return Flow::Children };
    let kind = if node.kind() == "function_declaration" { Kind::Function } else { Kind::Method };
    let mut new = cx.new_definition(name, kind, node);
    let text = cx.text(name);
    let body = cx.field(node, F::Body);
    let is_test = ["Test", "Benchmark", "Fuzz", "Example"].iter().any(|start| text.starts_with(start));
    new.flags = Flags::default()
        .when(exported(text), Flags::EXPORTED)
        .when(is_test && kind == Kind::Function, Flags::TEST)
        .when(body.is_none(), Flags::DECLARATION);
    new.head_end = body.map_or(new.head_end, |body| body.start_byte() as u32);
    let list = cx.field(node, F::Parameters);
    new.params = parameters(cx, list);
    new.flags = new.flags.when(new.params.iter().any(|param| param.rest), Flags::VARIADIC);
    new.ty = cx.field(node, F::Result).map_or(TypeId::NONE, |result| cx.ty(result));
    let receiver = cx.field(node, F::Receiver);
    if let Some(declaration) = receiver.and_then(|receiver| receiver.named_child(0)) {
        new.owner = cx.field(declaration, F::Type).map_or(TypeId::NONE, |ty| cx.ty(ty));
        new.flags = new.flags.with(Flags::RECEIVER);
    }
    let definition = cx.define(new);
    cx.enter(ScopeKind::Function, node, definition);
    receiver_parameters(cx, receiver);
    bind_parameters(cx, receiver);
    bind_parameters(cx, list);
    let result = cx.field(node, F::Result).filter(|result| result.kind() == "parameter_list");
    bind_parameters(cx, result);
    Flow::Children
}

/// `func (l *List[T]) …` names the parameters of the type.
fn receiver_parameters<'t>(cx: &mut Cx<'t>, receiver: Option<Node<'t>>) {
    let mut ty = receiver
        .and_then(|receiver| receiver.named_child(0))
        .and_then(|declaration| cx.field(declaration, F::Type));
    while let Some(inner) = ty.filter(|ty| matches!(ty.kind(), "pointer_type" | "parenthesized_type")) {
        ty = inner.named_child(0);
    }
    let list = ty.filter(|ty| ty.kind() == "generic_type").and_then(|ty| cx.field(ty, F::TypeArguments));
    for argument in list.map(|list| cx.named(list)).unwrap_or_default() {
        let name = if argument.kind() == "type_elem" { argument.named_child(0) } else { Some(argument) };
        if let Some(name) = name.filter(|name| name.kind() == "type_identifier") {
            cx.bind(name, BindingKind::TypeParameter, &Source::nothing());
        }
    }
}

/// The parameters of a type of functions are nobody's.
fn function_type<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    for list in [cx.field(node, F::Parameters), cx.field(node, F::Result)].into_iter().flatten() {
        for name in
            cx.named(list).into_iter().flat_map(|declaration| names(cx, declaration)).collect::<Vec<_>>()
        {
            cx.skip(name);
        }
    }
    Flow::Children
}

fn closure<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    cx.enter(ScopeKind::Closure, node, DefId::NONE);
    let list = cx.field(node, F::Parameters);
    bind_parameters(cx, list);
    Flow::Children
}

fn type_spec<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let (Some(name), Some(ty)) = (cx.field(node, F::Name), cx.field(node, F::Type)) else {
        return Flow::Children;
    };
    let kind = match ty.kind() {
        "struct_type" => Kind::Struct,
        "interface_type" => Kind::Interface,
        _ => Kind::Type,
    };
    let mut new = cx.new_definition(name, kind, node);
    new.flags = Flags::default().when(exported(cx.text(name)), Flags::EXPORTED);
    match kind {
        Kind::Struct => {
            let list = cx.child(ty, &["field_declaration_list"]);
            new.head_end = list.map_or(new.head_end, |list| list.start_byte() as u32);
            for field in list.map(|list| cx.named(list)).unwrap_or_default() {
                // An embedded field lends its members.
                if field.kind() == "field_declaration" && names(cx, field).is_empty() {
                    new.bases.extend(cx.field(field, F::Type).map(|ty| cx.ty(ty)));
                }
            }
        }
        Kind::Interface => {
            new.head_end = ty.start_byte() as u32 + 9;
            for embedded in cx.named(ty).into_iter().filter(|member| member.kind() == "type_elem") {
                new.bases.extend(embedded.named_child(0).map(|ty| cx.ty(ty)));
            }
        }
        _ => {
            new.ty = cx.ty(ty);
            new.flags = new.flags.when(node.kind() == "type_spec", Flags::DISTINCT);
        }
    }
    let definition = cx.define(new);
    cx.enter(ScopeKind::Type, node, definition);
    Flow::Children
}

fn field<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if cx.scope_kind() != ScopeKind::Type {
        return Flow::Children;
    }
    let ty = cx.field(node, F::Type);
    let of = ty.map_or(TypeId::NONE, |ty| cx.ty(ty));
    let named = names(cx, node);
    if named.is_empty()
        && let Some(name) = ty.and_then(|ty| embedded_name(cx, ty))
    {
        // An embedded field has the name of its type, and that name is still a use of it.
        let mut new = cx.new_definition(name, Kind::Field, node);
        cx.take_mark(name);
        new.flags = Flags::default().when(exported(cx.text(name)), Flags::EXPORTED);
        new.ty = of;
        cx.define(new);
    }
    for name in named {
        let mut new = cx.new_definition(name, Kind::Field, node);
        new.flags = Flags::default().when(exported(cx.text(name)), Flags::EXPORTED);
        new.ty = of;
        cx.define(new);
    }
    Flow::Children
}

fn embedded_name<'t>(cx: &Cx<'t>, ty: Node<'t>) -> Option<Node<'t>> {
    let mut at = ty;
    for _ in 0..4 {
        at = match at.kind() {
            "type_identifier" => return Some(at),
            "qualified_type" => cx.field(at, F::Name)?,
            "generic_type" => cx.field(at, F::Type)?,
            "pointer_type" => at.named_child(0)?,
            _ => return None,
        };
    }
    None
}

fn values<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let ty = cx.field(node, F::Type).map_or(TypeId::NONE, |ty| cx.ty(ty));
    let list = cx.field(node, F::Value).map(|list| cx.named(list)).unwrap_or_default();
    let named = names(cx, node);
    let count = named.len();
    for (index, name) in named.into_iter().enumerate() {
        let source = Source { ty, ..value_at(cx, &list, index, count) };
        if cx.in_function() {
            let visible = Some(Span::new(span(node).end, cx.scope_span().end));
            cx.bind(name, BindingKind::Local, &Source { visible, ..source });
            continue;
        }
        if cx.text(name) == "_" {
            cx.skip(name);
            continue;
        }
        let kind = if node.kind() == "const_spec" { Kind::Constant } else { Kind::Variable };
        let mut new = cx.new_definition(name, kind, node);
        new.flags = Flags::default().when(exported(cx.text(name)), Flags::EXPORTED);
        // One of several that a call gives is no part that a definition can name.
        let value = if source.part.is_whole() { source.value } else { ExprId::NONE };
        (new.ty, new.value) = (ty, value);
        cx.define(new);
    }
    Flow::Children
}

/// The value that the name at a place gets; all names share a call that returns several.
fn value_at<'t>(cx: &mut Cx<'t>, values: &[Node<'t>], index: usize, names: usize) -> Source {
    match (values, values.get(index)) {
        ([one], _) if names > 1 => {
            let value = cx.expr(*one);
            // `v, ok := m[k]`, `x.(T)`, `<-c`: the value, and whether there is one.
            let checked =
                matches!(one.kind(), "index_expression" | "type_assertion_expression" | "unary_expression");
            match (checked, index) {
                (true, 0) => Source::value(value, Part::Whole),
                (true, _) => Source::nothing(),
                (false, _) => Source::value(value, Part::Index(index.min(255) as u8)),
            }
        }
        (_, Some(value)) => {
            let value = cx.expr(*value);
            Source::value(value, Part::Whole)
        }
        _ => Source::nothing(),
    }
}

fn short<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let names = cx.field(node, F::Left).map(|list| cx.named(list)).unwrap_or_default();
    let list = cx.field(node, F::Right).map(|list| cx.named(list)).unwrap_or_default();
    let count = names.len();
    for (index, name) in names.into_iter().enumerate().filter(|(_, name)| name.kind() == "identifier") {
        let mut source = value_at(cx, &list, index, count);
        source.visible = Some(Span::new(span(node).end, cx.scope_span().end));
        if cx.text(name) == "_" {
            cx.skip(name);
        } else {
            cx.bind(name, BindingKind::Local, &source);
        }
    }
    Flow::Children
}

fn range<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let value = cx.field(node, F::Right).map_or(ExprId::NONE, |right| cx.expr(right));
    let names = cx.field(node, F::Left).map(|list| cx.named(list)).unwrap_or_default();
    for (index, name) in names.into_iter().enumerate().filter(|(_, name)| name.kind() == "identifier") {
        // What comes first is an index, a key or an element: what is gone over tells.
        let part = Part::Given(cx.intern("range"), index.min(255) as u8);
        if cx.text(name) == "_" {
            cx.skip(name);
        } else {
            cx.bind(name, BindingKind::Loop, &Source::value(value, part));
        }
    }
    Flow::Children
}

/// `switch x := y.(type)`
fn type_switch<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    cx.enter(ScopeKind::Block, node, DefId::NONE);
    let alias = cx.field(node, F::Alias).and_then(|list| list.named_child(0));
    let value = cx.field(node, F::Value).map_or(ExprId::NONE, |value| cx.expr(value));
    if let Some(name) = alias {
        cx.bind(name, BindingKind::Pattern, &Source::value(value, Part::Unknown));
    }
    Flow::Children
}

/// In a case of one type the name has that type.
fn type_case<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let alias =
        cx.parent().and_then(|switch| cx.field(switch, F::Alias)).and_then(|list| list.named_child(0));
    cx.enter(ScopeKind::Block, node, DefId::NONE);
    let mut cursor = node.walk();
    let types: Vec<Node<'t>> = match std::num::NonZeroU16::new(cx.compiled.field(F::Type)) {
        Some(field) => node.children_by_field_id(field, &mut cursor).filter(|ty| ty.is_named()).collect(),
        None => Vec::new(),
    };
    if let (Some(name), [only]) = (alias, types.as_slice()) {
        let ty = cx.ty(*only);
        let (sym, start) = (cx.sym(name), name.start_byte() as u32);
        cx.bind_at(sym, start, BindingKind::Pattern, &Source::typed(ty));
    }
    Flow::Children
}

fn assignment<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    for target in cx.field(node, F::Left).map(|list| cx.named(list)).unwrap_or_default() {
        exprs::mark(cx, target, Role::Write, 0);
    }
    Flow::Children
}

fn type_parameters<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    for declaration in cx.named(node) {
        let bound = cx.field(declaration, F::Type).and_then(|bound| bound.named_child(0));
        let ty = bound.map_or(TypeId::NONE, |bound| cx.ty(bound));
        for name in names(cx, declaration) {
            cx.bind(name, BindingKind::TypeParameter, &Source::typed(ty));
        }
    }
    Flow::Children
}
