//! What gives a name a value in JavaScript and TypeScript.

use tree_sitter::Node;

use super::{export_flags, exprs, key_part, objects, parameters};
use crate::facts::{
    BindingKind, Cx, DefId, ExprId, Flags, Flow, Import, ImportKind, ImportName, Kind, Part, Role, ScopeKind,
    Source, Sym, TypeId, span,
};
use crate::lang::F;

pub(super) fn declaration<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let keyword = cx.text(node);
    let (is_var, is_const) = (keyword.starts_with("var"), keyword.starts_with("const"));
    for declarator in cx.named(node).into_iter().filter(|child| child.kind() == "variable_declarator") {
        let Some(target) = cx.field(declarator, F::Name) else { continue };
        let ty = cx.field(declarator, F::Type).map_or(TypeId::NONE, |ty| cx.ty(ty));
        let value = cx.field(declarator, F::Value);
        let loads = value.and_then(|value| match value.kind() {
            "await_expression" => value.named_child(0),
            _ => Some(value),
        });
        if let Some(call) = loads.filter(|value| value.kind() == "call_expression")
            && require(cx, call, target, value.is_some_and(|value| value.kind() == "await_expression"))
        {
            continue;
        }
        let local = cx.in_function() || cx.scope_kind() == ScopeKind::Block;
        if target.kind() == "identifier" && !local {
            define(cx, declarator, target, ty, value, is_const);
            continue;
        }
        let value = value.map_or(ExprId::NONE, |value| cx.expr(value));
        let scope = is_var.then(|| cx.function_scope());
        let source = Source { scope, ty, value, ..Source::nothing() };
        if local {
            targets(cx, target, BindingKind::Local, source);
        } else {
            // What is taken apart at the top of a module is as visible as any other variable.
            define_all(cx, declarator, target, source);
        }
    }
    Flow::Children
}

/// `const x = require("m")` and `const { a, b: c } = require("m")` are imports.
fn require<'t>(cx: &mut Cx<'t>, call: Node<'t>, target: Node<'t>, awaited: bool) -> bool {
    let is_import = cx.field(call, F::Function).is_some_and(|function| function.kind() == "import");
    let Some(source) = exprs::required(cx, call).filter(|_| is_import == awaited) else { return false };
    let mut import = Import {
        kind: ImportKind::Module,
        source,
        alias: Sym::NONE,
        names: Vec::new(),
        span: crate::facts::Span::new(span(target).start, span(call).end),
        scope: cx.scope,
    };
    match target.kind() {
        "identifier" => {
            import.alias = cx.sym(target);
            cx.skip(target);
        }
        "object_pattern" => {
            import.kind = ImportKind::Names;
            for member in cx.named(target) {
                let (key, value) = match member.kind() {
                    "shorthand_property_identifier_pattern" => (member, None),
                    "pair_pattern" => match (cx.field(member, F::Key), cx.field(member, F::Value)) {
                        (Some(key), Some(value)) if value.kind() == "identifier" => (key, Some(value)),
                        _ => return false,
                    },
                    _ => return false,
                };
                let name = cx.sym(key);
                let alias = value.map(|value| cx.sym(value)).unwrap_or_default();
                cx.mark_use(key, Role::Import, 0, ExprId::NONE);
                if let Some(value) = value {
                    cx.skip(value);
                }
                import.names.push(ImportName { name, alias, start: key.start_byte() as u32 });
            }
        }
        _ => return false,
    }
    cx.skip(call);
    cx.import(import);
    true
}

