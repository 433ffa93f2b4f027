//! Rust's `use`: flattened, so that every leaf is a module and a name in it.

use tree_sitter::Node;

use crate::facts::{Cx, ExprId, Flow, Import, ImportKind, ImportName, Role, Sym, span};
use crate::lang::F;

pub(super) fn use_<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(argument) = cx.field(node, F::Argument) else { return Flow::Skip };
    let reexport = cx.child(node, &["visibility_modifier"]).is_some();
    // Not by recursion: lists nest as deep as they like.
    let mut left = vec![(argument, String::new())];
    let mut imports: Vec<Import> = Vec::new();
    while let Some((at, prefix)) = left.pop() {
        match at.kind() {
            "scoped_use_list" => {
                let path = cx.field(at, F::Path).map_or(String::new(), |path| path_text(cx, path, &prefix));
                if let Some(list) = cx.field(at, F::List) {
                    left.extend(cx.named(list).into_iter().rev().map(|item| (item, path.clone())));
                }
            }
            "use_list" => left.extend(cx.named(at).into_iter().rev().map(|item| (item, prefix.clone()))),
            "use_as_clause" => {
                let alias = cx.field(at, F::Alias).map(|alias| cx.sym(alias)).unwrap_or_default();
                if let Some(path) = cx.field(at, F::Path) {
                    leaf(cx, &mut imports, path, &prefix, alias, node, reexport);
                }
            }
            "use_wildcard" => {
                let source = at.named_child(0).map_or(prefix.clone(), |path| path_text(cx, path, &prefix));
                let name = ImportName { name: cx.intern("*"), alias: Sym::NONE, start: span(at).end - 1 };
                let kind = if reexport { ImportKind::Reexport } else { ImportKind::Glob };
                add(cx, &mut imports, kind, &source, name, node);
            }
            "line_comment" | "block_comment" => {}
            _ => leaf(cx, &mut imports, at, &prefix, Sym::NONE, node, reexport),
        }
    }
    for import in imports {
        for name in &import.names {
            if cx.names.get(name.name) != "*" {
                cx.reference_at(name.name, name.start, Role::Import, 0, ExprId::NONE);
            }
        }
        cx.import(import);
    }
    Flow::Skip
}

fn leaf<'t>(
    cx: &mut Cx<'t>,
    imports: &mut Vec<Import>,
    path: Node<'t>,
    prefix: &str,
    alias: Sym,
    node: Node<'t>,
    reexport: bool,
) {
    let full = path_text(cx, path, prefix);
    // `a::{self}` is `a` itself.
    let full = if prefix.is_empty() { full.as_str() } else { full.strip_suffix("::self").unwrap_or(&full) };
    let (source, name) = full.rsplit_once("::").unwrap_or(("", full));
    let start = cx.field(path, F::Name).unwrap_or(path).start_byte() as u32;
    let name = cx.intern(name);
    let kind = if reexport { ImportKind::Reexport } else { ImportKind::Names };
    add(cx, imports, kind, source, ImportName { name, alias, start }, node);
}

/// Names of the same module in one declaration are one import.
fn add<'t>(
    cx: &mut Cx<'t>,
    imports: &mut Vec<Import>,
    kind: ImportKind,
    source: &str,
    name: ImportName,
    node: Node<'t>,
) {
    let source = cx.intern(source);
    match imports.last_mut().filter(|last| last.source == source && last.kind == kind) {
        Some(last) => last.names.push(name),
        None => {
            let (span, scope) = (span(node), cx.scope);
            imports.push(Import { kind, source, alias: Sym::NONE, names: vec![name], span, scope });
        }
    }
}

fn path_text<'t>(cx: &Cx<'t>, path: Node<'t>, prefix: &str) -> String {
    let own: String = cx.text(path).chars().filter(|c| !c.is_whitespace()).collect();
    if prefix.is_empty() { own } else { format!("{prefix}::{own}") }
}

pub(super) fn extern_crate<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(name) = cx.field(node, F::Name) {
        let alias = cx.field(node, F::Alias).map(|alias| cx.sym(alias)).unwrap_or_default();
        let (source, span, scope) = (cx.sym(name), span(node), cx.scope);
        cx.import(Import { kind: ImportKind::Module, source, alias, names: Vec::new(), span, scope });
    }
    Flow::Skip
}
