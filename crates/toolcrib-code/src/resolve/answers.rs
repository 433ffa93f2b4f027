//! What is asked of a program: what a use means, where an import leads, what a file offers.

use super::known;
use super::members::Use;
use super::modules::{self, Family, Leads};
use super::program::{Answer, Def, Meaning, Offered, Program, Source};
use super::query::{Entity, Found, Place, Query, Question, Site, Space};
use super::types::Ty;
use super::{Label, Target};
use crate::facts::{ARGS_UNKNOWN, DefId, Definition, Expr, Flags, Kind, Reference, Role};

/// Why a member of a value is not of this workspace: the value comes from elsewhere.
pub const FROM_OUTSIDE: &str = "type from outside";

impl Answer {
    pub(super) fn unknown() -> Self {
        Answer {
            meaning: Meaning::Unknown,
            label: Label::NameMatch,
            reason: "the name only",
            chain: Vec::new(),
        }
    }
}

impl Program {
    /// What the use at an index of [`FileFacts::references`](crate::facts::FileFacts) stands for.
    pub fn answer(&self, file: u32, reference: usize) -> Answer {
        let query = Query::new(self);
        let Some(scopes) = self.scopes(file) else { return Answer::unknown() };
        let Some(reference) = scopes.facts().references.get(reference) else { return Answer::unknown() };
        if let Some(defs) = self.laid_over(file, reference.start) {
            let meaning = Meaning::Definitions(defs);
            return Answer { meaning, label: Label::Resolved, reason: "SCIP index", chain: Vec::new() };
        }
        query.reference(file, reference)
    }

    /// All definitions that are the same thing as this one, it among them: overloads, declarations, variants.
    pub fn same(&self, def: Def) -> Vec<Def> {
        // Where functions of one name are told apart by their arguments, they are different things.
        let family = self.file(def.file).map_or(Family::Other, |entry| Family::of(entry.language.name));
        let takes = |def: Def| self.definition(def).map_or(0, |found| found.params.len());
        let callable = self.definition(def).is_some_and(|found| found.kind.is_callable());
        let apart = callable && matches!(family, Family::Java | Family::C);
        let mut same = self.named_alike(def);
        same.retain(|other| !apart || takes(*other) == takes(def));
        for other in Query::new(self).elsewhere(def) {
            if !same.contains(&other) {
                same.push(other);
            }
        }
        same
    }

    /// What has the same name beside a definition and may be the same thing, overloads included.
    pub(super) fn named_alike(&self, def: Def) -> Vec<Def> {
        let (Some(scopes), Some(own)) = (self.scopes(def.file), self.definition(def)) else {
            return vec![def];
        };
        let all = scopes.facts().definitions.iter().enumerate();
        let same = all.filter(|(_, other)| {
            other.name == own.name
                && other.scope == own.scope
                && other.parent == own.parent
                && alike(own.kind, other.kind)
        });
        same.map(|(index, _)| Def { file: def.file, id: DefId::new(index) }).collect()
    }

    /// Where an import of a file leads, by its index in the file's imports. Of a Rust `use` the module before the last
    /// name.
    pub fn import(&self, file: u32, import: usize) -> Source {
        let query = Query::new(self);
        match modules::leads(&query, file, import) {
            // A type of a Java package is in one file of it.
            Leads::Places(_) if self.names_one_type(file, import) => {
                match self.imported(file, import, 0).meaning {
                    Meaning::Definitions(defs) => {
                        Source::Files(defs.iter().map(|def| def.file).take(1).collect())
                    }
                    _ => Source::Unresolved("no type of that name is in the package".into()),
                }
            }
            Leads::Places(places) => {
                let files: Vec<u32> = places.iter().flat_map(|place| self.files_of(place)).collect();
                match files.is_empty() {
                    true => Source::Unresolved("the module has no file".into()),
                    false => Source::Files(files),
                }
            }
            Leads::Package(package) => Source::Package(package.to_string()),
            Leads::Nowhere(why) => Source::Unresolved(why.into()),
        }
    }

    fn names_one_type(&self, file: u32, import: usize) -> bool {
        let java = self.file(file).is_some_and(|file| file.language.name == "java");
        let entry = self.facts(file).and_then(|facts| facts.imports.get(import));
        java && entry.is_some_and(|entry| entry.kind == crate::facts::ImportKind::Names)
    }

    fn files_of(&self, place: &Place) -> Vec<u32> {
        match place {
            Place::File(file) | Place::Inline(Def { file, .. }) => vec![*file],
            Place::Folder(folder) => {
                let mut files = self.files_in(folder);
                // Others cannot import the tests of a Go package.
                files.retain(|file| self.file(*file).is_some_and(|file| !file.path.ends_with("_test.go")));
                files
            }
        }
    }

