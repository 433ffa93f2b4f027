//! Types and expressions, as far as they are written down.

use serde::{Deserialize, Serialize};

use super::{DefId, ExprId, Sym, TypeId};

/// A type as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Type {
    /// A name with its qualifiers (`a::B`, `a.B`) and arguments.
    Named {
        /// The path, joined by `.`.
        path: Sym,
        /// Arguments.
        args: Vec<TypeId>,
    },
    /// A reference or pointer: for members the same as what it points to.
    Pointer(TypeId),
    /// An array, slice or list of one type.
    Array(TypeId),
    /// A tuple.
    Tuple(Vec<TypeId>),
    /// One of several, or all of several.
    Union(Vec<TypeId>),
    /// A function that returns this.
    Function(TypeId),
    /// A function with what it takes and what it returns.
    Callable {
        /// The types of its parameters.
        params: Vec<TypeId>,
        /// What it returns.
        returns: TypeId,
    },
    /// An object type that is written out: its members are those of this definition.
    Object(DefId),
    /// What calling a function of this type gives.
    Returned(TypeId),
    /// The type of a value, as `typeof x`.
    Of(ExprId),
    /// What indexing a type gives, as `T[K]`.
    Indexed(TypeId, Sym),
    /// `Self`.
    Own,
    /// Written, but nothing that is understood.
    Unknown,
}

/// An expression as far as its type may matter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Expr {
    /// Nothing that is understood.
    Unknown,
    /// A bare name.
    Name(Sym),
    /// `self`, `this`, `cls`.
    This,
    /// The base class's view of `self`.
    Super,
    /// `base.name` or, with `path`, `base::name`.
    Member {
        /// What it is a member of.
        base: ExprId,
        /// The member.
        name: Sym,
        /// Whether it is written as a path.
        path: bool,
    },
    /// A call.
    Call {
        /// What is called.
        callee: ExprId,
        /// How many arguments.
        args: u8,
        /// The first of them.
        first: ExprId,
    },
    /// A value of a type that is written there: `new T()`, `T { … }`, `x as T`.
    Typed(TypeId),
    /// `await x`, `x.await`.
    Await(ExprId),
    /// `x?`, `x!`.
    Try(ExprId),
    /// `x[i]`.
    Index(ExprId),
    /// A literal of a built-in type.
    Literal(Literal),
    /// One of two.
    Either(ExprId, ExprId),
    /// A list that is written out, by the first in it.
    List(ExprId),
    /// An object that is written out: its members are those of this definition.
    Object(DefId),
    /// A function that gives this when called; what it gives is read at a place.
    Lambda {
        /// What it gives.
        body: ExprId,
        /// Where that is written.
        at: u32,
    },
    /// Several, in order.
    Tuple(Vec<ExprId>),
    /// A literal with something in it: an element, or a key and a value.
    Filled(Literal, ExprId, ExprId),
    /// What a binding holds, by its index.
    Bound(u32),
    /// An expression with names of its own: the last of a block, of the arm of a `match`. Seen from this place.
    Inside(ExprId, u32),
}

/// Kinds of literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the words say it")]
pub enum Literal {
    String,
    Number,
    Boolean,
    List,
    Map,
    Function,
    Null,
}
