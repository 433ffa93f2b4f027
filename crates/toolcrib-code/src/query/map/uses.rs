//! Which definitions each file uses, and how often.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;
use toolcrib_workspace::{Error, ErrorKind, Result};

use crate::facts::{ExprId, Role, ScopeId, Sym};
use crate::index::Control;
use crate::resolve::{Def, Label, Meaning, Program};

/// Uses that are resolved at most, over all files. In a larger tree every file is asked about a sample.
const MAX_ASKED: usize = 400_000;
/// Of one file at most, and at least.
const MOST: usize = 4_000;
const LEAST: usize = 12;

/// What one file uses, with weights.
type Used = Box<[(Def, f32)]>;

/// For every file what it uses. The same for a program every time, so it is worth keeping.
pub struct Uses {
    files: Vec<Used>,
    /// Whether only a sample of the uses was looked at.
    pub sampled: bool,
}

impl Uses {
    /// Looks at all files.
    pub fn of(program: &Program, control: &Control<'_>) -> Result<Self> {
        let count = program.snapshot().files().len();
        let most = (MAX_ASKED / count.max(1)).clamp(LEAST, MOST);
        let numbers: Vec<u32> = (0..u32::try_from(count).unwrap_or(u32::MAX)).collect();
        let looked: Vec<(Used, bool)> =
            numbers.par_iter().map(|file| used_by(program, *file, most, control)).collect();
        if control.is_cancelled() {
            return Err(Error::new(ErrorKind::Cancelled, "cancelled"));
        }
        let sampled = looked.iter().any(|(_, sampled)| *sampled);
        Ok(Self { files: looked.into_iter().map(|(used, _)| used).collect(), sampled })
    }

    /// What a file uses, with weights.
    pub fn targets(&self, file: u32) -> impl Iterator<Item = (Def, f32)> + '_ {
        self.files.get(file as usize).into_iter().flat_map(|used| used.iter().copied())
    }
}

fn used_by(program: &Program, file: u32, most: usize, control: &Control<'_>) -> (Used, bool) {
    let nothing = (Vec::new().into_boxed_slice(), false);
    if control.is_cancelled() {
        return nothing;
    }
    let Some(facts) = program.facts(file) else { return nothing };
    // The same name in the same scope means the same: asked once, counted as often as it is there.
    let mut seen: HashMap<(Sym, ScopeId, ExprId), usize> = HashMap::new();
    let mut asked: Vec<(usize, u32)> = Vec::new();
    for (index, reference) in facts.references.iter().enumerate() {
        let key = (reference.name, reference.scope, reference.receiver);
        if reference.role == Role::Import {
            asked.push((index, 1));
        } else if let Some(known) = seen.get(&key).and_then(|at| asked.get_mut(*at)) {
            known.1 += 1;
        } else {
            seen.insert(key, asked.len());
            asked.push((index, 1));
        }
    }
    let step = asked.len().div_ceil(most).max(1);
    let mut found: BTreeMap<Def, u32> = BTreeMap::new();
    for (index, times) in asked.iter().step_by(step) {
        if control.is_cancelled() {
            return nothing;
        }
        let answer = program.answer(file, *index);
        if answer.label == Label::NameMatch {
            continue;
        }
        if let Meaning::Definitions(defs) = answer.meaning {
            // Overloads and declarations are one thing: the first stands for it.
            if let Some(def) = defs.first() {
                *found.entry(*def).or_default() += times;
            }
        }
    }
    // A hundred uses do not make it a hundred times as important.
    let used = found.into_iter().map(|(def, times)| (def, (times as f32).sqrt())).collect();
    (used, step > 1)
}