    /// What one name of an import stands for.
    pub fn imported(&self, file: u32, import: usize, name: usize) -> Answer {
        let query = Query::new(self);
        let mut found = modules::imported(&query, file, import, Some(name));
        // Of a declared module its file is wanted.
        for entity in &mut found.entities {
            if let Some(place @ Place::File(_)) = query.place_of(entity) {
                *entity = Entity::Module(place);
            }
        }
        query.answer_of(found, "import")
    }

    /// What a file offers to others, re-exports included.
    pub fn exports(&self, file: u32) -> Vec<Offered> {
        let query = Query::new(self);
        modules::of(&query, file).offers(&query, file)
    }
}

/// Whether two definitions of the same name in the same scope may be one thing.
fn alike(one: Kind, other: Kind) -> bool {
    one == other || (one.is_callable() && other.is_callable())
}

impl Query<'_> {
    fn reference(&self, file: u32, reference: &Reference) -> Answer {
        let site = Site { file, scope: reference.scope, at: reference.start };
        let Some(scopes) = self.scopes(file) else { return Answer::unknown() };
        let name = scopes.facts().text(reference.name);
        match scopes.facts().expr(reference.receiver) {
            None if matches!(reference.role, Role::Import | Role::Export) => {
                self.import_name(site, reference)
            }
            None => {
                let space = match self.is_path_start(file, reference) {
                    true => Space::Type,
                    false => modules::of(self, file).space(reference.role),
                };
                let found = self.name(site, reference.name, space);
                if found.is_empty() && modules::family(self, file) == Family::C {
                    return self.only_definition(reference, name);
                }
                let found = self.by_arguments(found, reference, name);
                let reason = if found.via.is_empty() { "scope" } else { "import" };
                self.answer_of(found, reason)
            }
            Some(receiver) => {
                let path = matches!(receiver, Expr::Name(_))
                    && self.sign_before(file, reference).unwrap_or_else(|| self.is_type_like(site, receiver));
                let base = self.eval_base(site, reference.receiver, path);
                if let Some(declared) = self.associated(site, receiver, reference, name) {
                    return declared;
                }
                let used = if reference.role == Role::Call { Use::CALL } else { Use::READ };
                let (found, _) = self.member_used(&base, name, used.untyped(), site);
                let found =
                    match self.has_spaces(file) && (reference.role != Role::Call || !self.two_spaces(file)) {
                        true => self.prefer(found, modules::of(self, file).space(reference.role)),
                        false => found,
                    };
                if !found.is_empty() {
                    let found = self.by_arguments(found, reference, name);
                    if self.is_of_any(&base, reference) {
                        let answer = self.answer_of(found, "the trait; the value may have its own");
                        return Answer { label: answer.label.max(Label::Likely), ..answer };
                    }
                    let reason = match (&base, receiver) {
                        (Ty::External, _) => FROM_OUTSIDE,
                        (Ty::Module(_), _) => "module",
                        (_, Expr::This | Expr::Super) => "own type",
                        _ => "type of the receiver",
                    };
                    return self.answer_of(found, reason);
                }
                match base {
                    Ty::External | Ty::Known(..) => Answer {
                        meaning: Meaning::External(String::new()),
                        label: Label::Resolved,
                        reason: "type outside",
                        chain: Vec::new(),
                    },
                    // A type that is known and does not have it: something is not understood.
                    Ty::Instance(..) | Ty::Type(..) if self.is_checked(file) => Answer::unknown(),
                    _ => self.only_candidate(site, reference, name, &base),
                }
            }
        }
    }

    /// Whether a bare name is the beginning of a path: then it is a type or a module, whatever value has its name.
    fn is_path_start(&self, file: u32, reference: &Reference) -> bool {
        let Some(facts) = self.facts(file).filter(|_| self.two_spaces(file)) else { return false };
        let next = reference.span(facts).end + 2;
        let after = facts.references.partition_point(|other| other.start < next);
        facts.references.get(after).is_some_and(|other| {
            other.start == next && facts.expr(other.receiver) == Some(&Expr::Name(reference.name))
        })
    }

    /// Whether a name comes after `::` rather than `.`, where the receiver is a bare name right before it.
    fn sign_before(&self, file: u32, reference: &Reference) -> Option<bool> {
        let facts = self.facts(file).filter(|_| self.two_spaces(file))?;
        let at = facts.references.partition_point(|other| other.start < reference.start);
        let before = facts.references.get(at.checked_sub(1)?)?;
        let same = facts.expr(reference.receiver) == Some(&Expr::Name(before.name));
        match reference.start.checked_sub(before.span(facts).end).filter(|_| same)? {
            1 => Some(false),
            2 => Some(true),
            _ => None,
        }
    }

    /// `Self::Item` in an `impl` of a trait means what the trait declares.
    fn associated(&self, site: Site, receiver: &Expr, reference: &Reference, name: &str) -> Option<Answer> {
        let facts = self.facts(site.file).filter(|_| self.two_spaces(site.file))?;
        let own =
            matches!(receiver, Expr::Name(of) if facts.text(*of) == "Self") && reference.role == Role::Type;
        let block = self.type_around(site).filter(|_| own)?;
        let definition = self.definition(block).filter(|found| found.kind == Kind::Impl)?;
        let declared = self
            .named_bases(block, &definition.bases)
            .into_iter()
            .find_map(|base| self.member_of(base, name).first().copied())?;
        Some(self.answer_of(Found::one(Entity::Def(declared)), "trait"))
    }

    /// `Trait::method(value)`: what the value's own type makes of the method cannot be told from the name.
    fn is_of_any(&self, base: &Ty, reference: &Reference) -> bool {
        let Ty::Type(def, _) = base else { return false };
        reference.role == Role::Call && self.definition(*def).is_some_and(|found| found.kind == Kind::Trait)
    }

    /// Of several, those in a space; all if none is.
    pub(super) fn prefer(&self, found: Found, space: Space) -> Found {
        let wanted = self.in_space(found.clone(), space);
        if wanted.is_empty() { found } else { wanted }
    }

    /// Whether a name before `.` or `::` can only be a type or a module.
    fn is_type_like(&self, site: Site, receiver: &Expr) -> bool {
        let Expr::Name(name) = receiver else { return false };
        if !self.two_spaces(site.file) {
            return false;
        }
        let found = self.name(site, *name, Space::Value);
        // Nothing of that name is a value.
        !found.entities.iter().any(|entity| match entity {
            Entity::Local(..) => true,
            Entity::Def(def) => self
                .definition(*def)
                .is_some_and(|found| matches!(found.kind, Kind::Constant | Kind::Variable | Kind::Function)),
            _ => false,
        })
    }

    /// A name that is written in an import or an export.
    fn import_name(&self, site: Site, reference: &Reference) -> Answer {
        let Some(scopes) = self.scopes(site.file) else { return Answer::unknown() };
        match scopes.imported_at(reference.start) {
            Some(Target::Import(import, name)) => {
                let found = modules::imported(self, site.file, import, name);
                self.answer_of(found, "import")
            }
            _ => {
                let found = self.name(site, reference.name, Space::Any);
                self.answer_of(found, "scope")
            }
        }
    }

    /// Makes an answer of what was found.
    pub(super) fn answer_of(&self, found: Found, reason: &'static str) -> Answer {
        let mut defs: Vec<Def> = Vec::new();
        let mut files: Vec<u32> = Vec::new();
        let mut external = None;
        let mut local = None;
        for entity in &found.entities {
            match entity {
                Entity::Def(def) => {
                    if !defs.contains(def) {
                        defs.push(*def);
                    }
                }
                Entity::Module(place) => files.extend(self.program.files_of(place)),
                Entity::External(package) => external = Some(package.to_string()),
                Entity::Local(_, index) => local = Some(*index),
            }
        }
        let defs = self.with_elsewhere(defs);
        if self.are_different(&defs) {
            let meaning = Meaning::Definitions(defs);
            return Answer {
                meaning,
                label: Label::Likely,
                reason: "one of several that fit",
                chain: found.via,
            };
        }
        let meaning = match (defs.is_empty(), local, files.is_empty(), external) {
            (false, ..) => Meaning::Definitions(defs),
            (_, Some(index), ..) => Meaning::Local(index),
            (_, _, false, _) => Meaning::Module(files),
            (.., Some(package)) => Meaning::External(package),
            _ => return Answer::unknown(),
        };
        Answer { meaning, label: Label::Resolved, reason, chain: found.via }
    }

    /// Whether definitions are not variants of one thing: of the same name in the same surroundings of one file, as
    /// overloads and what `cfg` chooses from.
    fn are_different(&self, defs: &[Def]) -> bool {
        let Some((first, rest)) = defs.split_first() else { return false };
        let Some(facts) = self.facts(first.file).filter(|_| !rest.is_empty()) else { return false };
        let block = |def: &Def| {
            let around = facts.definition(def.id).and_then(|found| facts.definition(found.parent));
            around.filter(|around| around.kind == Kind::Impl && !around.bases.is_empty()).is_some()
        };
        let same = self.elsewhere(*first);
        rest.iter().filter(|def| !same.contains(def)).any(|def| {
            def.file != first.file
                || facts.parent_path(def.id) != facts.parent_path(first.id)
                || (block(def) && self.two_spaces(def.file))
        })
    }

    /// The only member of that name and number of arguments in the workspace, if being the only one says something.
    fn only_candidate(&self, site: Site, reference: &Reference, name: &str, base: &Ty) -> Answer {
        let language = self.language(site.file);
        if known::is_common(language, name) || matches!(base, Ty::Module(_)) {
            return Answer::unknown();
        }
        let family = Family::of(language);
        // Of what is known in Python, all members are known that are not outside.
        if family == Family::Python && !matches!(base, Ty::Unknown | Ty::Union(_)) {
            return Answer::unknown();
        }
        // An object whose type is known has what the type says; and what is only read may be a key of any object.
        let is_open = matches!(base, Ty::Unknown | Ty::Union(_) | Ty::Param(..));
        if family == Family::Script && (!is_open || reference.role != Role::Call) {
            return Answer::unknown();
        }
        // A type that is known to its last base has no other members; in Rust any trait may give it some.
        if let Ty::Instance(def, _) | Ty::Type(def, _) = base
            && family != Family::Rust
            && !self.has_unseen_bases(*def)
        {
            return Answer::unknown();
        }
        let members = self.ask(Question::Named(name.into()), || self.members_named(name));
        let fits = |def: &&Def| {
            modules::family(self, def.file) == family
                && self.definition(**def).is_some_and(|definition| fits(definition, reference))
        };
        let fitting: Vec<Def> = members.iter().filter(fits).copied().collect();
        let Some(only) = self.one_of(&fitting) else { return Answer::unknown() };
        Answer {
            meaning: Meaning::Definitions(vec![only]),
            label: Label::Likely,
            reason: "the only member of that name",
            chain: Vec::new(),
        }
    }

    fn members_named(&self, name: &str) -> Vec<Def> {
        let mut found = Vec::new();
        for file in self.program.files_with(name) {
            let Some(facts) = self.facts(file) else { continue };
            for (index, definition) in facts.definitions.iter().enumerate() {
                let member = facts.definition(definition.parent).is_some_and(|around| around.kind.is_type())
                    || definition.owner.is_some()
                    || self.scopes(file).is_some_and(|scopes| scopes.is_of_object(definition));
                if member && facts.text(definition.name) == name {
                    found.push(Def { file, id: DefId::new(index) });
                }
            }
        }
        found
    }

    /// The one thing that several definitions are: overloads of one, or a trait's method and what implements it.
    fn one_of(&self, defs: &[Def]) -> Option<Def> {
        let first = *defs.first()?;
        if defs.len() == 1 {
            return Some(first);
        }
        let same = self.program.same(first);
        if defs.iter().all(|def| same.contains(def)) {
            return Some(first);
        }
        let kind_around = |def: &Def| {
            let definition = self.definition(*def)?;
            self.definition(Def { file: def.file, id: definition.parent }).map(|around| around.kind)
        };
        let mut declared = defs.iter().filter(|def| kind_around(def) == Some(Kind::Trait));
        let (declared, more) = (declared.next()?, declared.next());
        let around = Def { file: declared.file, id: self.definition(*declared)?.parent };
        let implements = |def: &Def| {
            let definition = self.definition(*def)?;
            let block = Def { file: def.file, id: definition.parent };
            Some(def == declared || self.implements(block, around))
        };
        (more.is_none() && defs.iter().all(|def| implements(def) == Some(true))).then_some(*declared)
    }
}

/// Whether a use can mean a member: fields are not called with arguments, and methods take as many as they say.
pub(super) fn fits(definition: &Definition, reference: &Reference) -> bool {
    match reference.role {
        Role::Call if definition.kind.is_callable() => {
            let most = definition.params.len();
            let least = definition.params.iter().filter(|param| !param.optional && !param.rest).count();
            let args = usize::from(reference.args);
            let variadic =
                definition.flags.has(Flags::VARIADIC) || definition.params.iter().any(|param| param.rest);
            reference.args == ARGS_UNKNOWN || (args >= least && (variadic || args <= most))
        }
        Role::Call => !matches!(definition.kind, Kind::Variant),
        Role::Write => !definition.kind.is_callable() || definition.flags.has(Flags::ACCESSOR),
        _ => true,
    }
}
