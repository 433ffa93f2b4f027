//! What uses are looked for, and whether an answer is one.

use std::collections::BTreeSet;

use super::{Subject, family_of, own};
use crate::facts::{ARGS_UNKNOWN, Definition, FileFacts, Flags, Kind, Reference, Role};
use crate::resolve::{Answer, Def, FROM_OUTSIDE, Label, Meaning, Program};

/// The thing that is looked for.
#[derive(Debug, Default)]
pub(super) struct Target {
    /// Its definitions.
    pub(super) own: BTreeSet<Def>,
    /// A local instead: its file and binding.
    pub(super) local: Option<(u32, usize)>,
    /// Its names, as defined.
    pub(super) names: BTreeSet<String>,
    /// Languages that can use it.
    pub(super) family: &'static str,
    /// The language, if names are all that is known of it.
    pub(super) shallow: Option<&'static str>,
    /// Whether it is a type that `Self` can stand for.
    pub(super) own_type: bool,
    /// Whether it is a default export, so that others name it as they like.
    is_default: bool,
    /// Whether it is only ever used as a member of something.
    is_member: bool,
    /// Of a constructor, the type that it makes, and whether it is the only one.
    class: BTreeSet<Def>,
    class_names: BTreeSet<String>,
    only_constructor: bool,
    arity: Vec<(usize, usize)>,
    /// Of a module that is a file, the paths it can have.
    files: Vec<String>,
}

impl Target {
    pub(super) fn of(program: &Program, subject: Subject) -> Self {
        match subject {
            Subject::Definition(def) => Self::of_definition(program, def),
            Subject::Local { file, binding } => {
                let facts = program.facts(file);
                let name = facts.and_then(|facts| Some(facts.text(facts.bindings.get(binding)?.name)));
                let names = name.map(str::to_owned).into_iter().collect();
                Self {
                    local: Some((file, binding)),
                    names,
                    family: family_of(program, file),
                    ..Self::default()
                }
            }
        }
    }

    fn of_definition(program: &Program, def: Def) -> Self {
        let language = program.file(def.file).map(|file| file.language);
        let mut target = Self {
            own: own(program, def),
            family: family_of(program, def.file),
            shallow: language.filter(|language| !language.full).map(|language| language.name),
            is_member: true,
            ..Self::default()
        };
        let rust = language.is_some_and(|language| language.name == "rust");
        for one in target.own.clone() {
            let Some(facts) = program.facts(one.file) else { continue };
            let Some(definition) = facts.definition(one.id) else { continue };
            target.names.insert(facts.text(definition.name).to_owned());
            target.is_default |= definition.flags.has(Flags::DEFAULT_EXPORT);
            target.own_type |= rust && definition.kind.is_type();
            target.is_member &= is_member(facts, definition) && needs_receiver(target.family);
            target.arity.push(arity(definition));
            if definition.kind == Kind::Constructor && definition.parent.is_some() {
                target.construct(program, Def { file: one.file, id: definition.parent });
            }
            if definition.kind == Kind::Module && definition.flags.has(Flags::DECLARATION) {
                target.files.extend(module_files(program, one));
            }
        }
        target.name_sakes(program);
        target
    }

    /// It is a constructor of this type.
    fn construct(&mut self, program: &Program, class: Def) {
        self.class.extend(own(program, class));
        self.is_member = false;
        let mut others = 0;
        for one in &self.class {
            let Some(facts) = program.facts(one.file) else { continue };
            if let Some(definition) = facts.definition(one.id) {
                self.class_names.insert(facts.text(definition.name).to_owned());
                self.is_default |= definition.flags.has(Flags::DEFAULT_EXPORT);
            }
            for (index, other) in facts.definitions.iter().enumerate() {
                let id = crate::facts::DefId::new(index);
                let makes = other.kind == Kind::Constructor && other.parent == one.id;
                others += usize::from(makes && !self.own.contains(&Def { file: one.file, id }));
            }
        }
        self.only_constructor = others == 0;
    }

    /// Constructors that are called like the type: who names one names the other.
    fn name_sakes(&mut self, program: &Program) {
        for one in self.own.clone() {
            let Some(facts) = program.facts(one.file) else { continue };
            let Some(of) = facts.definition(one.id).filter(|of| of.kind.is_type()) else { continue };
            for (index, other) in facts.definitions.iter().enumerate() {
                if other.kind == Kind::Constructor && other.parent == one.id && other.name == of.name {
                    self.own.insert(Def { file: one.file, id: crate::facts::DefId::new(index) });
                }
            }
        }
    }