fn define<'t>(
    cx: &mut Cx<'t>,
    node: Node<'t>,
    name: Node<'t>,
    ty: TypeId,
    value: Option<Node<'t>>,
    is_const: bool,
) {
    let function = value.filter(|value| exprs::is_function(*value));
    let class = value.filter(|value| value.kind() == "class");
    let kind = match (function, class) {
        (Some(_), _) => Kind::Function,
        (_, Some(_)) => Kind::Class,
        _ if is_const => Kind::Constant,
        _ => Kind::Variable,
    };
    let mut new = cx.new_definition(name, kind, node);
    new.flags = export_flags(cx);
    new.ty = ty;
    if let Some(function) = function {
        let (params, flags) = parameters(cx, function);
        new.params = params;
        new.flags = new.flags.with(flags).when(cx.text(function).starts_with("async"), Flags::ASYNC);
        new.ty = exprs::returned(cx, function, ty);
        new.head_end = cx.field(function, F::Body).map_or(new.head_end, |body| body.start_byte() as u32);
    } else if let Some(class) = class {
        new.bases = super::heritage(cx, class);
        new.head_end = class.start_byte() as u32;
    } else if let Some(value) = value {
        objects::own(cx, value);
        new.value = cx.expr(value);
        if span(node).end - span(node).start > 120 {
            new.head_end = value.start_byte() as u32;
        }
    }
    let exported = new.flags.has(Flags::EXPORTED);
    let (sym, start) = (new.name, new.name_start);
    let definition = cx.define(new);
    if exported {
        cx.export(sym, sym, start);
    }
    if let Some(body) = function.or(class) {
        cx.own(body, definition);
    }
}

/// Every name of a pattern, defined.
fn define_all<'t>(cx: &mut Cx<'t>, node: Node<'t>, pattern: Node<'t>, source: Source) {
    let flags = export_flags(cx);
    for (name, source) in names(cx, pattern, source) {
        let mut new = cx.new_definition(name, Kind::Variable, node);
        new.flags = flags;
        new.span = span(name);
        new.head_end = pattern.end_byte() as u32;
        if source.part.is_whole() {
            (new.ty, new.value) = (source.ty, source.value);
        } else if let [Part::Field(field)] = source.part.steps().collect::<Vec<_>>()[..]
            && source.value.is_some()
        {
            new.value =
                cx.expr_id(crate::facts::Expr::Member { base: source.value, name: field, path: false });
        }
        let (sym, start) = (new.name, new.name_start);
        cx.define(new);
        if flags.has(Flags::EXPORTED) {
            cx.export(sym, sym, start);
        }
    }
}

/// Binds every name of a target.
pub(in crate::lang) fn targets<'t>(cx: &mut Cx<'t>, target: Node<'t>, kind: BindingKind, source: Source) {
    for (name, source) in names(cx, target, source) {
        cx.bind(name, kind, &source);
    }
}

/// The names of a pattern, each with its part of the value.
fn names<'t>(cx: &mut Cx<'t>, target: Node<'t>, source: Source) -> Vec<(Node<'t>, Source)> {
    let mut found = Vec::new();
    let mut left = vec![(target, source)];
    while let Some((at, source)) = left.pop() {
        match at.kind() {
            // A parameter may say what `this` is.
            "identifier" | "this" => found.push((at, source)),
            "shorthand_property_identifier_pattern" => {
                let part = key_part(cx, at);
                found.push((at, source.part(part)));
            }
            "object_pattern" => left.extend(cx.named(at).into_iter().map(|child| (child, source))),
            "pair_pattern" => {
                if let (Some(key), Some(value)) = (cx.field(at, F::Key), cx.field(at, F::Value)) {
                    let part = key_part(cx, key);
                    left.push((value, source.part(part)));
                }
            }
            "object_assignment_pattern" | "assignment_pattern" => {
                left.extend(cx.field(at, F::Left).map(|inner| (inner, source)));
            }
            "array_pattern" => {
                for (index, child) in cx.named(at).into_iter().enumerate() {
                    left.push((child, source.part(Part::Index(index.min(255) as u8))));
                }
            }
            "rest_pattern" => left.extend(at.named_child(0).map(|inner| (inner, source.part(Part::Unknown)))),
            _ => {}
        }
    }
    found.reverse();
    found
}

pub(super) fn for_in<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    cx.enter(ScopeKind::Block, node, DefId::NONE);
    let of = cx.field(node, F::Operator).is_some_and(|operator| operator.kind() == "of");
    if let (Some(left), Some(right)) = (cx.field(node, F::Left), cx.field(node, F::Right))
        && cx.field(node, F::Kind).is_some()
    {
        let value = cx.expr(right);
        let part = if of { Part::Element } else { Part::Unknown };
        targets(cx, left, BindingKind::Loop, Source::value(value, part));
    }
    Flow::Children
}

