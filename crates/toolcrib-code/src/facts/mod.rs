//! What one file says, and nothing that depends on another file.
//!
//! Facts are a pure function of the bytes and the grammar, so they are stored by content hash and shared by branches and
//! worktrees. Everything across files is worked out from them on demand: what is not stored cannot go stale. So they
//! hold all that resolution needs later: scopes, bindings with what they were made from, the receiver of every member
//! use, types as far as they are written down, imports and exports.
//!
//! They are kept small: names are numbers into one string table, positions are byte offsets, and lines are counted only
//! when an answer is made.

mod codec;
mod cx;
mod docs;
mod extract;
mod ids;
mod kinds;
mod lines;
mod render;
mod shapes;
mod strings;
mod values;

use serde::{Deserialize, Serialize};

pub(crate) use cx::{Cx, Flow, Mark, Source, span};
pub use extract::{MAX_BYTES, Skipped, extract};
pub(crate) use extract::{parse, text_of};
pub use ids::{DefId, ExprId, ScopeId, Span, Sym, TypeId};
pub use kinds::{Flags, Kind};
pub use lines::LineTable;
pub use strings::Strings;
pub(crate) use strings::hash;
pub use values::{Expr, Literal, Type};

/// Counts up whenever facts of the same bytes come out differently; a stored index of another number is built anew.
pub const ENGINE_VERSION: u32 = 7;

/// All that is known of one file by itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileFacts {
    /// Every name and text the rest refers to.
    pub strings: Strings,
    /// Where lines begin.
    pub lines: LineTable,
    /// The package or namespace the file declares itself to be in.
    pub package: Sym,
    /// Scopes; the first is the file.
    pub scopes: Vec<Scope>,
    /// Definitions in the order of the file.
    pub definitions: Vec<Definition>,
    /// Locals, parameters and everything else that has a name but no life outside its scope.
    pub bindings: Vec<Binding>,
    /// Uses of names in the order of the file.
    pub references: Vec<Reference>,
    /// Imports.
    pub imports: Vec<Import>,
    /// Exports that are written as such.
    pub exports: Vec<Export>,
    /// Types as written; [`TypeId`] points in here.
    pub types: Vec<Type>,
    /// Expressions, as far as their type may matter; [`ExprId`] points in here.
    pub exprs: Vec<Expr>,
    /// Places where the grammar did not fit.
    pub parse_errors: u32,
}

/// What kind of region a scope is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScopeKind {
    /// The whole file.
    File,
    /// A module or namespace inside a file.
    Module,
    /// A class, trait, interface, enum or impl body: members, in most languages not visible by bare name.
    Type,
    /// A function with its parameters.
    Function,
    /// A closure or lambda.
    Closure,
    /// A block.
    Block,
    /// A comprehension.
    Comprehension,
}

/// A region in which names are declared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scope {
    /// What it is.
    pub kind: ScopeKind,
    /// The scope around it.
    pub parent: ScopeId,
    /// Where it reaches.
    pub span: Span,
    /// The innermost definition it belongs to.
    pub definition: DefId,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Param {
    /// Its name; for a pattern its text.
    pub name: Sym,
    /// Its type, if written.
    pub ty: TypeId,
    /// Whether it may be left out.
    pub optional: bool,
    /// Whether it takes all further arguments.
    pub rest: bool,
}

/// Something that is defined and can be found from elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// Its name.
    pub name: Sym,
    /// What it is.
    pub kind: Kind,
    /// Where the name is written.
    pub name_start: u32,
    /// All of it, with attributes and body.
    pub span: Span,
    /// Its head in one line.
    pub signature: Sym,
    /// Its documentation.
    pub doc: Span,
    /// The scope that it is declared in.
    pub scope: ScopeId,
    /// The scope of its body.
    pub body: ScopeId,
    /// The definition around it.
    pub parent: DefId,
    /// Yes or no.
    pub flags: Flags,
    /// Declared type of a variable or field, return type of a function, target of an alias, subject of an `impl`.
    pub ty: TypeId,
    /// What it is initialised with.
    pub value: ExprId,
    /// Base classes, implemented traits and interfaces.
    pub bases: Vec<TypeId>,
    /// Parameters, without the receiver.
    pub params: Vec<Param>,
    /// The type it belongs to where that is not around it: a Go receiver, C++ `Type::name`.
    pub owner: TypeId,
    /// What is made of it by being called with it: the outermost of a function's decorators.
    pub decorator: ExprId,
}

impl Definition {
    /// Where the name is written.
    pub fn name_span(&self, facts: &FileFacts) -> Span {
        Span::new(self.name_start, self.name_start + facts.strings.get(self.name).len() as u32)
    }
}

/// How a binding comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the words say it")]
pub enum BindingKind {
    Parameter,
    Local,
    Loop,
    Pattern,
    Comprehension,
    Catch,
    TypeParameter,
    /// No name of its own: where it is visible, the name around, or the path, is known to be of this type.
    Narrowed,
}

/// One step from a value into a part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    /// All of it.
    #[default]
    Whole,
    /// One element of what is iterated over.
    Element,
    /// The element at a place of a tuple or list.
    Index(u8),
    /// A named field.
    Field(Sym),
    /// The content of a variant or tuple struct at a place, as `x` of `Some(x)`.
    Variant(Sym, u8),
    /// What a method of this name hands to the function it is given, at a place of that function's parameters.
    Given(Sym, u8),
    /// What a context manager gives.
    Entered,
    /// Something nested deeper.
    Unknown,
}

