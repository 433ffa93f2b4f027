//! What definitions are, and what else is true of them.

use serde::{Deserialize, Serialize};

/// What a definition defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the words say it")]
pub enum Kind {
    Function,
    Method,
    Constructor,
    Class,
    Struct,
    Enum,
    Variant,
    Interface,
    Trait,
    Type,
    Constant,
    Variable,
    Field,
    Property,
    Module,
    Macro,
    /// A Rust `impl` block: a parent of methods, not itself a symbol.
    Impl,
}

impl Kind {
    /// All kinds, for checking what a caller asks for.
    pub const ALL: [Kind; 17] = [
        Kind::Function,
        Kind::Method,
        Kind::Constructor,
        Kind::Class,
        Kind::Struct,
        Kind::Enum,
        Kind::Variant,
        Kind::Interface,
        Kind::Trait,
        Kind::Type,
        Kind::Constant,
        Kind::Variable,
        Kind::Field,
        Kind::Property,
        Kind::Module,
        Kind::Macro,
        Kind::Impl,
    ];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Function => "function",
            Kind::Method => "method",
            Kind::Constructor => "constructor",
            Kind::Class => "class",
            Kind::Struct => "struct",
            Kind::Enum => "enum",
            Kind::Variant => "variant",
            Kind::Interface => "interface",
            Kind::Trait => "trait",
            Kind::Type => "type",
            Kind::Constant => "constant",
            Kind::Variable => "variable",
            Kind::Field => "field",
            Kind::Property => "property",
            Kind::Module => "module",
            Kind::Macro => "macro",
            Kind::Impl => "impl",
        }
    }

    /// Whether it has members.
    pub fn is_type(self) -> bool {
        matches!(
            self,
            Kind::Class | Kind::Struct | Kind::Enum | Kind::Interface | Kind::Trait | Kind::Type | Kind::Impl
        )
    }

    /// Whether it can be called with arguments that are counted.
    pub fn is_callable(self) -> bool {
        matches!(self, Kind::Function | Kind::Method | Kind::Constructor)
    }
}

/// Yes-or-no facts of a definition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flags(pub u16);

#[allow(missing_docs, reason = "the words say it")]
impl Flags {
    /// Visible outside the file: `pub`, `export`, a capital in Go, no underscore in Python.
    pub const EXPORTED: Flags = Flags(1);
    pub const TEST: Flags = Flags(2);
    pub const STATIC: Flags = Flags(4);
    pub const ASYNC: Flags = Flags(8);
    pub const ABSTRACT: Flags = Flags(16);
    /// Declared here, defined elsewhere: `mod x;`, a prototype, `extern`.
    pub const DECLARATION: Flags = Flags(32);
    pub const DEFAULT_EXPORT: Flags = Flags(64);
    /// A property read like a field and defined like a method.
    pub const ACCESSOR: Flags = Flags(128);
    pub const VARIADIC: Flags = Flags(256);
    /// The definition takes a receiver as its first parameter.
    pub const RECEIVER: Flags = Flags(512);
    /// A type of its own that is made of another: Go's `type Celsius float64`.
    pub const DISTINCT: Flags = Flags(1024);

    /// Whether all of `other` are set.
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// With `other` as well.
    #[must_use]
    pub fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// With `other` as well, if so.
    #[must_use]
    pub fn when(self, condition: bool, other: Flags) -> Flags {
        if condition { self.with(other) } else { self }
    }
}
