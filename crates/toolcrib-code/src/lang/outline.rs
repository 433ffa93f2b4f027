//! Languages of which symbols, imports and names are known, but neither scopes of locals nor types.
//!
//! They need no code, only a table: which nodes define what, which import, which hold names.

use tree_sitter::Node;

use super::{F, Handler};
use crate::facts::{
    ARGS_UNKNOWN, Cx, Expr, ExprId, Flags, Flow, Import, ImportKind, Kind, Role, ScopeKind, Type, span,
};

/// The table of a language.
pub(crate) struct Outline {
    /// Nodes that define something; a function inside a type is a method.
    pub(super) definitions: &'static [(&'static str, Kind)],
    /// Leaves that are names.
    pub(super) names: &'static [&'static str],
    /// Nodes inside a definition that list what it stands on.
    pub(super) bases: &'static [&'static str],
    /// Statements that import.
    pub(super) imports: &'static [&'static str],
    /// Functions and commands that import what their first argument names.
    pub(super) loaders: &'static [&'static str],
    /// Nodes that say which package the file is in.
    pub(super) packages: &'static [&'static str],
    /// Calls.
    pub(super) calls: &'static [&'static str],
    /// Words before a definition that keep it to itself.
    pub(super) private: &'static [&'static str],
}

impl Outline {
    /// The handlers that the table comes down to.
    pub(super) fn handlers(&self) -> Vec<(&'static str, Handler)> {
        let mut all: Vec<(&'static str, Handler)> = Vec::new();
        all.extend(self.names.iter().map(|kind| (*kind, name as Handler)));
        all.extend(self.definitions.iter().map(|(kind, _)| (*kind, definition as Handler)));
        all.extend(self.imports.iter().map(|kind| (*kind, import as Handler)));
        all.extend(self.packages.iter().map(|kind| (*kind, package as Handler)));
        all.extend(self.calls.iter().map(|kind| (*kind, call as Handler)));
        all
    }
}

fn table(cx: &Cx<'_>) -> Option<&'static Outline> {
    cx.compiled.outline
}

fn name<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    cx.name(node, Role::Read);
    Flow::Skip
}

/// The leaf with the name, at most a few levels down.
fn leaf<'t>(cx: &Cx<'t>, node: Node<'t>, names: &[&str], depth: u32) -> Option<Node<'t>> {
    if names.contains(&node.kind()) {
        return Some(node);
    }
    if depth == 0 {
        return None;
    }
    // Of a qualified name the last part, of anything else the first.
    let parts = cx.named(node);
    let qualified =
        ["qualified", "scope", "index", "namespace", "nested"].iter().any(|word| node.kind().contains(word));
    match qualified {
        true => parts.iter().rev().find_map(|part| leaf(cx, *part, names, depth - 1)),
        false => parts.iter().find_map(|part| leaf(cx, *part, names, depth - 1)),
    }
}

fn definition<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(table) = table(cx) else { return Flow::Children };
    let Some((_, kind)) = table.definitions.iter().find(|(kind, _)| *kind == node.kind()) else {
        return Flow::Children;
    };
    let field = [F::Name, F::Pattern, F::Left].into_iter().find_map(|field| cx.field(node, field));
    let name = match field {
        Some(field) => leaf(cx, field, table.names, 3),
        None => leaf(cx, node, table.names, 2),
    };
    let Some(name) = name else { return Flow::Children };
    let local = cx.in_function();
    let value = matches!(kind, Kind::Variable | Kind::Constant | Kind::Field);
    if value && (local || !cx.is_first_name(name)) {
        return Flow::Children;
    }
    let in_type = cx.scope_kind() == ScopeKind::Type;
    let kind = match kind {
        Kind::Function if in_type => Kind::Method,
        Kind::Variable if in_type => Kind::Field,
        kind => *kind,
    };
    let mut new = cx.new_definition(name, kind, node);
    let body = cx.field(node, F::Body).or_else(|| {
        cx.named(node)
            .into_iter()
            .find(|child| child.kind().ends_with("_body") || child.kind() == "declaration_list")
    });
    new.head_end = body.map_or(new.head_end, |body| body.start_byte() as u32);
    let head = cx.slice(crate::facts::Span::new(span(node).start, span(name).start));
    let private = head.split_whitespace().any(|word| table.private.contains(&word));
    new.flags = Flags::default()
        .when(!private && !cx.text(name).starts_with('_'), Flags::EXPORTED)
        .when(head.split_whitespace().any(|word| word == "static"), Flags::STATIC);
    for child in cx.named(node) {
        if table.bases.contains(&child.kind()) {
            let leaves: Vec<Node<'t>> = match cx.named(child) {
                parts if parts.is_empty() => vec![child],
                parts => parts,
            };
            for base in leaves {
                let Some(base) = leaf(cx, base, table.names, 4) else { continue };
                let text = cx.text(base);
                new.bases.push(cx.named_type(text));
                cx.mark_use(base, Role::Inherit, 0, ExprId::NONE);
            }
        }
    }
    let id = cx.define(new);
    match kind {
        Kind::Module => cx.enter(ScopeKind::Module, node, id),
        kind if kind.is_type() => cx.enter(ScopeKind::Type, node, id),
        kind if kind.is_callable() => cx.enter(ScopeKind::Function, node, id),
        _ => cx.scope,
    };
    Flow::Children
}

