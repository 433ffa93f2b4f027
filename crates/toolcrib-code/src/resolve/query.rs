//! One question, followed wherever it leads: names through scopes, imports and re-exports.
//!
//! A question that comes back to itself has no answer there: what is being asked is remembered, and what was cut short
//! by that is not kept.

use std::sync::Arc;

use super::asking::Asking;
use super::modules;
use super::program::{Def, Program};
use super::scopes::{FileScopes, Target};
use super::types::Ty;
use crate::facts::{DefId, FileFacts, Flags, Kind, Role, ScopeId, ScopeKind, Sym};

/// A place in a file from which something is seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    pub file: u32,
    pub scope: ScopeId,
    pub at: u32,
}

/// Something that has names in it and is not a type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// A file.
    File(u32),
    /// A module or namespace inside a file.
    Inline(Def),
    /// A folder without a file of its own, or one whose files are one package.
    Folder(Arc<str>),
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Entity {
    Def(Def),
    /// A binding of a file.
    Local(u32, usize),
    Module(Place),
    /// Something outside of the workspace: its package.
    External(Arc<str>),
}

/// What a name stands for, and the imports that it went through.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Found {
    pub entities: Vec<Entity>,
    pub via: Vec<(u32, u32)>,
}

impl Found {
    pub(super) fn one(entity: Entity) -> Self {
        Self { entities: vec![entity], via: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entities.is_empty()
    }

    pub(super) fn first(&self) -> Option<&Entity> {
        self.entities.first()
    }

    pub(super) fn through(mut self, file: u32, start: u32) -> Self {
        if !self.is_empty() {
            self.via.insert(0, (file, start));
        }
        self
    }
}

/// Of which kind of thing a name is wanted, where they do not hide each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Space {
    Type,
    Value,
    /// What is called, where functions have names of their own.
    Call,
    Macro,
    Any,
}

impl Space {
    pub(super) fn of(role: Role) -> Self {
        match role {
            Role::Type | Role::Inherit | Role::Construct => Space::Type,
            Role::Call | Role::Read | Role::Write => Space::Value,
            Role::Macro => Space::Macro,
            Role::Import | Role::Export | Role::Attribute => Space::Any,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Question {
    Lookup(Place, Arc<str>, bool),
    Definition(Def),
    Binding(u32, usize),
    Member(Def, Arc<str>),
    Imported(u32, usize, Option<usize>),
    Places(u32, usize),
    Impls(Def),
    Extension(Arc<str>, Arc<str>),
    Decorated(Def),
    Named(Arc<str>),
    Owner(Def),
    Same(Def),
    Reached(u32),
    Ambient(u32, Arc<str>),
    Bound(u32, usize),
    ThroughGlobs(Place, bool),
}

pub(super) struct Query<'p> {
    pub program: &'p Program,
    pub(super) asking: Asking,
}

impl<'p> Query<'p> {
    pub(super) fn new(program: &'p Program) -> Self {
        Self { program, asking: Asking::default() }
    }

    pub(super) fn scopes(&self, file: u32) -> Option<&'p Arc<FileScopes>> {
        self.program.scopes(file)
    }

    pub(super) fn facts(&self, file: u32) -> Option<&'p FileFacts> {
        self.program.facts(file).map(|facts| &**facts)
    }

