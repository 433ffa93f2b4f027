//! PageRank with a chosen start, over files; then every file's rank goes to the definitions it uses.

use std::collections::HashMap;

use toolcrib_workspace::{Error, ErrorKind, Result};

use super::Uses;
use crate::index::Control;
use crate::resolve::{Def, Program};

const DAMPING: f64 = 0.85;
const ROUNDS: usize = 50;
/// Rounds end when the ranks together move less than this.
const STILL: f64 = 1e-7;
/// What a use in the same file is worth.
const OWN: f64 = 0.2;
/// What a definition has without being used, as a part of its file's rank.
const UNUSED: f64 = 0.05;

/// The ranks of all definitions that are used or stand in a file of some rank.
pub(super) fn symbols(
    program: &Program,
    uses: &Uses,
    start: &dyn Fn(u32) -> f64,
    control: &Control<'_>,
) -> Result<HashMap<Def, f64>> {
    let count = u32::try_from(program.snapshot().files().len()).unwrap_or(u32::MAX);
    let graph = Graph::of(uses, count);
    let starts: Vec<f64> = (0..count).map(start).collect();
    let files = graph.ranks(&starts, control)?;
    let mut ranks: HashMap<Def, f64> = HashMap::new();
    for (file, rank) in (0_u32..).zip(&files) {
        let worth = |def: &Def, weight: f32| f64::from(weight) * if def.file == file { OWN } else { 1.0 };
        let total: f64 = uses.targets(file).map(|(def, weight)| worth(&def, weight)).sum();
        for (def, weight) in uses.targets(file) {
            *ranks.entry(def).or_default() += rank * worth(&def, weight) / total.max(f64::MIN_POSITIVE);
        }
        let Some(facts) = program.facts(file) else { continue };
        let share = rank * UNUSED / (facts.definitions.len().max(1) as f64);
        for index in 0..facts.definitions.len() {
            *ranks.entry(Def { file, id: crate::facts::DefId::new(index) }).or_default() += share;
        }
    }
    Ok(ranks)
}

/// Edges between files, in rows: the targets of file `f` are those from `rows[f]` to `rows[f + 1]`.
struct Graph {
    rows: Vec<usize>,
    targets: Vec<(u32, f64)>,
}

impl Graph {
    fn of(uses: &Uses, count: u32) -> Self {
        let (mut rows, mut targets) = (vec![0], Vec::new());
        for file in 0..count {
            let first = targets.len();
            let mut total = 0.0;
            // Definitions come sorted, so those of one file come together.
            for (def, weight) in uses.targets(file).filter(|(def, _)| def.file != file) {
                total += f64::from(weight);
                let known = targets.len() > first;
                match targets.last_mut().filter(|(last, _)| known && *last == def.file) {
                    Some((_, sum)) => *sum += f64::from(weight),
                    None => targets.push((def.file, f64::from(weight))),
                }
            }
            targets.iter_mut().skip(first).for_each(|(_, weight)| *weight /= total);
            rows.push(targets.len());
        }
        Self { rows, targets }
    }

    fn ranks(&self, starts: &[f64], control: &Control<'_>) -> Result<Vec<f64>> {
        let sum: f64 = starts.iter().sum();
        let even = 1.0 / (starts.len().max(1) as f64);
        let starts: Vec<f64> = starts.iter().map(|one| if sum > 0.0 { one / sum } else { even }).collect();
        let mut ranks = starts.clone();
        for _ in 0..ROUNDS {
            if control.is_cancelled() {
                return Err(Error::new(ErrorKind::Cancelled, "cancelled"));
            }
            let mut next = vec![0.0; ranks.len()];
            // What ends in a file that uses nothing begins anew.
            let mut lost = 0.0;
            for (row, rank) in self.rows.windows(2).zip(&ranks) {
                let (Some(from), Some(to)) = (row.first(), row.last()) else { continue };
                let targets = self.targets.get(*from..*to).unwrap_or_default();
                if targets.is_empty() {
                    lost += rank;
                }
                for (to, weight) in targets {
                    if let Some(place) = next.get_mut(*to as usize) {
                        *place += rank * weight;
                    }
                }
            }
            let mut moved = 0.0;
            for ((place, start), before) in next.iter_mut().zip(&starts).zip(&ranks) {
                *place = (1.0 - DAMPING) * start + DAMPING * (*place + lost * start);
                moved += (*place - before).abs();
            }
            ranks = next;
            if moved < STILL {
                break;
            }
        }
        Ok(ranks)
    }
}
