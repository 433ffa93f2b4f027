//! Names within one file: locals with shadowing, definitions around, imports, members of `self`.

use std::collections::HashMap;
use std::sync::Arc;

use crate::facts::{
    BindingKind, DefId, Expr, ExprId, FileFacts, ImportKind, Kind, Reference, Role, ScopeId, ScopeKind, Sym,
    Type, TypeId,
};
use crate::lang::Language;

/// What a name in a file stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Something defined in the file.
    Definition(DefId),
    /// A local, parameter or type parameter: the index of the binding.
    Binding(usize),
    /// Something that an import brings in: the index of the import, and of the name in it; none for the module itself.
    Import(usize, Option<usize>),
}

/// How names are seen in a language.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Members of the type around are seen by their bare name, in methods too.
    pub(super) bare_members: bool,
    /// Members are seen by their bare name in the body of the type itself, not in its methods.
    pub(super) class_body: bool,
    /// A module inside a file begins with nothing.
    pub(super) closed_modules: bool,
    /// A function inside a function does not see the outer one's locals.
    pub(super) closed_functions: bool,
    /// Names of types and of values do not hide each other.
    pub(super) two_spaces: bool,
    /// Objects have members of their own, and several declarations of a name are one.
    pub(super) objects: bool,
}

impl Rules {
    fn of(language: &Language) -> Self {
        let rust = language.name == "rust";
        Self {
            bare_members: matches!(language.name, "java" | "cpp" | "csharp" | "kotlin" | "swift" | "scala"),
            class_body: language.name == "python",
            closed_modules: rust,
            closed_functions: rust,
            two_spaces: rust,
            objects: matches!(language.name, "typescript" | "tsx" | "javascript"),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    target: Target,
    /// Where in the scope it is seen.
    from: u32,
    to: u32,
    /// Where it is written: of two that are seen, the later hides the earlier.
    start: u32,
}

/// The scopes of one file, ready to be asked.
pub struct FileScopes {
    facts: Arc<FileFacts>,
    rules: Rules,
    names: HashMap<(ScopeId, Sym), Vec<Entry>>,
    members: HashMap<(DefId, Sym), Vec<DefId>>,
    /// Imports of everything, by the scope that they hold in.
    globs: Vec<(ScopeId, usize)>,
    /// Texts by their hash, sorted: names come from other files as text.
    texts: Vec<(u64, Sym)>,
    /// Type parameters by the scope that they are declared in: indices of bindings.
    parameters: HashMap<ScopeId, Vec<usize>>,
    /// Names and paths that are known to be of a type in a part of the file.
    narrowed: HashMap<Sym, Vec<usize>>,
}

impl FileScopes {
    /// From the facts of a file.
    pub fn new(facts: Arc<FileFacts>, language: &Language) -> Self {
        let rules = Rules::of(language);
        let mut texts: Vec<(u64, Sym)> = facts
            .strings
            .iter()
            .enumerate()
            .map(|(index, text)| (crate::facts::hash(text.as_bytes()), Sym::new(index)))
            .collect();
        texts.sort_unstable();
        let mut scopes = Self {
            facts: Arc::clone(&facts),
            rules,
            names: HashMap::new(),
            members: HashMap::new(),
            globs: Vec::new(),
            texts,
            parameters: HashMap::new(),
            narrowed: HashMap::new(),
        };
        scopes.add_definitions();
        for (index, binding) in facts.bindings.iter().enumerate() {
            if binding.kind == BindingKind::Narrowed {
                scopes.narrowed.entry(binding.name).or_default().push(index);
                continue;
            }
            let visible = binding.visible;
            // In Python a name is one of the whole function; where its value ends only says which one hides which.
            let entry = match rules.class_body {
                true => Entry {
                    target: Target::Binding(index),
                    from: 0,
                    to: u32::MAX,
                    start: binding.start.max(visible.start),
                },
                false => Entry {
                    target: Target::Binding(index),
                    from: visible.start,
                    to: visible.end,
                    start: binding.start,
                },
            };
            scopes.names.entry((binding.scope, binding.name)).or_default().push(entry);
            if binding.kind == BindingKind::TypeParameter {
                scopes.parameters.entry(binding.scope).or_default().push(index);
            }
        }
        scopes.add_imports();
        scopes
    }

    fn add_definitions(&mut self) {
        let facts = Arc::clone(&self.facts);
        for (index, definition) in facts.definitions.iter().enumerate() {
            let id = DefId::new(index);
            if let Some(around) = self.facts.definition(definition.parent)
                && (around.kind.is_type() || around.kind == Kind::Variant || self.is_of_object(definition))
                && definition.kind != Kind::Impl
            {
                self.members.entry((definition.parent, definition.name)).or_default().push(id);
            }
            // A member that is written apart from its type is not seen by its bare name there.
            if definition.kind != Kind::Impl && definition.owner.is_none() {
                let entry = Entry {
                    target: Target::Definition(id),
                    from: 0,
                    to: u32::MAX,
                    start: definition.name_start,
                };
                self.names.entry((definition.scope, definition.name)).or_default().push(entry);
            }
        }
    }

    /// Whether a definition is a member of an object that is written out as the value of the one around it.
    pub(super) fn is_of_object(&self, definition: &crate::facts::Definition) -> bool {
        self.rules.objects
            && self
                .facts
                .scope(definition.scope)
                .is_some_and(|scope| scope.kind == ScopeKind::Type && scope.definition == definition.parent)
    }

    fn add_imports(&mut self) {
        let facts = Arc::clone(&self.facts);
        for (index, import) in facts.imports.iter().enumerate() {
            // What is handed on in JavaScript is not seen in the file itself; in Rust it is.
            if import.kind == ImportKind::Reexport && !self.rules.two_spaces {
                continue;
            }
            let start = import.span.start;
            let names = &mut self.names;
            let mut add = |name: Sym, which: Option<usize>| {
                let entry = Entry { target: Target::Import(index, which), from: 0, to: u32::MAX, start };
                names.entry((import.scope, name)).or_default().push(entry);
            };
            for (which, name) in import.names.iter().enumerate() {
                if facts.text(name.name) == "*" {
                    self.globs.push((import.scope, index));
                    continue;
                }
                add(if name.alias.is_some() { name.alias } else { name.name }, Some(which));
            }
            if import.alias.is_some() {
                add(import.alias, None);
            } else if import.kind == ImportKind::Module {
                // `import a.b` in Python gives `a`, `import "x/y"` in Go gives `y`.
                let source = facts.text(import.source);
                let short =
                    if source.contains('/') { source.rsplit('/').next() } else { source.split('.').next() };
                if let Some(name) = short.and_then(|short| facts.strings.find(short)) {
                    add(name, None);
                }
            }
        }
    }

    /// The facts it was made from.
    pub fn facts(&self) -> &Arc<FileFacts> {
        &self.facts
    }

    /// What a use of a name stands for, as far as this file alone can prove.
    pub fn resolve(&self, reference: &Reference) -> Option<Target> {
        match self.facts.expr(reference.receiver) {
            None if reference.role == Role::Import => self.imported_at(reference.start),
            None => self.name(reference.name, reference.scope, reference.start),
            Some(Expr::This) => self.own_member(reference.name, reference.scope).map(Target::Definition),
            Some(Expr::Name(_) | Expr::Typed(_)) => self.member_of_type(reference).map(Target::Definition),
            Some(_) => None,
        }
    }

    /// The name of an import that is written at a place.
    pub(super) fn imported_at(&self, start: u32) -> Option<Target> {
        let imports = self.facts.imports.iter().enumerate();
        let mut around = imports.filter(|(_, import)| import.span.contains(start));
        around.find_map(|(index, import)| {
            let which = import.names.iter().position(|name| name.start == start)?;
            Some(Target::Import(index, Some(which)))
        })
    }

    /// What a bare name stands for at a place.
    pub fn name(&self, name: Sym, scope: ScopeId, at: u32) -> Option<Target> {
        if self.rules.two_spaces && self.facts.text(name) == "Self" {
            return self.own_type(scope).map(Target::Definition);
        }
        let scope = self.seen_from(scope, at);
        let mut here = scope;
        // Left a function: its locals are out of sight for what is nested in it.
        let mut left_function = false;
        while let Some(region) = self.facts.scope(here) {
            // In Python the body of a class is in sight only from itself.
            let own_body = here == scope || !self.rules.class_body || region.kind != ScopeKind::Type;
            if own_body && let Some(found) = self.in_scope(name, here, at, left_function) {
                return Some(found);
            }
            if self.rules.closed_functions && region.kind == ScopeKind::Function {
                left_function = true;
            }
            if self.rules.closed_modules && region.kind == ScopeKind::Module {
                return None;
            }
            here = region.parent;
        }
        None
    }

    /// The scope that a place is seen from: the head of a Python function lies outside of it.
    pub(super) fn seen_from(&self, scope: ScopeId, at: u32) -> ScopeId {
        match self.facts.scope(scope) {
            Some(region)
                if self.rules.class_body
                    && region.kind == ScopeKind::Function
                    && at < region.span.start
                    && self.facts.definition(region.definition).is_some_and(|own| own.span.start <= at) =>
            {
                region.parent
            }
            _ => scope,
        }
    }

    fn in_scope(&self, name: Sym, scope: ScopeId, at: u32, left_function: bool) -> Option<Target> {
        self.all_in_scope(name, scope, at, left_function).first().copied()
    }

    /// Everything a name stands for in a scope, seen from a place in it: what hides the rest first. In a language in
    /// which types and values do not hide each other the next may be the one that is meant.
    pub(super) fn all_in_scope(
        &self,
        name: Sym,
        scope: ScopeId,
        at: u32,
        left_function: bool,
    ) -> Vec<Target> {
        let Some(entries) = self.names.get(&(scope, name)) else { return Vec::new() };
        let is_type = self.facts.scope(scope).is_some_and(|scope| scope.kind == ScopeKind::Type);
        let shown = |entry: &&Entry| {
            let shown = (entry.from..entry.to).contains(&at) || entry.start == at;
            shown && self.is_in_sight(entry.target, is_type, left_function)
        };
        let mut seen: Vec<&Entry> = entries.iter().filter(shown).collect();
        // The last that is written before the place hides the others; without one, the first: it is hoisted.
        seen.sort_by_key(|entry| match entry.start <= at {
            true => (0, u32::MAX - entry.start),
            false => (1, entry.start),
        });
        seen.into_iter().map(|entry| entry.target).collect()
    }

    /// What a name stands for at the level of a module, seen from outside: the last that is written first.
    pub(super) fn offered(&self, name: Sym, scope: ScopeId) -> impl Iterator<Item = Target> + '_ {
        let entries = self.names.get(&(scope, name)).map(Vec::as_slice).unwrap_or_default();
        let mut targets: Vec<(u32, Target)> =
            entries.iter().map(|entry| (entry.start, entry.target)).collect();
        targets.sort_by_key(|(start, _)| std::cmp::Reverse(*start));
        targets.into_iter().map(|(_, target)| target)
    }

    /// The imports of everything that hold in a scope.
    pub(super) fn globs(&self, scope: ScopeId) -> impl Iterator<Item = usize> + '_ {
        self.globs.iter().filter(move |(at, _)| *at == scope).map(|(_, import)| *import)
    }

