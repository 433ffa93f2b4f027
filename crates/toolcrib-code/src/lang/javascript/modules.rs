//! ECMAScript modules.

use tree_sitter::Node;

use crate::facts::{Cx, ExprId, Flow, Import, ImportKind, ImportName, Role, Sym, span};
use crate::lang::F;

/// A string without its quotes.
pub(super) fn unquoted<'t>(cx: &mut Cx<'t>, text: Node<'t>) -> Sym {
    let content = cx.text(text).trim_matches(['"', '\'', '`']);
    cx.intern(content)
}

fn names<'t>(cx: &mut Cx<'t>, list: Node<'t>, specifier: &str, role: Role) -> Vec<ImportName> {
    let mut found = Vec::new();
    for item in cx.named(list).into_iter().filter(|item| item.kind() == specifier) {
        let Some(name) = cx.field(item, F::Name) else { continue };
        let alias = cx.field(item, F::Alias).map(|alias| cx.sym(alias)).unwrap_or_default();
        let (sym, start) = (cx.sym(name), name.start_byte() as u32);
        cx.reference_at(sym, start, role, 0, ExprId::NONE);
        found.push(ImportName { name: sym, alias, start });
    }
    found
}

pub(super) fn import<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let clause = cx.child(node, &["import_clause", "import_require_clause"]);
    let source = cx.field(node, F::Source).or_else(|| clause.and_then(|clause| cx.field(clause, F::Source)));
    let Some(source) = source else { return Flow::Skip };
    let is_type = cx.child(node, &["type"]).is_some();
    let source = unquoted(cx, source);
    let mut import = Import {
        kind: ImportKind::SideEffect,
        source,
        alias: Sym::NONE,
        names: Vec::new(),
        span: span(node),
        scope: cx.scope,
    };
    if let Some(clause) = clause {
        import.kind = if is_type { ImportKind::Type } else { ImportKind::Names };
        for part in cx.named(clause) {
            match part.kind() {
                // `import x = require("m")` names the module, `import x from "m"` its default export.
                "identifier" if clause.kind() == "import_require_clause" => {
                    import.kind = ImportKind::Module;
                    import.alias = cx.sym(part);
                }
                "identifier" => {
                    let (name, alias) = (cx.intern("default"), cx.sym(part));
                    import.names.push(ImportName { name, alias, start: part.start_byte() as u32 });
                    cx.reference(part, Role::Import, 0, ExprId::NONE);
                }
                "namespace_import" => {
                    import.alias = part.named_child(0).map(|name| cx.sym(name)).unwrap_or_default();
                    if import.names.is_empty() && !is_type {
                        import.kind = ImportKind::Module;
                    }
                }
                "named_imports" => import.names.extend(names(cx, part, "import_specifier", Role::Import)),
                _ => {}
            }
        }
    }
    cx.import(import);
    Flow::Skip
}

pub(super) fn export<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let mut cursor = node.walk();
    let parts: Vec<Node<'t>> = node.children(&mut cursor).collect();
    let has = |kind: &str| parts.iter().any(|part| part.kind() == kind);
    if let Some(source) = cx.field(node, F::Source) {
        let source = unquoted(cx, source);
        reexport(cx, node, source, &parts);
        return Flow::Skip;
    }
    if let Some(clause) = parts.iter().find(|part| part.kind() == "export_clause") {
        for name in names(cx, *clause, "export_specifier", Role::Export) {
            let outside = if name.alias.is_some() { name.alias } else { name.name };
            cx.export(outside, name.name, name.start);
        }
        return Flow::Skip;
    }
    if has("=") {
        // `export = x`
        let value = parts.iter().find(|part| part.is_named());
        let local = value.filter(|value| value.kind() == "identifier").map(|value| cx.sym(*value));
        let outside = cx.intern("export=");
        cx.export(outside, local.unwrap_or_default(), value.unwrap_or(&node).start_byte() as u32);
        return Flow::Children;
    }
    let default = has("default");
    if let Some(declaration) = cx.field(node, F::Declaration) {
        // `const a = 1, b = 2` exports each where it is defined.
        let name = cx.field(declaration, F::Name);
        let local = name.map(|name| cx.sym(name)).unwrap_or_default();
        let start = name.unwrap_or(declaration).start_byte() as u32;
        if default {
            let outside = cx.intern("default");
            cx.export(outside, local, start);
        } else if local.is_some() {
            cx.export(local, local, start);
        }
    } else if let Some(value) = cx.field(node, F::Value) {
        let outside = cx.intern("default");
        let local = if value.kind() == "identifier" { cx.sym(value) } else { Sym::NONE };
        cx.export(outside, local, value.start_byte() as u32);
    }
    Flow::Children
}

fn reexport<'t>(cx: &mut Cx<'t>, node: Node<'t>, source: Sym, parts: &[Node<'t>]) {
    let mut import = Import {
        kind: ImportKind::Reexport,
        source,
        alias: Sym::NONE,
        names: Vec::new(),
        span: span(node),
        scope: cx.scope,
    };
    let mut star = true;
    for part in parts {
        match part.kind() {
            "export_clause" => {
                star = false;
                import.names = names(cx, *part, "export_specifier", Role::Export);
            }
            "namespace_export" => {
                star = false;
                import.alias = part.named_child(0).map(|name| cx.sym(name)).unwrap_or_default();
            }
            _ => {}
        }
    }
    if star {
        let name = cx.intern("*");
        import.names.push(ImportName { name, alias: Sym::NONE, start: span(node).start });
    }
    for name in &import.names {
        let outside = if name.alias.is_some() { name.alias } else { name.name };
        cx.export(outside, name.name, name.start);
    }
    if import.alias.is_some() {
        let (alias, start) = (import.alias, span(node).start);
        cx.export(alias, alias, start);
    }
    cx.import(import);
}