fn import<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let text = cx.text(node).trim_end_matches(';');
    let words = text.split_whitespace().filter(|word| {
        !matches!(
            *word,
            "import" | "using" | "use" | "global" | "static" | "function" | "const" | "@testable"
        )
    });
    let joined = words.collect::<Vec<_>>().join(" ");
    let (source, alias) = match joined.split_once(" as ") {
        Some((source, alias)) => (source, alias),
        None => match joined.split_once(" = ") {
            Some((alias, source)) => (source, alias),
            None => (joined.as_str(), ""),
        },
    };
    add(cx, node, source, alias);
    Flow::Skip
}

fn add<'t>(cx: &mut Cx<'t>, node: Node<'t>, source: &str, alias: &str) {
    let glob = source.ends_with(".*") || source.ends_with("._") || source.ends_with("\\*");
    let kind = if glob { ImportKind::Glob } else { ImportKind::Module };
    let (source, alias, span, scope) =
        (cx.intern(source.trim()), cx.intern(alias.trim()), span(node), cx.scope);
    cx.import(Import { kind, source, alias, names: Vec::new(), span, scope });
}

fn package<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let text = cx.text(node).trim_start_matches("package").trim_start_matches("namespace");
    let name = text.split(['{', ';', '\n']).next().unwrap_or_default().trim();
    cx.facts.package = cx.intern(name);
    Flow::Children
}

fn call<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(table) = table(cx) else { return Flow::Children };
    let callee = [F::Function, F::Name, F::Method].into_iter().find_map(|field| cx.field(node, field));
    let Some(callee) = callee.or_else(|| node.named_child(0)) else { return Flow::Children };
    let text = cx.text(callee);
    if table.loaders.contains(&text) {
        let argument = cx.field(node, F::Arguments).or_else(|| cx.field(node, F::Argument));
        let argument = argument.map_or("", |argument| cx.text(argument));
        let source = argument.trim_matches(['(', ')', '"', '\'', ' ']);
        if !source.is_empty() && source.len() < 300 && !source.contains('$') {
            add(cx, node, source, "");
        }
    }
    if let Some(name) = last_leaf(cx, callee, table.names) {
        cx.mark_use(name, Role::Call, ARGS_UNKNOWN, ExprId::NONE);
    }
    Flow::Children
}

/// The last name of what is called: `c` of `a.b.c`.
fn last_leaf<'t>(cx: &Cx<'t>, node: Node<'t>, names: &[&str]) -> Option<Node<'t>> {
    let mut at = node;
    for _ in 0..6 {
        if names.contains(&at.kind()) {
            return Some(at);
        }
        at = cx.named(at).into_iter().next_back()?;
    }
    None
}

pub(super) fn no_expr<'t>(_: &mut Cx<'t>, _: Node<'t>) -> Expr {
    Expr::Unknown
}

pub(super) fn no_type<'t>(_: &mut Cx<'t>, _: Node<'t>) -> Type {
    Type::Unknown
}