    /// The number of a text, if the file has it.
    pub(crate) fn find(&self, text: &str) -> Option<Sym> {
        let hash = crate::facts::hash(text.as_bytes());
        let from = self.texts.partition_point(|(other, _)| *other < hash);
        let same = self.texts.get(from..)?.iter().take_while(|(other, _)| *other == hash);
        same.map(|(_, sym)| *sym).find(|sym| self.facts.text(*sym) == text)
    }

    /// The innermost part of the file around a place in which a name or path is known to be of a type.
    pub(super) fn narrowed(&self, name: Sym, at: u32) -> Option<usize> {
        let known = self.narrowed.get(&name)?.iter().copied();
        let around = known.filter(|index| {
            self.facts.bindings.get(*index).is_some_and(|binding| binding.visible.contains(at))
        });
        around.max_by_key(|index| self.facts.bindings.get(*index).map(|binding| binding.start))
    }

    pub(super) fn narrows(&self) -> bool {
        !self.narrowed.is_empty()
    }

    /// The type parameters that are declared in a scope: indices of bindings.
    pub(super) fn type_parameters(&self, scope: ScopeId) -> &[usize] {
        self.parameters.get(&scope).map(Vec::as_slice).unwrap_or_default()
    }

    /// The members of a definition that have this name.
    pub(super) fn members_named(&self, of: DefId, name: Sym) -> &[DefId] {
        self.members.get(&(of, name)).map(Vec::as_slice).unwrap_or_default()
    }

