//! Small numbers instead of references: facts must be storable and cheap to keep by the hundred thousand.

use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(u32);

        impl $name {
            /// None at all.
            pub const NONE: Self = Self(0);

            /// The id of the element at `index`.
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index + 1).unwrap_or(0))
            }

            /// The index of the element, if there is one.
            pub fn index(self) -> Option<usize> {
                self.0.checked_sub(1).map(|index| index as usize)
            }

            /// Whether there is none.
            pub fn is_none(self) -> bool {
                self.0 == 0
            }

            /// Whether there is one.
            pub fn is_some(self) -> bool {
                self.0 != 0
            }
        }
    )*};
}

ids! {
    /// A name or text in [`Strings`](super::Strings).
    Sym,
    /// A [`Scope`](super::Scope).
    ScopeId,
    /// A [`Definition`](super::Definition).
    DefId,
    /// A [`Type`](super::Type).
    TypeId,
    /// An [`Expr`](super::Expr).
    ExprId,
}

/// A range of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// From here to there.
    pub fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// Whether nothing is in it.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// Whether a byte is in it.
    pub fn contains(self, offset: u32) -> bool {
        (self.start..self.end).contains(&offset)
    }

    /// The bytes.
    pub fn of(self, source: &[u8]) -> &[u8] {
        source.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}