pub(super) fn catch<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    cx.enter(ScopeKind::Block, node, DefId::NONE);
    if let Some(parameter) = cx.field(node, F::Parameter) {
        targets(cx, parameter, BindingKind::Catch, Source::nothing());
    }
    Flow::Children
}

/// An assignment writes; `this.x = …` in a class without such a field defines it; `module.exports` exports.
pub(super) fn assignment<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let (Some(left), Some(right)) = (cx.field(node, F::Left), cx.field(node, F::Right)) else {
        return Flow::Children;
    };
    let text = cx.text(left);
    if left.kind() == "member_expression"
        && (text.starts_with("exports.") || text.starts_with("module.exports"))
    {
        common_js(cx, node, left, right);
    } else if left.kind() == "member_expression" && text.starts_with("this.") {
        this_field(cx, node, left, right);
    } else {
        exprs::mark(cx, left, Role::Write);
    }
    Flow::Children
}

fn common_js<'t>(cx: &mut Cx<'t>, node: Node<'t>, left: Node<'t>, right: Node<'t>) {
    let start = left.start_byte() as u32;
    match cx.text(left) {
        "module.exports" if right.kind() == "object" => {
            for member in cx.named(right) {
                let key = if member.kind() == "pair" { cx.field(member, F::Key) } else { Some(member) };
                let local = if member.kind() == "pair" { cx.field(member, F::Value) } else { Some(member) };
                let Some(key) = key.filter(|key| key.kind().contains("property_identifier")) else {
                    continue;
                };
                let name = cx.sym(key);
                let local = local.filter(|local| local.kind() != "object").map(|local| cx.text(local));
                let local = local.filter(|local| local.len() < 100).unwrap_or_default();
                let local = cx.intern(local);
                cx.export(name, local, key.start_byte() as u32);
            }
        }
        "module.exports" => {
            let (name, local) =
                (cx.intern("export="), if right.kind() == "identifier" { cx.sym(right) } else { Sym::NONE });
            cx.export(name, local, start);
        }
        _ => {
            let Some(name) = cx.field(left, F::Property) else { return };
            let sym = cx.sym(name);
            let local = if right.kind() == "identifier" { cx.sym(right) } else { sym };
            cx.export(sym, local, name.start_byte() as u32);
            let named = right.kind() == "identifier";
            if !named && cx.scope_kind() == ScopeKind::File && cx.is_first(cx.scope, DefId::NONE, sym) {
                define(cx, node, name, TypeId::NONE, Some(right), false);
            }
        }
    }
}

fn this_field<'t>(cx: &mut Cx<'t>, node: Node<'t>, left: Node<'t>, right: Node<'t>) {
    let this = cx.field(left, F::Object).is_some_and(|object| object.kind() == "this");
    let class = cx.type_around();
    let Some(name) = cx.field(left, F::Property) else { return };
    let sym = cx.sym(name);
    let body = cx.facts.definition(class).map(|class| class.body).unwrap_or_default();
    let declared =
        |cx: &Cx<'_>| cx.facts.definitions.iter().any(|member| member.parent == class && member.name == sym);
    // TypeScript wants fields to be declared, so an assignment never does it.
    let declares = cx.compiled.language.name == "javascript" && !is_member(cx, sym);
    if declares && this && class.is_some() && !declared(cx) && cx.is_first(body, DefId::NONE, sym) {
        let mut new = cx.new_definition(name, Kind::Field, node);
        new.flags = Flags::EXPORTED;
        new.value = cx.expr(right);
        cx.define_in(class, new);
    } else {
        exprs::mark(cx, left, Role::Write);
    }
}

/// Whether the body of the class around has a member of that name, further down perhaps.
fn is_member(cx: &mut Cx<'_>, name: Sym) -> bool {
    let Some(body) = cx.above.iter().rfind(|node| node.kind() == "class_body").copied() else { return false };
    cx.named(body).into_iter().any(|member| {
        let named = cx.field(member, F::Name).or_else(|| cx.field(member, F::Property));
        named.is_some_and(|named| cx.sym(named) == name)
    })
}

pub(super) fn update<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(argument) = cx.field(node, F::Argument) {
        exprs::mark(cx, argument, Role::Write);
    }
    Flow::Children
}