    /// The innermost scope around a place.
    pub(super) fn scope_at(&self, at: u32) -> ScopeId {
        let around = self.facts.scopes.iter().enumerate().filter(|(_, scope)| scope.span.contains(at));
        let inner = around.min_by_key(|(_, scope)| scope.span.end - scope.span.start);
        ScopeId::new(inner.map_or(0, |(index, _)| index))
    }

    pub(super) fn rules(&self) -> Rules {
        self.rules
    }

    fn is_in_sight(&self, target: Target, in_type: bool, left_function: bool) -> bool {
        match target {
            // A type's own parameters are seen in its methods.
            Target::Binding(_) => !left_function || in_type,
            Target::Definition(_) if in_type => self.rules.bare_members || self.rules.class_body,
            Target::Definition(_) | Target::Import(..) => true,
        }
    }

    /// The parameter `this` of a function around a place.
    pub(super) fn name_of_this(&self, scope: ScopeId, at: u32) -> Option<usize> {
        let this = self.find("this").filter(|_| self.rules.objects)?;
        match self.name(this, scope, at)? {
            Target::Binding(index) => Some(index),
            Target::Definition(_) | Target::Import(..) => None,
        }
    }

    /// A member of the type around a place, looked up on `self`.
    pub fn own_member(&self, name: Sym, scope: ScopeId) -> Option<DefId> {
        let own = self.type_around(scope)?;
        self.member(own, name)
    }

