//! Answers that were worked out once and hold for the whole snapshot.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{PoisonError, RwLock};

use super::modules::{Leads, Reached};
use super::program::Def;
use super::query::{Found, Question};
use super::types::Ty;

const SHARDS: usize = 16;

/// An answer of any kind.
#[derive(Clone, Debug)]
pub(super) enum Kept {
    Found(Found),
    Type(Ty),
    Leads(Option<Leads>),
    Defs(Vec<Def>),
    Reached(Vec<Reached>),
}

/// What can be an answer.
pub(super) trait Answerable: Clone + Default {
    fn keep(self) -> Kept;
    fn of(kept: &Kept) -> Option<Self>;
}

macro_rules! answerable {
    ($($ty:ty => $variant:ident,)*) => {$(
        impl Answerable for $ty {
            fn keep(self) -> Kept {
                Kept::$variant(self)
            }

            fn of(kept: &Kept) -> Option<Self> {
                match kept {
                    Kept::$variant(value) => Some(value.clone()),
                    _ => None,
                }
            }
        }
    )*};
}

answerable! {
    Found => Found,
    Ty => Type,
    Option<Leads> => Leads,
    Vec<Def> => Defs,
    Vec<Reached> => Reached,
}

/// Answers by question, in parts that can be used at the same time.
pub(super) struct Cache([RwLock<HashMap<Question, Kept>>; SHARDS]);

impl Default for Cache {
    fn default() -> Self {
        Self(std::array::from_fn(|_| RwLock::default()))
    }
}

impl Cache {
    fn shard(&self, question: &Question) -> Option<&RwLock<HashMap<Question, Kept>>> {
        let mut hasher = DefaultHasher::new();
        question.hash(&mut hasher);
        self.0.get(hasher.finish() as usize % SHARDS)
    }

    pub(super) fn get<T: Answerable>(&self, question: &Question) -> Option<T> {
        let shard = self.shard(question)?.read().unwrap_or_else(PoisonError::into_inner);
        T::of(shard.get(question)?)
    }

    pub(super) fn keep<T: Answerable>(&self, question: Question, answer: T) {
        if let Some(shard) = self.shard(&question) {
            shard.write().unwrap_or_else(PoisonError::into_inner).insert(question, answer.keep());
        }
    }
}
