//! Python's imports.

use tree_sitter::Node;

use crate::facts::{Cx, ExprId, Flow, Import, ImportKind, ImportName, Role, Sym, span};
use crate::lang::F;

/// `import a.b as c`
pub(super) fn import<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    for item in cx.named(node) {
        let (module, alias) = split(cx, item);
        let text: String = cx.text(module).split_whitespace().collect();
        let alias = alias.map(|alias| cx.sym(alias)).unwrap_or_default();
        let (source, span, scope) = (cx.intern(&text), span(node), cx.scope);
        cx.import(Import { kind: ImportKind::Module, source, alias, names: Vec::new(), span, scope });
    }
    Flow::Skip
}

/// `from .a import b as c`
pub(super) fn from<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(module) = cx.field(node, F::ModuleName) else { return Flow::Skip };
    let text: String = cx.text(module).split_whitespace().collect();
    let source = cx.intern(&text);
    let mut names = Vec::new();
    let mut kind = ImportKind::Names;
    for item in cx.named(node).into_iter().skip(1) {
        if item.kind() == "wildcard_import" {
            kind = ImportKind::Glob;
            names.push(ImportName {
                name: cx.intern("*"),
                alias: Sym::NONE,
                start: item.start_byte() as u32,
            });
        } else if matches!(item.kind(), "dotted_name" | "aliased_import") {
            let (name, alias) = split(cx, item);
            let alias = alias.map(|alias| cx.sym(alias)).unwrap_or_default();
            let name = ImportName { name: cx.sym(name), alias, start: name.start_byte() as u32 };
            cx.reference_at(name.name, name.start, Role::Import, 0, ExprId::NONE);
            names.push(name);
        }
    }
    let (span, scope) = (span(node), cx.scope);
    cx.import(Import { kind, source, alias: Sym::NONE, names, span, scope });
    Flow::Skip
}

fn split<'t>(cx: &Cx<'t>, item: Node<'t>) -> (Node<'t>, Option<Node<'t>>) {
    match item.kind() {
        "aliased_import" => (cx.field(item, F::Name).unwrap_or(item), cx.field(item, F::Alias)),
        _ => (item, None),
    }
}