    /// A member of a type of this file, or of a base that is in this file too.
    pub fn member(&self, of: DefId, name: Sym) -> Option<DefId> {
        let mut left = vec![of];
        let mut seen = Vec::new();
        while let Some(at) = left.pop() {
            if seen.contains(&at) || seen.len() > 64 {
                continue;
            }
            seen.push(at);
            for part in self.parts(at) {
                if let Some(found) = self.members.get(&(part, name)).and_then(|found| found.first()) {
                    return Some(*found);
                }
            }
            let definition = self.facts.definition(at)?;
            let bases = definition.bases.iter().filter_map(|base| self.type_named(*base, definition.scope));
            left.extend(bases);
        }
        None
    }

    /// A type and the `impl` blocks for it.
    fn parts(&self, of: DefId) -> Vec<DefId> {
        let Some(own) = self.facts.definition(of) else { return Vec::new() };
        let mut parts = vec![of];
        if self.rules.two_spaces {
            let others = self.facts.definitions.iter().enumerate();
            let same = others.filter(|(_, other)| other.kind == Kind::Impl && other.name == own.name);
            parts.extend(same.map(|(index, _)| DefId::new(index)));
            let itself = self.facts.definitions.iter().enumerate();
            let types = itself.filter(|(_, other)| {
                other.name == own.name && other.kind != Kind::Impl && other.kind.is_type()
            });
            parts.extend(types.map(|(index, _)| DefId::new(index)));
        }
        parts
    }