/// Which part of its value a binding takes: step by step into it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts([Part; 3]);

impl Parts {
    /// A single step.
    pub fn one(part: Part) -> Self {
        Self::default().then(part)
    }

    /// One step further; more than a few are not followed.
    #[must_use]
    pub fn then(mut self, part: Part) -> Self {
        match self.0.iter_mut().find(|step| **step == Part::Whole) {
            Some(free) => *free = part,
            None => self.0 = [Part::Unknown, Part::Whole, Part::Whole],
        }
        self
    }

    /// Whether it is all of the value.
    pub fn is_whole(self) -> bool {
        self == Self::default()
    }

    /// The steps.
    pub fn steps(self) -> impl Iterator<Item = Part> {
        self.0.into_iter().filter(|step| *step != Part::Whole)
    }
}

/// A name that lives inside a scope.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Binding {
    /// The name.
    pub name: Sym,
    /// How it comes about.
    pub kind: BindingKind,
    /// Where it is written.
    pub start: u32,
    /// The scope it lives in.
    pub scope: ScopeId,
    /// Where in the scope it can be seen.
    pub visible: Span,
    /// Its type, if written; of a type parameter its bound.
    pub ty: TypeId,
    /// What it is made from.
    pub value: ExprId,
    /// Which part of that.
    pub part: Parts,
}

/// What a name is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the words say it")]
pub enum Role {
    Call,
    Construct,
    Type,
    Inherit,
    Read,
    Write,
    Import,
    Export,
    Macro,
    Attribute,
}

impl Role {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Call => "call",
            Role::Construct => "construct",
            Role::Type => "type",
            Role::Inherit => "inherit",
            Role::Read => "read",
            Role::Write => "write",
            Role::Import => "import",
            Role::Export => "export",
            Role::Macro => "macro",
            Role::Attribute => "attribute",
        }
    }
}

/// A use of a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// The name.
    pub name: Sym,
    /// Where it is written.
    pub start: u32,
    /// The innermost scope around it.
    pub scope: ScopeId,
    /// What it is used for.
    pub role: Role,
    /// How many arguments a call has; 255 when that is not known.
    pub args: u8,
    /// What it is a member of; none for a bare name.
    pub receiver: ExprId,
}

/// How many arguments: not known, because some are spread.
pub const ARGS_UNKNOWN: u8 = u8::MAX;

impl Reference {
    /// Where it is written.
    pub fn span(&self, facts: &FileFacts) -> Span {
        Span::new(self.start, self.start + facts.strings.get(self.name).len() as u32)
    }
}

/// What kind of import it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ImportKind {
    /// A whole module under a name.
    Module,
    /// Names of a module.
    Names,
    /// Everything of a module.
    Glob,
    /// Only for what it does when loaded.
    SideEffect,
    /// Names or everything, handed on.
    Reexport,
    /// Names, for types only.
    Type,
    /// A file's text, as by `#include`.
    Include,
    /// At run time, as by `require` or `import()`.
    Dynamic,
}

impl ImportKind {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            ImportKind::Module => "module",
            ImportKind::Names => "names",
            ImportKind::Glob => "glob",
            ImportKind::SideEffect => "side-effect",
            ImportKind::Reexport => "reexport",
            ImportKind::Type => "type",
            ImportKind::Include => "include",
            ImportKind::Dynamic => "dynamic",
        }
    }
}

/// One name of an import.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportName {
    /// The name in the module; `*` for everything, `default` for a default export.
    pub name: Sym,
    /// The name here, if another.
    pub alias: Sym,
    /// Where the name is written.
    pub start: u32,
}

/// An import of one module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Import {
    /// What it is.
    pub kind: ImportKind,
    /// The module, as written (Python's leading dots, quotes left off, `<…>` kept).
    pub source: Sym,
    /// The name the module itself gets.
    pub alias: Sym,
    /// Names taken from it.
    pub names: Vec<ImportName>,
    /// All of it.
    pub span: Span,
    /// The scope it holds in.
    pub scope: ScopeId,
}

/// An export that is written as such.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Export {
    /// The name it has outside; `default` for a default export.
    pub name: Sym,
    /// The name it has here.
    pub local: Sym,
    /// Where the name is written.
    pub start: u32,
}

impl FileFacts {
    /// A definition by its id.
    pub fn definition(&self, id: DefId) -> Option<&Definition> {
        self.definitions.get(id.index()?)
    }

    /// A scope by its id.
    pub fn scope(&self, id: ScopeId) -> Option<&Scope> {
        self.scopes.get(id.index()?)
    }

    /// A type by its id.
    pub fn ty(&self, id: TypeId) -> Option<&Type> {
        self.types.get(id.index()?)
    }

    /// An expression by its id.
    pub fn expr(&self, id: ExprId) -> Option<&Expr> {
        self.exprs.get(id.index()?)
    }

    /// The text of a name.
    pub fn text(&self, name: Sym) -> &str {
        self.strings.get(name)
    }

    /// The innermost definition around a scope.
    pub fn enclosing(&self, scope: ScopeId) -> DefId {
        self.scope(scope).map_or(DefId::NONE, |scope| scope.definition)
    }

    /// The names of the definitions around one, outermost first, joined by `.`; empty at the top.
    pub fn parent_path(&self, id: DefId) -> String {
        let mut names = Vec::new();
        let mut at = self.definition(id).map_or(DefId::NONE, |definition| definition.parent);
        while let Some(definition) = self.definition(at) {
            names.push(self.text(definition.name));
            at = definition.parent;
        }
        names.reverse();
        names.join(".")
    }
}
