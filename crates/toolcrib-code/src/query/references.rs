//! Where a symbol is used.
//!
//! Files are found by the names a symbol goes by: its own, and every other one that an import or export gives it on the
//! way. Each use of such a name is asked for what it stands for. Uses of the symbol's own name that nothing is known of
//! are counted as `name_match`: as long as there are any, the answer is not complete.

use std::collections::BTreeSet;

use rayon::prelude::*;
use serde::Serialize;
use toolcrib_workspace::Result;

use super::symbols::Filter;
use super::target::Target;
use super::{Located, Subject, Texts, family, full_name, stop_if_cancelled};
use crate::facts::{FileFacts, ImportKind, Role, ScopeId, Sym};
use crate::index::{Content, Control};
use crate::resolve::{Def, Label, Program};

/// Names a symbol goes by at most; a code base that has more gives it another name at every turn.
const MAX_NAMES: usize = 64;
/// Files named in a note at most.
const MAX_NAMED: usize = 3;

/// What to list of the uses.
#[derive(Clone, Debug)]
pub struct ReferenceQuery {
    /// Only in files at or below this path, or matching this glob.
    pub path: Option<String>,
    /// Only these and surer ones.
    pub min_label: Label,
    /// How many to pass over.
    pub offset: usize,
    /// How many to return at most.
    pub limit: usize,
}

/// One use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReferenceHit {
    /// Its file.
    pub path: String,
    /// Its line.
    pub line: u32,
    /// Its column, in characters.
    pub column: u32,
    /// How sure it is.
    pub label: Label,
    /// What proves it.
    pub reason: &'static str,
    /// What it is used for.
    pub role: &'static str,
    /// The definition it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enclosing: Option<String>,
    /// Its line as written.
    pub text: String,
}

/// How many uses there are of each label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Proved.
    pub resolved: usize,
    /// The only candidate.
    pub likely: usize,
    /// The same name, not resolved.
    pub name_match: usize,
}

/// Why uses may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// Files that could not be read as code, and why; the first few.
    pub unread: Vec<String>,
    /// How many of those there are.
    pub unread_total: usize,
    /// Files with the name in which the grammar did not fit everywhere; the first few.
    pub broken: Vec<String>,
    /// How many of those there are.
    pub broken_total: usize,
    /// The language, if names are all that is known of it.
    pub shallow: Option<&'static str>,
}

/// The uses of a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct References {
    /// Where it is defined.
    pub definition: Option<Located>,
    /// Where else: declarations, overloads, variants.
    pub also: Vec<Located>,
    /// A page of them, by path, line and column.
    pub references: Vec<ReferenceHit>,
    /// All of them, by label.
    pub counts: Counts,
    /// Whether these are all there can be.
    pub complete: bool,
    /// How many there are of the labels that were asked for.
    pub total: usize,
    /// Where the next page begins.
    pub next_offset: Option<usize>,
    /// Why some may be missing.
    pub gaps: Gaps,
}

/// A use, before it is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub(super) file: u32,
    pub(super) start: u32,
    pub(super) scope: ScopeId,
    pub(super) role: Role,
    pub(super) label: Label,
    pub(super) reason: &'static str,
}

/// All uses, in the order of files and places.
pub(super) struct Uses {
    pub(super) all: Vec<Use>,
    pub(super) gaps: Gaps,
}

impl Uses {
    pub(super) fn counts(&self) -> Counts {
        let count = |label: Label| self.all.iter().filter(|one| one.label == label).count();
        Counts {
            resolved: count(Label::Resolved),
            likely: count(Label::Likely),
            name_match: count(Label::NameMatch),
        }
    }

    pub(super) fn are_complete(&self) -> bool {
        let gaps = &self.gaps;
        self.counts().name_match == 0
            && gaps.unread_total == 0
            && gaps.broken_total == 0
            && gaps.shallow.is_none()
    }
}

