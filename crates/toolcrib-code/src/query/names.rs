//! Symbols as they are written in a question: `name`, `Parent/name`, `a::b::name`, `a.b.name`.

use crate::facts::DefId;
use crate::resolve::{Def, Program};

/// A name with what it belongs to, outermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) parents: Vec<String>,
    pub(super) name: String,
}

impl Named {
    pub(super) fn of(symbol: &str) -> Self {
        let text = bare(symbol);
        let text = text.trim_end_matches("()");
        let parts = text.split(['.', '/', '#', '\\']).flat_map(|part| part.split("::"));
        let mut parts: Vec<String> =
            parts.map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let name = parts.pop().unwrap_or_else(|| text.to_owned());
        // Words that say where to begin, not what it is called.
        parts.retain(|part| !matches!(part.as_str(), "crate" | "self" | "Self" | "super" | "this"));
        Self { parents: parts, name }
    }
}

/// Without quotes and type arguments.
fn bare(symbol: &str) -> String {
    let text = symbol.trim().trim_matches('`');
    if text.contains("operator") || !text.contains('<') {
        return text.to_owned();
    }
    let mut depth = 0_usize;
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    if out.trim().is_empty() { text.to_owned() } else { out }
}

/// What a definition belongs to, outermost first: the folders and the name of its file, then the definitions around it.
pub(super) fn chain(program: &Program, def: Def) -> Vec<String> {
    let Some((file, facts)) = program.file(def.file).zip(program.facts(def.file)) else { return Vec::new() };
    let stem = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let mut parts: Vec<String> = file.path.split('/').map(stem).collect();
    if parts.last().is_some_and(|last| matches!(last.as_str(), "mod" | "lib" | "main" | "index" | "__init__"))
    {
        parts.pop();
    }
    let mut around = Vec::new();
    let mut at = facts.definition(def.id).map_or(DefId::NONE, |definition| definition.parent);
    while let Some(definition) = facts.definition(at) {
        around.push(facts.text(definition.name).to_owned());
        at = definition.parent;
    }
    around.reverse();
    if let Some(definition) = facts.definition(def.id) {
        let owner = super::owner(facts, definition).unwrap_or_default();
        around.extend(owner.split('.').filter(|part| !part.is_empty()).map(str::to_owned));
        // A file that is called like the one thing in it says nothing more.
        let outer = around.first().map_or(facts.text(definition.name), String::as_str);
        if parts.last().is_some_and(|last| last == outer) {
            parts.pop();
        }
    }
    parts.extend(around);
    parts
}

/// Whether `parents` are the last of `chain`.
pub(super) fn ends_with(chain: &[String], parents: &[String]) -> bool {
    chain.ends_with(parents)
}

/// Whether `parents` are all in `chain`, in order.
pub(super) fn runs_through(chain: &[String], parents: &[String]) -> bool {
    let mut rest = chain.iter();
    parents.iter().all(|parent| rest.any(|part| part == parent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_is_a_name_and_its_parents() {
        let parts = |text: &str| {
            let named = Named::of(text);
            (named.parents.join("|"), named.name)
        };
        let pair = |parents: &str, name: &str| (parents.to_owned(), name.to_owned());
        assert_eq!(parts("name"), pair("", "name"));
        assert_eq!(parts(" `Parent/name()` "), pair("Parent", "name"));
        assert_eq!(parts("crate::a::Type::name"), pair("a|Type", "name"));
        assert_eq!(parts("Store<K, V>::get"), pair("Store", "get"));
        assert_eq!(parts("a.b.c"), pair("a|b", "c"));
        assert_eq!(parts("/"), pair("", "/"));
    }
}
