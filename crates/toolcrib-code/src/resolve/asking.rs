//! Questions that lead to other questions, and sometimes back to themselves.
//!
//! A question that is asked again while it is being answered has no answer there. What was worked out on the way
//! depends on that: it is kept for good only once nothing that is still being answered was missing from it. Until then
//! it is kept as long as what it depends on is still being answered, or going round in circles would take for ever.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use super::cache::{Answerable, Kept};
use super::query::{Query, Question};

/// How far a question may lead.
const MAX_DEPTH: usize = 200;
/// How many steps one question may take in all.
const MAX_STEPS: u32 = 20_000;

/// Which of the questions that are being answered were asked again: a bit for each depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Hits([u64; 4]);

impl Hits {
    fn set(&mut self, depth: usize) {
        if let Some(word) = self.0.get_mut(depth / 64) {
            *word |= 1 << (depth % 64);
        }
    }

    fn clear(&mut self, depth: usize) {
        if let Some(word) = self.0.get_mut(depth / 64) {
            *word &= !(1 << (depth % 64));
        }
    }

    fn with(mut self, other: Hits) -> Hits {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
        self
    }

    /// The innermost.
    fn last(self) -> Option<usize> {
        let (at, word) = self.0.iter().enumerate().rev().find(|(_, word)| **word != 0)?;
        Some(at * 64 + 63 - word.leading_zeros() as usize)
    }
}

/// What is being asked, and what is known of it so far.
#[derive(Default)]
pub(super) struct Asking {
    /// Questions that are being answered, with their depth.
    busy: RefCell<HashMap<Question, usize>>,
    hits: Cell<Hits>,
    /// Answers that hold as long as the questions they hit are being answered.
    for_now: RefCell<HashMap<Question, (Kept, Hits)>>,
    /// Those answers by the innermost question that they hit.
    falls_with: RefCell<Vec<Vec<Question>>>,
    depth: Cell<usize>,
    steps: Cell<u32>,
    /// Whether something was given up: then nothing more is kept.
    overrun: Cell<bool>,
}

impl Asking {
    fn is_too_far(&self) -> bool {
        self.steps.set(self.steps.get() + 1);
        let too_far = self.depth.get() >= MAX_DEPTH || self.steps.get() >= MAX_STEPS;
        if too_far {
            self.overrun.set(true);
        }
        too_far
    }

    /// An answer that holds for now.
    fn so_far<T: Answerable>(&self, question: &Question) -> Option<T> {
        let for_now = self.for_now.borrow();
        let (kept, hits) = for_now.get(question)?;
        self.hits.set(self.hits.get().with(*hits));
        T::of(kept)
    }

    /// A question is answered: what held only as long as it was not, falls.
    fn finished(&self, depth: usize) {
        let fallen = self.falls_with.borrow_mut().get_mut(depth).map(std::mem::take);
        let mut for_now = self.for_now.borrow_mut();
        for question in fallen.into_iter().flatten() {
            for_now.remove(&question);
        }
    }

    fn keep_for_now(&self, question: Question, kept: Kept, hits: Hits, last: usize) {
        let mut falls_with = self.falls_with.borrow_mut();
        while falls_with.len() <= last {
            falls_with.push(Vec::new());
        }
        if let Some(falling) = falls_with.get_mut(last) {
            falling.push(question.clone());
        }
        self.for_now.borrow_mut().insert(question, (kept, hits));
    }
}

impl Query<'_> {
    /// Answers a question, unless that was done before.
    pub(super) fn ask<T: Answerable>(&self, question: Question, answer: impl FnOnce() -> T) -> T {
        if let Some(known) = self.program.cache().get(&question) {
            return known;
        }
        let asking = &self.asking;
        if let Some(so_far) = asking.so_far(&question) {
            return so_far;
        }
        if let Some(depth) = asking.busy.borrow().get(&question) {
            let mut hits = asking.hits.get();
            hits.set(*depth);
            asking.hits.set(hits);
            return T::default();
        }
        if asking.is_too_far() {
            return T::default();
        }
        let depth = asking.busy.borrow().len();
        asking.busy.borrow_mut().insert(question.clone(), depth);
        let before = asking.hits.replace(Hits::default());
        asking.depth.set(asking.depth.get() + 1);
        let found = answer();
        asking.depth.set(asking.depth.get() - 1);
        asking.busy.borrow_mut().remove(&question);
        asking.finished(depth);
        let mut hits = asking.hits.get();
        hits.clear(depth);
        match hits.last() {
            _ if asking.overrun.get() => {}
            None => self.program.cache().keep(question, found.clone()),
            Some(last) => asking.keep_for_now(question, found.clone().keep(), hits, last),
        }
        asking.hits.set(before.with(hits));
        found
    }

    /// One step further into an expression or type; false if that is too far.
    pub(super) fn step(&self) -> bool {
        if self.asking.is_too_far() {
            return false;
        }
        self.asking.depth.set(self.asking.depth.get() + 1);
        true
    }

    /// And back.
    pub(super) fn unstep(&self) {
        self.asking.depth.set(self.asking.depth.get().saturating_sub(1));
    }
}