/// The uses of a symbol.
pub fn references(
    program: &Program,
    subject: Subject,
    query: &ReferenceQuery,
    control: &Control<'_>,
) -> Result<References> {
    let target = Target::of(program, subject);
    let filter = Filter::new(program, query.path.as_deref())?;
    let uses = uses(program, &target, &filter, control)?;
    let listed: Vec<&Use> = uses.all.iter().filter(|one| one.label <= query.min_label).collect();
    let total = listed.len();
    let end = query.offset.saturating_add(query.limit.max(1));
    let mut texts = Texts::new(program);
    let page = listed.into_iter().skip(query.offset).take(query.limit.max(1));
    let shown = page.filter_map(|one| shown(program, &mut texts, one)).collect();
    let (definition, also) = match subject {
        Subject::Local { file, binding } => (texts.local(file, binding), Vec::new()),
        Subject::Definition(def) => {
            let others = target.own.iter().filter(|other| **other != def);
            let others: Vec<Def> = others.copied().take(20).collect();
            let also = others.into_iter().filter_map(|other| texts.located(other)).collect();
            (texts.located(def), also)
        }
    };
    Ok(References {
        definition,
        also,
        references: shown,
        counts: uses.counts(),
        complete: uses.are_complete(),
        total,
        next_offset: (end < total).then_some(end),
        gaps: uses.gaps,
    })
}

fn shown(program: &Program, texts: &mut Texts<'_>, one: &Use) -> Option<ReferenceHit> {
    let (line, column) = texts.position(one.file, one.start);
    Some(ReferenceHit {
        path: program.file(one.file)?.path.clone(),
        line,
        column,
        label: one.label,
        reason: one.reason,
        role: one.role.as_str(),
        enclosing: enclosing(program, one).and_then(|def| full_name(program, def)),
        text: texts.line(one.file, line, column),
    })
}

/// The definition a use is in.
pub(super) fn enclosing(program: &Program, one: &Use) -> Option<Def> {
    let id = program.facts(one.file)?.enclosing(one.scope);
    id.is_some().then_some(Def { file: one.file, id })
}

/// All uses in the files that a filter keeps.
pub(super) fn uses(
    program: &Program,
    target: &Target,
    filter: &Filter,
    control: &Control<'_>,
) -> Result<Uses> {
    let Search { names, files } = Search::of(program, target, control)?;
    let files: Vec<u32> = files.into_iter().filter(|file| filter.keeps_file(program, *file)).collect();
    let all: Vec<Use> = files
        .par_iter()
        .flat_map_iter(|file| match control.is_cancelled() {
            true => Vec::new(),
            false => in_file(program, *file, &names, target),
        })
        .collect();
    stop_if_cancelled(control)?;
    let gaps = gaps(program, target, &files, filter);
    let mut uses = Uses { all, gaps };
    // What the facts do not know of can only be looked for in the text.
    if target.local.is_none() && uses.are_complete() {
        uses.all.extend(super::written::not_understood(program, target, &files, control));
        stop_if_cancelled(control)?;
    }
    uses.all.sort_by_key(|one| (one.file, one.start));
    Ok(uses)
}

/// The names a symbol goes by, and the files they are written in.
struct Search {
    names: BTreeSet<String>,
    files: BTreeSet<u32>,
}

impl Search {
    fn of(program: &Program, target: &Target, control: &Control<'_>) -> Result<Self> {
        if let Some((file, _)) = target.local {
            return Ok(Self { names: target.names.clone(), files: BTreeSet::from([file]) });
        }
        let mut names = target.search_names();
        let mut files = BTreeSet::new();
        let mut left: Vec<String> = names.iter().cloned().collect();
        while let Some(name) = left.pop() {
            stop_if_cancelled(control)?;
            let with = program.snapshot().files_with(&name);
            let with: Vec<u32> = with
                .filter(|entry| family(entry.language) == target.family)
                .filter_map(|entry| program.file_at(&entry.path))
                .collect();
            let others: BTreeSet<String> =
                with.par_iter().flat_map_iter(|file| aliases(program, *file, &name, target)).collect();
            files.extend(with);
            for other in others {
                if names.len() < MAX_NAMES && names.insert(other.clone()) {
                    left.push(other);
                }
            }
        }
        Ok(Self { names, files })
    }
}

/// Other names that a file gives to the target, which it knows by `name`.
fn aliases(program: &Program, file: u32, name: &str, target: &Target) -> Vec<String> {
    let Some(scopes) = program.scopes(file) else { return Vec::new() };
    let facts = scopes.facts();
    let Some(sym) = scopes.find(name) else { return Vec::new() };
    let mut found = Vec::new();
    for (index, import) in facts.imports.iter().enumerate() {
        for (which, one) in import.names.iter().enumerate() {
            let renamed = one.name == sym && one.alias.is_some() && one.alias != sym;
            if renamed && target.is(&program.imported(file, index, which).meaning) {
                found.push(facts.text(one.alias).to_owned());
            }
        }
    }
    for export in &facts.exports {
        if export.local == sym && export.name != sym && is_exported(program, file, facts, sym, target) {
            found.push(facts.text(export.name).to_owned());
        }
    }
    found.retain(|name| name != "_" && name != "*");
    found
}