    pub(super) fn definition(&self, def: Def) -> Option<&'p crate::facts::Definition> {
        self.program.definition(def)
    }

    pub(super) fn name_of(&self, def: Def) -> &'p str {
        match (self.facts(def.file), self.definition(def)) {
            (Some(facts), Some(definition)) => facts.text(definition.name),
            _ => "",
        }
    }

    pub(super) fn language(&self, file: u32) -> &'static str {
        self.program.file(file).map_or("", |entry| entry.language.name)
    }

    /// What a bare name means at a place.
    pub(super) fn name(&self, site: Site, name: Sym, space: Space) -> Found {
        let wanted = self.walk(site, name, space);
        if !wanted.is_empty() || space == Space::Any || !self.has_spaces(site.file) {
            return wanted;
        }
        let mut found = self.walk(site, name, Space::Any);
        // A macro is never meant without its `!`.
        found.entities.retain(|entity| match entity {
            Entity::Def(def) => self.definition(*def).is_some_and(|found| found.kind != Kind::Macro),
            _ => true,
        });
        found
    }

    pub(super) fn two_spaces(&self, file: u32) -> bool {
        self.scopes(file).is_some_and(|scopes| scopes.rules().two_spaces)
    }

    /// Whether a name may be a type and a value.
    pub(super) fn has_spaces(&self, file: u32) -> bool {
        self.scopes(file).is_some_and(|scopes| scopes.rules().two_spaces || scopes.rules().objects)
    }

    fn walk(&self, site: Site, name: Sym, space: Space) -> Found {
        let Some(scopes) = self.scopes(site.file) else { return Found::default() };
        let (facts, rules) = (scopes.facts(), scopes.rules());
        let text = facts.text(name);
        if let Some(special) = modules::of(self, site.file).special(self, site, text) {
            return special;
        }
        let start = scopes.seen_from(site.scope, site.at);
        let mut here = start;
        let mut left_function = false;
        // An import has the name, but leads nowhere: then nobody knows what it is.
        let mut lost = false;
        while let Some(region) = facts.scope(here) {
            let own_body = here == start || !rules.class_body || region.kind != ScopeKind::Type;
            if own_body {
                let mut all = Found::default();
                if rules.two_spaces {
                    let targets = scopes.all_in_scope(name, here, site.at, left_function);
                    let variants = self.variants(site.file, &targets, space);
                    if !variants.is_empty() {
                        return variants;
                    }
                }
                for target in scopes.all_in_scope(name, here, site.at, left_function) {
                    let found = self.target(site.file, target);
                    let found = self.in_space(found, space);
                    let one_of_many = rules.objects && matches!(target, Target::Definition(_));
                    if one_of_many {
                        all.entities.extend(found.entities);
                    } else if !found.is_empty() && all.is_empty() {
                        return found;
                    }
                    lost |= matches!(target, Target::Import(..)) && rules.objects;
                }
                if !all.is_empty() {
                    all.entities.reverse();
                    return all;
                }
            }
            if rules.bare_members
                && let Some(own) = self.type_of_scope(site.file, here)
            {
                let entities = self.member_of(own, text).into_iter().map(Entity::Def).collect();
                let found = self.in_space(Found { entities, via: Vec::new() }, space);
                if !found.is_empty() {
                    return found;
                }
            }
            for glob in scopes.globs(here) {
                let found = self.through_glob(site.file, glob, text);
                let found = self.in_space(found, space);
                if !found.is_empty() {
                    return found;
                }
            }
            if rules.closed_functions && region.kind == ScopeKind::Function {
                left_function = true;
            }
            if rules.closed_modules && region.kind == ScopeKind::Module {
                break;
            }
            here = region.parent;
        }
        if lost {
            return Found::default();
        }
        let found = modules::of(self, site.file).ambient(self, site, text);
        self.in_space(found, space)
    }

    /// Several definitions of one name in one scope: what `cfg` chooses from.
    fn variants(&self, file: u32, targets: &[Target], space: Space) -> Found {
        let several = targets.len() > 1 && targets.iter().all(|one| matches!(one, Target::Definition(_)));
        if !several || space == Space::Any {
            return Found::default();
        }
        let entities = targets.iter().flat_map(|target| self.target(file, *target).entities).collect();
        self.in_space(Found { entities, via: Vec::new() }, space)
    }

    /// What everything of a module gives for a name.
    pub(super) fn through_glob(&self, file: u32, import: usize, name: &str) -> Found {
        let Some(start) = self.facts(file).and_then(|facts| Some(facts.imports.get(import)?.span.start))
        else {
            return Found::default();
        };
        for place in modules::places(self, file, import) {
            let found = modules::of(self, file).glob(self, &place, name, file, import);
            if !found.is_empty() {
                return found.through(file, start);
            }
        }
        Found::default()
    }

    /// What something in the tables of a file stands for, imports followed.
    pub(super) fn target(&self, file: u32, target: Target) -> Found {
        match target {
            Target::Definition(id) => Found::one(Entity::Def(Def { file, id })),
            Target::Binding(index) => Found::one(Entity::Local(file, index)),
            Target::Import(import, name) => modules::imported(self, file, import, name),
        }
    }

    /// A name in a module as others see it; with `inside`, as what is in the module itself sees it.
    pub(super) fn lookup(&self, place: &Place, name: &str, inside: bool) -> Found {
        let question = Question::Lookup(place.clone(), name.into(), inside);
        self.ask(question, || modules::lookup(self, place, name, inside))
    }

    /// The place that an entity is, if names can be looked up in it.
    pub(super) fn place_of(&self, entity: &Entity) -> Option<Place> {
        match entity {
            Entity::Module(place) => Some(place.clone()),
            Entity::Def(def) => {
                let definition = self.definition(*def)?;
                if definition.kind != Kind::Module {
                    return None;
                }
                match definition.flags.has(Flags::DECLARATION) {
                    true => modules::of(self, def.file).declared(self, *def).map(Place::File),
                    false => Some(Place::Inline(*def)),
                }
            }
            Entity::Local(..) | Entity::External(_) => None,
        }
    }

    /// Only what is in one space, for languages that have two.
    pub(super) fn in_space(&self, mut found: Found, space: Space) -> Found {
        if space != Space::Any {
            found.entities.retain(|entity| self.is_in_space(entity, space));
        }
        found
    }

    pub(super) fn is_in_space(&self, entity: &Entity, space: Space) -> bool {
        let Entity::Def(def) = entity else {
            return match entity {
                Entity::Local(file, index) => {
                    let binding = self.facts(*file).and_then(|facts| facts.bindings.get(*index));
                    let is_type = binding
                        .is_some_and(|binding| binding.kind == crate::facts::BindingKind::TypeParameter);
                    let kind = if is_type { Kind::Type } else { Kind::Variable };
                    match self.two_spaces(*file) {
                        true => is_type == (space == Space::Type),
                        false => modules::of(self, *file).is_meant(self, *file, kind, space),
                    }
                }
                Entity::Module(Place::File(file) | Place::Inline(Def { file, .. })) => {
                    space == Space::Type || !self.two_spaces(*file)
                }
                Entity::Module(_) => space != Space::Call,
                _ => true,
            };
        };
        let Some(kind) = self.definition(*def).map(|definition| definition.kind) else { return false };
        if !self.two_spaces(def.file) {
            return modules::of(self, def.file).is_meant(self, def.file, kind, space);
        }
        match space {
            Space::Type => kind.is_type() || matches!(kind, Kind::Module | Kind::Variant),
            // Tuple and unit structs are values too; braces can only be told by what they hold.
            Space::Value | Space::Call => {
                matches!(
                    kind,
                    Kind::Function | Kind::Method | Kind::Constant | Kind::Variable | Kind::Variant
                ) || (kind == Kind::Struct && self.is_tuple(*def))
            }
            Space::Macro => kind == Kind::Macro,
            Space::Any => true,
        }
    }

    /// Whether a struct is made by `Name(…)` or `Name`.
    fn is_tuple(&self, def: Def) -> bool {
        let Some(facts) = self.facts(def.file) else { return false };
        let fields =
            facts.definitions.iter().filter(|field| field.parent == def.id && field.kind == Kind::Field);
        let mut named = fields.map(|field| !facts.text(field.name).starts_with(|c: char| c.is_ascii_digit()));
        !named.any(|named| named)
    }

    /// The module around a place: an inline one, or the file.
    pub(super) fn module_around(&self, file: u32, scope: ScopeId) -> Place {
        let Some(facts) = self.facts(file) else { return Place::File(file) };
        let mut here = scope;
        while let Some(region) = facts.scope(here) {
            if region.kind == ScopeKind::Module && region.definition.is_some() {
                return Place::Inline(Def { file, id: region.definition });
            }
            here = region.parent;
        }
        Place::File(file)
    }

    /// The file and scope in which a module's names are.
    pub(super) fn scope_of(&self, place: &Place) -> Option<(u32, ScopeId)> {
        match place {
            Place::File(file) => Some((*file, ScopeId::new(0))),
            Place::Inline(def) => Some((def.file, self.definition(*def)?.body)),
            Place::Folder(_) => None,
        }
    }

    /// The type around a place: of an `impl` the `impl` itself.
    pub(super) fn type_around(&self, site: Site) -> Option<Def> {
        let scopes = self.scopes(site.file)?;
        if let Some(id) = scopes.type_around(site.scope) {
            return Some(Def { file: site.file, id });
        }
        let mut at: DefId = scopes.facts().enclosing(site.scope);
        while let Some(definition) = scopes.facts().definition(at) {
            if definition.owner.is_some() {
                return self.owner_of(Def { file: site.file, id: at });
            }
            at = definition.parent;
        }
        None
    }

    /// The type that a definition belongs to without being in it.
    pub(super) fn owner_of(&self, def: Def) -> Option<Def> {
        let definition = self.definition(def).filter(|definition| definition.owner.is_some())?;
        let site = Site { file: def.file, scope: definition.scope, at: definition.name_start };
        match self.ask(Question::Owner(def), || self.written(site, definition.owner)) {
            Ty::Instance(own, _) | Ty::Type(own, _) => Some(own),
            _ => None,
        }
    }

    /// The type whose members are seen by their bare name in a scope: that of a type's body, and of a method's that is
    /// written apart from its type.
    fn type_of_scope(&self, file: u32, scope: ScopeId) -> Option<Def> {
        let region = self.facts(file)?.scope(scope)?;
        let own = Def { file, id: region.definition };
        match region.kind {
            ScopeKind::Type => Some(own),
            ScopeKind::Function => self.owner_of(own),
            _ => None,
        }
    }
}
