//! Places where a name is written in code that the facts say nothing of: in macros, in patterns that take objects apart,
//! as keys, in the bodies of `#define`.
//!
//! They are looked for only where an answer would be complete without them: one such place, and it is not.

use std::collections::{BTreeSet, HashSet};

use rayon::prelude::*;

use super::references::Use;
use super::target::Target;
use crate::facts::{FileFacts, Role, ScopeId};
use crate::index::Control;
use crate::resolve::{Label, Program};

/// The places in these files at which one of the target's own names is written and nothing is known.
pub(super) fn not_understood(
    program: &Program,
    target: &Target,
    files: &[u32],
    control: &Control<'_>,
) -> Vec<Use> {
    let look = |file: &u32| match control.is_cancelled() {
        true => Vec::new(),
        false => in_file(program, *file, &target.names),
    };
    files.par_iter().flat_map_iter(look).collect()
}

fn in_file(program: &Program, file: u32, names: &BTreeSet<String>) -> Vec<Use> {
    let (Some(entry), Some(facts)) = (program.file(file), program.facts(file)) else { return Vec::new() };
    let Some(source) = program.snapshot().source(entry) else { return Vec::new() };
    let known = known(facts);
    let places: Vec<usize> = names
        .iter()
        .flat_map(|name| words(&source, name.as_bytes()))
        .filter(|at| !known.contains(&(*at as u32)))
        .collect();
    if places.is_empty() {
        return Vec::new();
    }
    let text = crate::facts::text_of(&source);
    let Ok(tree) = crate::facts::parse(&text, entry.language) else { return Vec::new() };
    let is_code = |at: &usize| {
        let mut node = tree.root_node().descendant_for_byte_range(*at, *at + 1);
        while let Some(here) = node {
            let kind = here.kind();
            if kind.contains("comment") || kind.contains("string") || kind == "text" || kind == "jsx_text" {
                return false;
            }
            // What stands in a template or an f-string between its brackets is code again.
            if kind.contains("interpolation") || kind.contains("substitution") {
                return true;
            }
            node = here.parent();
        }
        true
    };
    let found = places.into_iter().filter(is_code);
    found
        .map(|at| Use {
            file,
            start: at as u32,
            scope: ScopeId::new(0),
            role: Role::Read,
            label: Label::NameMatch,
            reason: "written in code that is not understood",
        })
        .collect()
}

/// Every place that the facts say something of.
fn known(facts: &FileFacts) -> HashSet<u32> {
    let mut known: HashSet<u32> = facts.references.iter().map(|one| one.start).collect();
    known.extend(facts.definitions.iter().map(|one| one.name_start));
    known.extend(facts.exports.iter().map(|one| one.start));
    for import in &facts.imports {
        known.extend(import.names.iter().map(|one| one.start));
        // The new name in `old as new` is neither: all in an import is taken for known but paths, which name modules.
        if import.names.iter().any(|one| one.alias.is_some()) || import.alias.is_some() {
            known.extend(import.span.start..import.span.end);
        }
    }
    // A name that takes an object apart is a field's as well as a local's.
    known.extend(facts.bindings.iter().filter(|one| one.part.is_whole()).map(|one| one.start));
    known
}

/// Where a word stands by itself.
fn words<'s>(source: &'s [u8], word: &'s [u8]) -> impl Iterator<Item = usize> + 's {
    let is_part = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..))
    };
    let found = memchr::memmem::find_iter(source, word);
    found.filter(move |at| {
        let before = at.checked_sub(1).and_then(|before| source.get(before));
        !is_part(before) && !is_part(source.get(at + word.len())) && !word.is_empty()
    })
}