/// Whether a name at the top of a file stands for the target.
fn is_exported(program: &Program, file: u32, facts: &FileFacts, name: Sym, target: &Target) -> bool {
    let seen = program.scopes(file).and_then(|scopes| scopes.name(name, ScopeId::new(0), u32::MAX - 1)).map(
        |seen| {
            let meant = super::spots::Meant::of_target(program, file, seen);
            target.is(&meant.answer.meaning)
        },
    );
    seen.unwrap_or_else(|| {
        let exports = facts.exports.iter().filter(|export| export.local == name);
        let outside: Vec<&str> = exports.map(|export| facts.text(export.name)).collect();
        let offered = program.exports(file);
        offered.iter().any(|offer| outside.contains(&offer.name.as_str()) && target.is(&offer.meaning))
    })
}

/// The uses in one file.
fn in_file(program: &Program, file: u32, names: &BTreeSet<String>, target: &Target) -> Vec<Use> {
    let Some(scopes) = program.scopes(file) else { return Vec::new() };
    let facts = scopes.facts();
    let syms: BTreeSet<Sym> = names.iter().filter_map(|name| scopes.find(name)).collect();
    let own_type = target.own_type.then(|| scopes.find("Self")).flatten();
    let here = target.own.iter().filter(|def| def.file == file);
    let places: Vec<u32> =
        here.filter_map(|def| facts.definition(def.id)).map(|definition| definition.name_start).collect();
    let mut found = Vec::new();
    let mut starts = BTreeSet::new();
    for (index, reference) in facts.references.iter().enumerate() {
        // `Self { … }` makes one; elsewhere `Self` is only a word for where one already is.
        let makes = matches!(reference.role, Role::Construct | Role::Call);
        let wanted = syms.contains(&reference.name) || (makes && own_type == Some(reference.name));
        if !wanted || places.contains(&reference.start) {
            continue;
        }
        starts.insert(reference.start);
        let answer = program.answer(file, index);
        if let Some((label, reason)) = target.judge(program, file, facts, reference, &answer) {
            let (start, scope, role) = (reference.start, reference.scope, reference.role);
            found.push(Use { file, start, scope, role, label, reason });
        }
    }
    for (index, import) in facts.imports.iter().enumerate() {
        for (which, one) in import.names.iter().enumerate() {
            if !(syms.contains(&one.name) || syms.contains(&one.alias)) || !starts.insert(one.start) {
                continue;
            }
            let answer = program.imported(file, index, which);
            let role = if import.kind == ImportKind::Reexport { Role::Export } else { Role::Import };
            if target.is(&answer.meaning) {
                let (start, scope) = (one.start, import.scope);
                found.push(Use { file, start, scope, role, label: answer.label, reason: answer.reason });
            }
        }
    }
    found
}

/// What may be missing.
fn gaps(program: &Program, target: &Target, searched: &[u32], filter: &Filter) -> Gaps {
    let mut gaps = Gaps { shallow: target.shallow, ..Gaps::default() };
    if target.local.is_none() {
        for (index, entry) in program.snapshot().files().iter().enumerate() {
            let why = match &entry.content {
                Content::Facts { .. } => continue,
                Content::Skipped(why) => why.as_str(),
                Content::Unreadable(why) => why.as_str(),
            };
            if family(entry.language) == target.family && filter.keeps_file(program, index as u32) {
                gaps.unread_total += 1;
                if gaps.unread.len() < MAX_NAMED {
                    gaps.unread.push(format!("{} ({why})", entry.path));
                }
            }
        }
    }
    for entry in searched.iter().filter_map(|file| program.file(*file)) {
        if matches!(&entry.content, Content::Facts { parse_errors, .. } if *parse_errors > 0) {
            gaps.broken_total += 1;
            if gaps.broken.len() < MAX_NAMED {
                gaps.broken.push(entry.path.clone());
            }
        }
    }
    gaps
}
