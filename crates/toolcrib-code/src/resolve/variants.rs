//! Definitions that are one thing: overloads, a declaration and its definition, what each system has of its own.

use super::Label;
use super::answers::fits;
use super::modules::{self, Family};
use super::program::{Answer, Def, Meaning};
use super::query::{Entity, Found, Query, Question, Space};
use crate::facts::{DefId, Flags, Kind, Reference, Role};

impl Query<'_> {
    /// Whether a compiler saw to it that every member exists.
    pub(super) fn is_checked(&self, file: u32) -> bool {
        matches!(modules::family(self, file), Family::Go | Family::Java | Family::C)
    }

    /// What is the same thing in other places.
    pub(super) fn elsewhere(&self, def: Def) -> Vec<Def> {
        self.ask(Question::Same(def), || modules::of(self, def.file).same(self, def))
    }

    /// Definitions with what they are elsewhere: what defines goes before what declares.
    pub(super) fn with_elsewhere(&self, mut defs: Vec<Def>) -> Vec<Def> {
        for def in defs.clone() {
            for other in self.elsewhere(def) {
                if !defs.contains(&other) {
                    defs.push(other);
                }
            }
        }
        if defs.len() > 1 && defs.iter().all(|def| modules::family(self, def.file) == Family::C) {
            let declares =
                |def: &Def| self.definition(*def).is_some_and(|found| found.flags.has(Flags::DECLARATION));
            defs.sort_by_key(declares);
        }
        defs
    }

    /// Of overloads those that take so many arguments; if none of a type does, those of its bases that do.
    pub(super) fn by_arguments(&self, found: Found, reference: &Reference, name: &str) -> Found {
        let overloaded = matches!(reference.role, Role::Call);
        let fits = |def: &Def| self.definition(*def).is_some_and(|definition| fits(definition, reference));
        let mut defs = Vec::new();
        for entity in &found.entities {
            match entity {
                Entity::Def(def) if overloaded && self.has_overloads(def.file) => defs.push(*def),
                _ => return found,
            }
        }
        // A scope shows the nearest of several.
        for def in defs.clone() {
            defs.extend(self.program.named_alike(def));
        }
        let mut seen = std::collections::HashSet::new();
        defs.retain(|def| seen.insert(*def));
        let fitting: Vec<Def> = defs.iter().filter(|def| fits(def)).copied().collect();
        let entities = |defs: Vec<Def>| defs.into_iter().map(Entity::Def).collect();
        if !fitting.is_empty() {
            return Found { entities: entities(fitting), ..found };
        }
        let mut above: Vec<Def> = defs.iter().filter_map(|def| self.type_with(*def)).collect();
        above.dedup();
        for own in &above {
            for base in self.bases_of(*own) {
                let members = self.member_of(base, name);
                let fitting: Vec<Def> = members.into_iter().filter(fits).collect();
                if !fitting.is_empty() {
                    return Found { entities: entities(fitting), ..found };
                }
            }
        }
        // Then it is one that a base outside has.
        match above.iter().any(|own| self.has_unseen_bases(*own)) {
            true => Found::one(Entity::External("".into())),
            false => found,
        }
    }

    fn has_overloads(&self, file: u32) -> bool {
        matches!(self.language(file), "java" | "cpp")
    }

    /// The type that something is a member of.
    fn type_with(&self, def: Def) -> Option<Def> {
        let parent = Def { file: def.file, id: self.definition(def)?.parent };
        match self.definition(parent) {
            Some(around) if around.kind.is_type() => Some(parent),
            _ => self.owner_of(def),
        }
    }

    /// The only definition of a bare name that C's files could mean, seen by an include or not.
    pub(super) fn only_definition(&self, reference: &Reference, name: &str) -> Answer {
        let question = Question::Extension("only definition".into(), name.into());
        let defs = self.ask(question, || {
            let mut entities = Vec::new();
            for file in self.program.files_with(name) {
                let Some(facts) = self.facts(file).filter(|_| modules::family(self, file) == Family::C)
                else {
                    continue;
                };
                for (index, definition) in facts.definitions.iter().enumerate() {
                    let inside = facts.definition(definition.parent).is_some_and(|around| {
                        around.kind != Kind::Module && definition.kind != Kind::Variant
                    });
                    let own = definition.flags.has(Flags::STATIC) && !self.is_header(file);
                    let local = definition.kind == Kind::Constant && !self.is_header(file);
                    if facts.text(definition.name) == name && !inside && !own && !local {
                        entities.push(Entity::Def(Def { file, id: DefId::new(index) }));
                    }
                }
            }
            Found { entities, via: Vec::new() }
        });
        let space = Space::of(reference.role);
        let defs = self.in_space(defs, space).entities.into_iter().filter_map(|entity| match entity {
            Entity::Def(def) => Some(def),
            _ => None,
        });
        let fitting: Vec<Def> = defs
            .filter(|def| self.definition(*def).is_some_and(|definition| fits(definition, reference)))
            .collect();
        let (Some(first), true) = (fitting.first(), !fitting.is_empty()) else { return Answer::unknown() };
        let same = self.elsewhere(*first);
        if fitting.iter().any(|def| def != first && !same.contains(def)) {
            return Answer::unknown();
        }
        Answer {
            meaning: Meaning::Definitions(self.with_elsewhere(fitting)),
            label: Label::Likely,
            reason: "the only definition of that name",
            chain: Vec::new(),
        }
    }

    pub(super) fn is_header(&self, file: u32) -> bool {
        self.program.file(file).is_some_and(|file| {
            let end = file.path.rsplit('.').next().unwrap_or_default();
            end.starts_with('h') || matches!(end, "inl" | "ipp" | "inc")
        })
    }
}
