//! Thousands of edits on real source files, damaged the way models damage them.
//!
//! A true edit is a list of steps on real lines. The file, the search text and the replacement are each derived from
//! it separately, so the right answer never depends on the code under test. Run with `--nocapture` for the table.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    missing_docs,
    unreachable_pub,
    reason = "a test fails by panicking, helpers included"
)]

mod corpus;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use corpus::{Case, Expect};
use toolcrib_workspace::edit::{Refusal, apply};

#[derive(Default)]
struct Tally {
    cases: usize,
    right: usize,
    refused: usize,
    wrong: usize,
    unnamed: usize,
    elsewhere: usize,
    kind_off: usize,
}

/// Whether a refusal says where to look: the closest region, or plainly that there is none.
fn named(refusal: &Refusal) -> bool {
    !refusal.candidates.is_empty() || refusal.message.contains("no region is similar")
}

fn judge(case: &Case, tally: &mut Tally, slowest: &mut Vec<Duration>) {
    let started = Instant::now();
    let outcome = apply(&case.file, &case.edits);
    slowest.push(started.elapsed());
    tally.cases += 1;
    match outcome {
        Ok(edited) => match &case.expect {
            Expect::Bytes(expected) | Expect::BytesOrRefusal(expected) if *expected == edited.bytes => {
                tally.right += 1
            }
            _ => {
                tally.wrong += 1;
                if std::env::var_os("CORPUS_SHOW").is_some() {
                    println!("WRONG {}\n{}", case.kind, case.describe(Some(&edited.bytes)));
                    println!("strategy {:?}", edited.edits);
                }
            }
        },
        Err(refusal) => {
            tally.refused += 1;
            tally.unnamed += usize::from(!named(&refusal));
            if let Some((first, last)) = case.lines {
                let hit = refusal.candidates.iter().any(|c| c.start_line <= last && first <= c.end_line);
                tally.elsewhere += usize::from(!hit);
            }
            if let Expect::Refusal(Some(kind), index) = &case.expect {
                tally.kind_off += usize::from(refusal.kind != *kind || refusal.edit_index != *index);
            }
            let show = matches!(case.expect, Expect::Bytes(_))
                || matches!(&case.expect, Expect::Refusal(Some(k), _) if *k != refusal.kind);
            if show && std::env::var_os("CORPUS_SHOW").is_some() {
                println!("REFUSED {}\n{}\n{refusal}", case.kind, case.describe(None));
            }
        }
    }
}

#[test]
fn damaged_edits_come_out_right_or_are_refused() {
    let seed = std::env::var("CORPUS_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0x0070_01c7);
    let cases = corpus::generate(seed);
    assert!(cases.len() >= 3_000, "only {} cases", cases.len());
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut times = Vec::new();
    for case in &cases {
        judge(case, tallies.entry(case.kind).or_default(), &mut times);
    }
    times.sort();
    let (mut one_answer, mut one_right, mut wrong, mut unnamed) = (0, 0, 0, 0);
    println!(
        "{:<28} {:>6} {:>7} {:>8} {:>6} {:>9} {:>9}",
        "kind", "cases", "right", "refused", "wrong", "elsewhere", "kind off"
    );
    for (kind, tally) in &tallies {
        let Tally { cases, right, refused, wrong: bad, elsewhere, kind_off, .. } = tally;
        println!("{kind:<28} {cases:>6} {right:>7} {refused:>8} {bad:>6} {elsewhere:>9} {kind_off:>9}");
        wrong += bad;
        unnamed += tally.unnamed;
        if corpus::has_one_answer(kind) {
            one_answer += cases;
            one_right += right;
        }
    }
    let share = 100.0 * one_right as f64 / one_answer as f64;
    println!(
        "{} cases; one right answer: {one_right} of {one_answer} ({share:.2} %); wrong: {wrong}",
        cases.len()
    );
    println!(
        "median {:?}, p99 {:?}, max {:?}",
        times[times.len() / 2],
        times[times.len() * 99 / 100],
        times[times.len() - 1]
    );
    assert!(wrong * 1000 <= cases.len(), "{wrong} wrong of {}", cases.len());
    assert!(share >= 95.0, "only {share:.2} % right");
    assert_eq!(unnamed, 0, "refusals that name no line");
    let off: usize = tallies.values().map(|tally| tally.kind_off).sum();
    assert!(off * 100 <= cases.len(), "{off} refusals of another kind than meant");
    for (kind, tally) in tallies.iter().filter(|(kind, _)| !corpus::has_one_answer(kind)) {
        assert!(
            tally.refused + tally.right + tally.wrong == tally.cases && tally.wrong * 100 <= tally.cases,
            "{kind}"
        );
    }
    assert!(
        tallies.contains_key("duplicated") && tallies["duplicated"].refused == tallies["duplicated"].cases
    );
}
