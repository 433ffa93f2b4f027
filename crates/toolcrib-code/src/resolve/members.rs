//! Members of types: their own, those of their bases, those of the traits they implement.

use super::known;
use super::modules::{self, Family};
use super::program::Def;
use super::query::{Entity, Found, Query, Question, Site, Space};
use super::scopes::Target;
use super::types::{Args, Ty};
use crate::facts::{DefId, Flags, Kind, Type, TypeId};

/// How a member is used, where that tells a field from a method of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Use {
    call: bool,
    /// Whether its type is wanted too: finding that out costs more than finding the member.
    typed: bool,
}

impl Use {
    pub(super) const READ: Use = Use { call: false, typed: true };
    pub(super) const CALL: Use = Use { call: true, typed: true };

    pub(super) fn untyped(self) -> Self {
        Self { typed: false, ..self }
    }
}

/// How many types above a type are looked at.
const MAX_BASES: usize = 64;

impl Query<'_> {
    /// What `value.name` stands for, and its type.
    pub(super) fn member(&self, of: &Ty, name: &str, site: Site) -> (Found, Ty) {
        self.member_used(of, name, Use::READ, site)
    }

    /// What `value.name` stands for when it is used in a certain way.
    pub(super) fn member_used(&self, of: &Ty, name: &str, used: Use, site: Site) -> (Found, Ty) {
        if !self.step() {
            return Default::default();
        }
        let found = self.member_unbounded(of, name, used, site);
        self.unstep();
        found
    }

    fn member_unbounded(&self, of: &Ty, name: &str, used: Use, site: Site) -> (Found, Ty) {
        match of {
            Ty::Module(place) => {
                let found = self.lookup(place, name, true);
                let ty = match Family::of(self.language(site.file)) {
                    Family::Script => self.type_of_found(&self.prefer(found.clone(), Space::Value)),
                    _ => self.type_of_found(&found),
                };
                (found, ty)
            }
            Ty::Type(def, args) | Ty::Instance(def, args) => {
                self.member_of_type(of, *def, args, name, used, site)
            }
            Ty::Known(known, args) => self.member_of_known(of, known, args, name, used, site),
            Ty::Union(members) => {
                let mut all = Found::default();
                let mut types = Vec::new();
                for member in members.iter() {
                    let (found, ty) = self.member_used(member, name, used, site);
                    all.entities.extend(found.entities);
                    types.push(ty);
                }
                (all, Ty::union(types))
            }
            Ty::Param(file, index) => {
                let bound = self.facts(*file).and_then(|facts| facts.bindings.get(*index));
                let Some(bound) = bound.filter(|bound| bound.ty.is_some()) else { return Default::default() };
                let at = Site { file: *file, scope: bound.scope, at: bound.start };
                // A bound may speak of the parameter itself.
                let bound = self.ask(Question::Bound(*file, *index), || self.written(at, bound.ty));
                if matches!(bound, Ty::Param(..)) || self.is_leaked(*file, at.scope, site) {
                    return Default::default();
                }
                let (found, ty) = self.member_used(&bound, name, used, site);
                let ty = match ty {
                    Ty::Function(def, _) => Ty::Function(def, Box::new(of.clone())),
                    other => other,
                };
                (found, ty)
            }
            Ty::External | Ty::Holds(_) => (Found::one(Entity::External("".into())), Ty::External),
            Ty::Function(def, _) if Family::of(self.language(def.file)) == Family::Script => {
                self.of_function(*def, name)
            }
            Ty::Unknown
            | Ty::Function(..)
            | Ty::Returns(_)
            | Ty::Tuple(_)
            | Ty::Signature(..)
            | Ty::Given => self.tuple_member(of, name),
        }
    }

    /// What a function has as members: those of a namespace of its name, and else those that all functions have.
    fn of_function(&self, def: Def, name: &str) -> (Found, Ty) {
        let apart = modules::of(self, def.file).apart(self, def, name);
        let found = Found { entities: apart.into_iter().map(Entity::Def).collect(), via: Vec::new() };
        let ty = self.type_of_found(&found);
        (found, ty)
    }

    /// A member of what a name stands for.
    pub(super) fn part_of(&self, entity: &Entity, name: &str, site: Site) -> Found {
        match entity {
            Entity::External(_) => Found::one(entity.clone()),
            _ => self.member(&self.type_of(entity), name, site).0,
        }
    }

    /// Whether a type parameter is seen from where it does not hold: then something else stands in its place there, and
    /// nobody said what.
    fn is_leaked(&self, file: u32, scope: crate::facts::ScopeId, site: Site) -> bool {
        Family::of(self.language(file)) == Family::Script
            && (file != site.file
                || self
                    .facts(file)
                    .and_then(|facts| facts.scope(scope))
                    .is_some_and(|scope| !scope.span.contains(site.at)))
    }

    fn tuple_member(&self, of: &Ty, name: &str) -> (Found, Ty) {
        match (of, name.parse::<usize>()) {
            (Ty::Tuple(members), Ok(at)) => (Found::default(), members.get(at).cloned().unwrap_or_default()),
            _ => Default::default(),
        }
    }

    fn member_of_type(
        &self,
        of: &Ty,
        def: Def,
        args: &Args,
        name: &str,
        used: Use,
        site: Site,
    ) -> (Found, Ty) {
        let members = self.fitting(self.member_of(def, name), used);
        if let Some(first) = members.first() {
            let ty = if used.typed { self.member_type(of, def, args, *first) } else { Ty::Unknown };
            let entities = members.into_iter().map(Entity::Def).collect();
            return (Found { entities, via: Vec::new() }, ty);
        }
        // What is reached through `Deref`.
        if modules::family(self, def.file) == Family::Rust
            && let Some(target) = self.member_of(def, "Target").first()
        {
            let target = self.as_value(self.type_of_def(*target));
            let target = match self.around_impl(def, "Target") {
                Some(own) => super::types::replace(&target, &own, args),
                None => target,
            };
            if target != *of {
                return self.member_used(&target, name, used, site);
            }
        }
        if name == "__class__" {
            return (Found::one(Entity::External("".into())), Ty::Type(def, args.clone()));
        }
        match known::any(self.language(def.file), name) {
            Some(shape) => (Found::one(Entity::External("".into())), known::shaped(shape, of, args)),
            None => Default::default(),
        }
    }

    /// Of a field and a method of the same name the one that is meant.
    fn fitting(&self, members: Vec<Def>, used: Use) -> Vec<Def> {
        let callable =
            |def: &Def| self.definition(*def).is_some_and(|definition| definition.kind.is_callable());
        let meant: Vec<Def> = members.iter().filter(|def| callable(def) == used.call).copied().collect();
        if meant.is_empty() { members } else { meant }
    }

    /// The arguments that the `impl` with a member has for its type.
    fn around_impl(&self, def: Def, name: &str) -> Option<Args> {
        let member = *self.member_of(def, name).first()?;
        let parent = Def { file: member.file, id: self.definition(member)?.parent };
        match self.self_of(parent) {
            Ty::Instance(_, params) => Some(params),
            _ => None,
        }
    }

    /// The type of a member, seen through a value of a type with arguments.
    fn member_type(&self, of: &Ty, def: Def, args: &Args, member: Def) -> Ty {
        let value = match of {
            Ty::Type(def, args) => Ty::Instance(*def, args.clone()),
            other => other.clone(),
        };
        match self.type_of_def(member) {
            Ty::Function(function, _) => {
                let ty = Ty::Function(function, Box::new(value));
                let reads = self.definition(member).is_some_and(|found| found.flags.has(Flags::ACCESSOR));
                let site = Site { file: member.file, scope: crate::facts::ScopeId::new(0), at: 0 };
                let unit = self
                    .definition(member)
                    .is_some_and(|found| found.kind == Kind::Variant && found.params.is_empty());
                if reads || unit { self.call(&ty, site) } else { ty }
            }
            other => {
                let owner =
                    Def { file: member.file, id: self.definition(member).map_or(DefId::NONE, |m| m.parent) };
                match self.seen_through(def, args, owner) {
                    Some(args) if owner != def => self.applied(other, owner, &args),
                    _ => self.applied(other, def, args),
                }
            }
        }
    }

    fn member_of_known(
        &self,
        of: &Ty,
        known: &'static str,
        args: &Args,
        name: &str,
        used: Use,
        site: Site,
    ) -> (Found, Ty) {
        let language = self.language(site.file);
        let library = if Family::of(language) == Family::Python { "builtins" } else { "std" };
        if let Some(shape) = known::method(language, known, name) {
            let ty = known::shaped(shape, of, args);
            // Of a known type a method is called, so this is what the call gives.
            return (Found::one(Entity::External(library.into())), Ty::Returns(Box::new(ty)));
        }
        if known::is_through(language, known)
            && let Some(inner) = args.first()
        {
            return self.member_used(inner, name, used, site);
        }
        // Traits of the workspace may be implemented for types of the library.
        if Family::of(language) == Family::Rust {
            let found = self.implemented_for(known, name);
            if !found.is_empty() {
                let ty = self.type_of_found(&found);
                return (found, ty);
            }
        }
        let value = if known == "Record" { args.get(1).cloned() } else { None };
        (Found::one(Entity::External(library.into())), value.unwrap_or_default())
    }

    /// A method that the workspace gives a type of the library.
    fn implemented_for(&self, known: &str, name: &str) -> Found {
        let question = Question::Extension(known.into(), name.into());
        self.ask(question, || {
            let (mut entities, mut defaults) = (Vec::new(), Vec::new());
            for file in self.program.files_with(name) {
                let Some(facts) = self.facts(file).filter(|_| modules::family(self, file) == Family::Rust)
                else {
                    continue;
                };
                for (index, definition) in facts.definitions.iter().enumerate() {
                    let around = facts.definition(definition.parent);
                    if definition.kind != Kind::Method || facts.text(definition.name) != name {
                        continue;
                    }
                    let method = Def { file, id: DefId::new(index) };
                    match around.map(|around| around.kind) {
                        Some(Kind::Impl)
                            if around
                                .is_some_and(|around| known::is_called(facts.text(around.name), known)) =>
                        {
                            entities.push(Entity::Def(method));
                        }
                        Some(Kind::Trait) => defaults.push(method),
                        _ => {}
                    }
                }
            }
            // What a trait itself says, if the trait is implemented for the type.
            if entities.is_empty() {
                let given = defaults.into_iter().filter(|method| self.is_given(*method, known));
                entities.extend(given.map(Entity::Def));
            }
            Found { entities, via: Vec::new() }
        })
    }

    /// Whether the trait of a method is implemented for a type of the library.
    fn is_given(&self, method: Def, known: &str) -> bool {
        let Some(parent) = self.definition(method).map(|found| found.parent) else { return false };
        let of = Def { file: method.file, id: parent };
        self.program.files_with(self.name_of(of)).into_iter().any(|file| {
            let Some(facts) = self.facts(file) else { return false };
            facts.definitions.iter().enumerate().any(|(index, definition)| {
                definition.kind == Kind::Impl
                    && known::is_called(facts.text(definition.name), known)
                    && self.implements(Def { file, id: DefId::new(index) }, of)
            })
        })
    }

    /// The members of a type with a name: its own, else those of the nearest base that has some.
    pub(super) fn member_of(&self, def: Def, name: &str) -> Vec<Def> {
        self.ask(Question::Member(def, name.into()), || self.find_member(def, name))
    }

    fn find_member(&self, def: Def, name: &str) -> Vec<Def> {
        let start = self.own_type(def).unwrap_or(def);
        if modules::family(self, start.file) == Family::Python {
            return self.find_in_order(start, name);
        }
        let mut left = std::collections::VecDeque::from([start]);
        let mut seen: Vec<Def> = Vec::new();
        while let Some(at) = left.pop_front() {
            if seen.contains(&at) || seen.len() > MAX_BASES {
                continue;
            }
            seen.push(at);
            let own = self.own_members(at, name);
            if !own.is_empty() {
                return own;
            }
            let mut bases = self.bases_of(at);
            // Depth first, as most languages look.
            while let Some(base) = bases.pop() {
                left.push_front(base);
            }
        }
        Vec::new()
    }

    /// Python: a base that several bases share comes after all of them; and what is declared with a type above is
    /// meant by what is only given a value below.
    fn find_in_order(&self, start: Def, name: &str) -> Vec<Def> {
        let mut found: Vec<Def> = Vec::new();
        for at in self.order_of(start) {
            let own = self.own_members(at, name);
            let Some(first) = own.first().and_then(|first| self.definition(*first)) else { continue };
            let is_plain = first.kind == Kind::Field && first.ty.is_none();
            if found.is_empty() {
                found = own;
                if !is_plain {
                    return found;
                }
            } else if first.flags.has(Flags::ACCESSOR) {
                return own;
            } else if !is_plain && first.kind == Kind::Field {
                found.retain(|below| self.is_in_body(*below));
                found.extend(own);
                return found;
            }
        }
        found
    }

    /// Classes of the same name in the same scope: one for each case of a condition.
    fn other_variants(&self, class: Def) -> Vec<Def> {
        let (Some(scopes), Some(definition)) = (self.scopes(class.file), self.definition(class)) else {
            return Vec::new();
        };
        let same = scopes.offered(definition.name, definition.scope);
        let classes = same.filter_map(|target| match target {
            Target::Definition(id) if id != class.id => {
                scopes.facts().definition(id).filter(|other| other.kind == Kind::Class).map(|_| id)
            }
            _ => None,
        });
        classes.map(|id| Def { file: class.file, id }).collect()
    }

    /// Whether a field is written in the body of its class, not in a method.
    fn is_in_body(&self, field: Def) -> bool {
        let Some(definition) = self.definition(field) else { return false };
        self.scopes(field.file)
            .is_some_and(|scopes| scopes.scope_at(definition.name_start) == definition.scope)
    }

    /// A class and those above it, in the order in which members are looked for.
    fn order_of(&self, start: Def) -> Vec<Def> {
        let mut all: Vec<Def> = Vec::new();
        let mut left = vec![(start, vec![start])];
        while let Some((at, way)) = left.pop() {
            if all.len() > MAX_BASES {
                break;
            }
            all.push(at);
            let others = self.other_variants(at).into_iter();
            let bases: Vec<Def> = others.chain(self.bases_of(at)).collect();
            for base in bases.into_iter().rev().filter(|base| !way.contains(base)) {
                let mut way = way.clone();
                way.push(base);
                left.push((base, way));
            }
        }
        // Each where it comes last.
        let mut order: Vec<Def> = Vec::new();
        for at in all.into_iter().rev() {
            if !order.contains(&at) {
                order.push(at);
            }
        }
        order.reverse();
        order
    }

    /// The members that a type itself has, `impl` blocks and methods defined apart included.
    fn own_members(&self, at: Def, name: &str) -> Vec<Def> {
        let mut found = self.direct(at, name);
        if modules::family(self, at.file) == Family::Rust {
            // What the type itself says goes before what a trait makes it say.
            let callable = |def: &Def| self.definition(*def).is_some_and(|found| found.kind.is_callable());
            let (of_traits, own): (Vec<Def>, Vec<Def>) = self
                .impls_of(at)
                .into_iter()
                .partition(|block| self.definition(*block).is_some_and(|block| !block.bases.is_empty()));
            found.extend(own.into_iter().flat_map(|block| self.direct(block, name)));
            if !found.iter().any(callable) {
                found.extend(of_traits.into_iter().flat_map(|block| self.direct(block, name)));
            }
        }
        found.extend(modules::of(self, at.file).apart(self, at, name));
        found
    }

    fn direct(&self, at: Def, name: &str) -> Vec<Def> {
        let Some(scopes) = self.scopes(at.file) else { return Vec::new() };
        let Some(sym) = scopes.find(name) else { return Vec::new() };
        scopes.members_named(at.id, sym).iter().map(|id| Def { file: at.file, id: *id }).collect()
    }

    /// The types above a type: base classes, interfaces, supertraits, implemented traits.
    pub(super) fn bases_of(&self, def: Def) -> Vec<Def> {
        let Some(definition) = self.definition(def) else { return Vec::new() };
        let mut bases = self.named_bases(def, &definition.bases);
        if let Some(Ty::Instance(base, _)) = self.beneath(&Ty::Instance(def, super::types::none())) {
            bases.push(base);
        }
        if definition.kind == Kind::Variant {
            bases.push(Def { file: def.file, id: definition.parent });
        }
        if modules::family(self, def.file) == Family::Rust && definition.kind != Kind::Trait {
            for block in self.impls_of(def) {
                if let Some(found) = self.definition(block) {
                    bases.extend(self.named_bases(block, &found.bases));
                }
            }
        }
        bases
    }

    pub(super) fn named_bases(&self, def: Def, bases: &[TypeId]) -> Vec<Def> {
        let Some(definition) = self.definition(def) else { return Vec::new() };
        let scope = match self.two_spaces(def.file) && definition.body.is_some() {
            true => definition.body,
            false => definition.scope,
        };
        let site = Site { file: def.file, scope, at: definition.name_start };
        let mut found = Vec::new();
        for base in bases {
            match self.base_type(site, *base) {
                Ty::Instance(base, _) | Ty::Type(base, _) if base != def => found.push(base),
                Ty::Union(members) => found.extend(members.iter().filter_map(|ty| match ty {
                    Ty::Instance(base, _) | Ty::Type(base, _) => Some(*base),
                    _ => None,
                })),
                _ => {}
            }
        }
        found
    }

    /// A base without its arguments, where they do not matter: they may lead back to the type itself.
    fn base_type(&self, site: Site, base: TypeId) -> Ty {
        let named = self.facts(site.file).and_then(|facts| match facts.ty(base)? {
            Type::Named { path, args } if !args.is_empty() => Some(facts.text(*path)),
            _ => None,
        });
        if let Some(path) = named
            && Family::of(self.language(site.file)) == Family::Script
            && let found @ (Ty::Instance(..) | Ty::Type(..)) = self.named(site, path, Vec::new())
        {
            return found;
        }
        self.written(site, base)
    }

    /// Whether something above a type is outside of the workspace or unknown: then it may have members unseen.
    pub(super) fn has_unseen_bases(&self, def: Def) -> bool {
        let mut left = vec![def];
        let mut seen = Vec::new();
        while let Some(at) = left.pop() {
            if seen.contains(&at) || seen.len() > MAX_BASES {
                continue;
            }
            seen.push(at);
            let Some(definition) = self.definition(at) else { return true };
            let bases = self.bases_of(at);
            if bases.len() < definition.bases.len() {
                return true;
            }
            left.extend(bases);
        }
        false
    }

    /// The type that an `impl` is for; of any other definition itself.
    pub(super) fn own_type(&self, def: Def) -> Option<Def> {
        let definition = self.definition(def)?;
        if definition.kind != Kind::Impl {
            return Some(def);
        }
        let site = Site { file: def.file, scope: definition.body, at: definition.name_start };
        match self.written(site, definition.ty) {
            Ty::Instance(own, _) | Ty::Type(own, _) => Some(own),
            _ => None,
        }
    }

    /// The `impl` blocks for a type, wherever they are: those of the type itself before those of traits.
    fn impls_of(&self, def: Def) -> Vec<Def> {
        self.ask(Question::Impls(def), || {
            let name = self.name_of(def);
            let mut found = Vec::new();
            for file in self.program.files_with(name) {
                let Some(facts) = self.facts(file).filter(|_| modules::family(self, file) == Family::Rust)
                else {
                    continue;
                };
                for (index, definition) in facts.definitions.iter().enumerate() {
                    if definition.kind != Kind::Impl || facts.text(definition.name) != name {
                        continue;
                    }
                    let block = Def { file, id: DefId::new(index) };
                    if self.subject(block) == Some(def) {
                        found.push((!definition.bases.is_empty(), block));
                    }
                }
            }
            found.sort();
            found.into_iter().map(|(_, block)| block).collect()
        })
    }

    /// Whether a block implements a trait.
    pub(super) fn implements(&self, block: Def, wanted: Def) -> bool {
        self.definition(block).is_some_and(|found| self.named_bases(block, &found.bases).contains(&wanted))
    }

    /// The type that an `impl` block is for, by name only: its arguments do not matter.
    fn subject(&self, block: Def) -> Option<Def> {
        let definition = self.definition(block)?;
        let facts = self.facts(block.file)?;
        let mut ty = facts.ty(definition.ty)?;
        while let Type::Pointer(inner) = ty {
            ty = facts.ty(*inner)?;
        }
        let Type::Named { path, .. } = ty else { return None };
        let path = facts.text(*path);
        let site = Site { file: block.file, scope: definition.scope, at: definition.name_start };
        let first = self.scopes(block.file)?.find(path.split('.').next()?)?;
        let mut found = self.name(site, first, Space::Type);
        for name in path.split('.').skip(1) {
            let place = found.first().and_then(|entity| self.place_of(entity))?;
            found = self.in_space(self.lookup(&place, name, true), Space::Type);
        }
        match found.first()? {
            Entity::Def(def) => match self.type_of_def(*def) {
                Ty::Type(own, _) => Some(own),
                _ => Some(*def),
            },
            _ => None,
        }
    }
}