    /// The type that a written type names, if it is defined in this file.
    pub fn type_named(&self, ty: TypeId, scope: ScopeId) -> Option<DefId> {
        match self.facts.ty(ty)? {
            Type::Named { path, .. } => match self.name(*path, scope, u32::MAX - 1)? {
                Target::Definition(id) => {
                    self.facts.definition(id).filter(|found| found.kind.is_type()).map(|_| id)
                }
                Target::Binding(_) | Target::Import(..) => None,
            },
            Type::Pointer(inner) => self.type_named(*inner, scope),
            Type::Own => self.own_type(scope),
            _ => None,
        }
    }

    /// `Type::member`, `Class.member` and the fields of `Type { … }`, and members of a local whose type is written.
    fn member_of_type(&self, reference: &Reference) -> Option<DefId> {
        let of = self.type_of(reference.receiver, reference.scope, reference.start)?;
        self.member(of, reference.name)
    }

    /// The type, of those in this file, that an expression has or names.
    fn type_of(&self, expr: ExprId, scope: ScopeId, at: u32) -> Option<DefId> {
        match self.facts.expr(expr)? {
            Expr::Typed(ty) => self.type_named(*ty, scope),
            Expr::This => self.own_type(scope),
            Expr::Name(name) => match self.name(*name, scope, at)? {
                Target::Definition(id) => {
                    let definition = self.facts.definition(id)?;
                    if definition.kind.is_type() {
                        Some(id)
                    } else {
                        self.type_named(definition.ty, definition.scope)
                    }
                }
                Target::Binding(index) => {
                    let binding = self.facts.bindings.get(index)?;
                    if !binding.part.is_whole() || binding.kind == BindingKind::TypeParameter {
                        return None;
                    }
                    self.type_named(binding.ty, binding.scope)
                }
                Target::Import(..) => None,
            },
            _ => None,
        }
    }

    /// The type that `Self` is at a place: the subject of an `impl`, or the type around.
    fn own_type(&self, scope: ScopeId) -> Option<DefId> {
        let around = self.type_around(scope)?;
        let definition = self.facts.definition(around)?;
        if definition.kind != Kind::Impl {
            return Some(around);
        }
        let all = self.facts.definitions.iter().enumerate();
        let mut same = all.filter(|(_, other)| {
            other.kind != Kind::Impl && other.kind.is_type() && other.name == definition.name
        });
        same.next().map(|(index, _)| DefId::new(index)).or(Some(around))
    }

    pub(super) fn type_around(&self, scope: ScopeId) -> Option<DefId> {
        let mut at = self.facts.enclosing(scope);
        while let Some(definition) = self.facts.definition(at) {
            if definition.kind.is_type() {
                return Some(at);
            }
            at = definition.parent;
        }
        None
    }

    /// Where a target is written, for people: its line and what it is.
    pub fn describe(&self, target: Target) -> String {
        let facts = &self.facts;
        match target {
            Target::Definition(id) => facts.definition(id).map_or(String::new(), |definition| {
                format!("{} {}", definition.kind.as_str(), facts.lines.line(definition.name_start))
            }),
            Target::Binding(index) => facts.bindings.get(index).map_or(String::new(), |binding| {
                format!(
                    "{} {}",
                    format!("{:?}", binding.kind).to_lowercase(),
                    facts.lines.line(binding.start)
                )
            }),
            Target::Import(index, which) => facts.imports.get(index).map_or(String::new(), |import| {
                let name =
                    which.and_then(|which| import.names.get(which)).map_or("", |name| facts.text(name.name));
                format!("import {:?} {name}", facts.text(import.source)).trim_end().to_owned()
            }),
        }
    }
}