    /// All names to begin with.
    pub(super) fn search_names(&self) -> BTreeSet<String> {
        let mut names = &self.names | &self.class_names;
        if self.is_default {
            names.insert("default".to_owned());
        }
        names
    }

    /// Whether something means the target, or the type that the target makes.
    pub(super) fn is(&self, meaning: &Meaning) -> bool {
        match meaning {
            Meaning::Definitions(defs) => {
                defs.iter().any(|def| self.own.contains(def) || self.class.contains(def))
            }
            _ => false,
        }
    }

    /// Whether a use is one of the target, how sure that is, and why.
    pub(super) fn judge(
        &self,
        program: &Program,
        file: u32,
        facts: &FileFacts,
        reference: &Reference,
        answer: &Answer,
    ) -> Option<(Label, &'static str)> {
        let makes = matches!(reference.role, Role::Construct | Role::Call);
        match &answer.meaning {
            Meaning::Local(binding) => {
                (self.local == Some((file, *binding))).then_some((answer.label, answer.reason))
            }
            Meaning::Definitions(defs) if defs.iter().any(|def| self.own.contains(def)) => {
                Some((answer.label, answer.reason))
            }
            Meaning::Definitions(defs) if makes && defs.iter().any(|def| self.class.contains(def)) => {
                self.constructs(reference.args, answer)
            }
            Meaning::Module(files) => {
                let path = &program.file(*files.first()?)?.path;
                self.files.contains(path).then_some((answer.label, answer.reason))
            }
            // A value from outside may still be one of ours: what gave it need not say so.
            Meaning::External(_) if self.is_member && answer.reason == FROM_OUTSIDE => {
                let named = self.names.contains(facts.text(reference.name));
                named.then_some((Label::NameMatch, "same name, of a value from outside"))
            }
            Meaning::Unknown if self.local.is_none() => {
                let name = facts.text(reference.name);
                let named = self.names.contains(name) || (makes && self.class_names.contains(name));
                let bare = reference.receiver.is_none()
                    && !matches!(reference.role, Role::Import | Role::Export | Role::Attribute);
                // In Rust a bare name that nothing is known of stands in a macro, which may make anything of it.
                let impossible = bare && self.is_member && self.family != "rust";
                (named && !impossible).then_some((Label::NameMatch, "same name"))
            }
            _ => None,
        }
    }

    /// A use of the type as a use of the constructor: sure if there is no other, else by the number of arguments.
    fn constructs(&self, args: u8, answer: &Answer) -> Option<(Label, &'static str)> {
        if self.only_constructor {
            return Some((answer.label, answer.reason));
        }
        let fits = |(least, most): &(usize, usize)| (*least..=*most).contains(&usize::from(args));
        let fits = args == ARGS_UNKNOWN || self.arity.iter().any(fits);
        fits.then_some((answer.label.max(Label::Likely), "number of arguments"))
    }
}

/// How many arguments it takes, at least and at most.
fn arity(definition: &Definition) -> (usize, usize) {
    let least = definition.params.iter().filter(|param| !param.optional && !param.rest).count();
    let rest = definition.params.iter().any(|param| param.rest);
    (least, if rest { usize::MAX } else { definition.params.len() })
}

/// Variants are used by their bare names too.
fn is_member(facts: &FileFacts, definition: &Definition) -> bool {
    let around = facts.definition(definition.parent).is_some_and(|around| around.kind.is_type());
    let kind = matches!(definition.kind, Kind::Method | Kind::Field | Kind::Property);
    kind && (around || definition.owner.is_some())
}

/// Whether members are never used by their bare names.
fn needs_receiver(family: &str) -> bool {
    matches!(family, "rust" | "python" | "javascript" | "go")
}

/// Where the file of `mod name;` can be.
fn module_files(program: &Program, def: Def) -> Vec<String> {
    let Some((entry, facts)) = program.file(def.file).zip(program.facts(def.file)) else { return Vec::new() };
    let Some(definition) = facts.definition(def.id) else { return Vec::new() };
    let (folder, name) = entry.path.rsplit_once('/').unwrap_or(("", &entry.path));
    let stem = name.strip_suffix(".rs").unwrap_or(name);
    let mut parts: Vec<String> =
        folder.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    if !matches!(stem, "mod" | "lib" | "main" | "build") {
        parts.push(stem.to_owned());
    }
    let around = facts.parent_path(def.id);
    parts.extend(around.split('.').filter(|part| !part.is_empty()).map(str::to_owned));
    parts.push(facts.text(definition.name).to_owned());
    let base = parts.join("/");
    vec![format!("{base}.rs"), format!("{base}/mod.rs")]
}
