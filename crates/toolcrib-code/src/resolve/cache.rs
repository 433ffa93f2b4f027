//! Answers that were worked out once and hold for the whole snapshot.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{PoisonError, RwLock};

use super::modules::Leads;
use super::program::Def;
use super::query::{Found, Question};
use super::types::Ty;

const SHARDS: usize = 16;

struct Shards<V>([RwLock<HashMap<Question, V>>; SHARDS]);

impl<V> Default for Shards<V> {
    fn default() -> Self {
        Self(std::array::from_fn(|_| RwLock::default()))
    }
}

impl<V: Clone> Shards<V> {
    fn of(&self, question: &Question) -> Option<&RwLock<HashMap<Question, V>>> {
        let mut hasher = DefaultHasher::new();
        question.hash(&mut hasher);
        self.0.get(hasher.finish() as usize % SHARDS)
    }

    fn get(&self, question: &Question) -> Option<V> {
        let shard = self.of(question)?;
        shard.read().unwrap_or_else(PoisonError::into_inner).get(question).cloned()
    }

    fn keep(&self, question: Question, value: V) {
        if let Some(shard) = self.of(&question) {
            shard.write().unwrap_or_else(PoisonError::into_inner).insert(question, value);
        }
    }
}

#[derive(Default)]
pub(super) struct Cache {
    found: Shards<Found>,
    types: Shards<Ty>,
    leads: Shards<Leads>,
    members: Shards<Vec<Def>>,
}

impl Cache {
    pub(super) fn found(&self, question: &Question) -> Option<Found> {
        self.found.get(question)
    }

    pub(super) fn keep_found(&self, question: Question, found: &Found) {
        self.found.keep(question, found.clone());
    }

    pub(super) fn ty(&self, question: &Question) -> Option<Ty> {
        self.types.get(question)
    }

    pub(super) fn keep_ty(&self, question: Question, ty: &Ty) {
        self.types.keep(question, ty.clone());
    }

    pub(super) fn leads(&self, question: &Question) -> Option<Leads> {
        self.leads.get(question)
    }

    pub(super) fn keep_leads(&self, question: Question, leads: &Leads) {
        self.leads.keep(question, leads.clone());
    }

    pub(super) fn defs(&self, question: &Question) -> Option<Vec<Def>> {
        self.members.get(question)
    }

    pub(super) fn keep_defs(&self, question: Question, defs: &[Def]) {
        self.members.keep(question, defs.to_vec());
    }
}
