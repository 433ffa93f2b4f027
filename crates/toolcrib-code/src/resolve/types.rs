//! Types of expressions, as far as they are written down somewhere: annotations, constructors, fields, what functions
//! return. No inference beyond that, and no guess: what is not known is unknown.

use std::sync::Arc;

use super::known;
use super::members::Use;
use super::modules::{self, Family};
use super::program::Def;
use super::query::{Entity, Found, Place, Query, Question, Site, Space};
use super::scopes::Target;
use crate::facts::{BindingKind, Definition, Expr, ExprId, Flags, Kind, Literal, Role, Type, TypeId};

/// The type of a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Ty {
    /// It may be anything.
    #[default]
    Unknown,
    /// Of a type that is not in the workspace.
    External,
    /// No value but a module.
    Module(Place),
    /// No value but a type.
    Type(Def, Args),
    /// A value of a type of the workspace.
    Instance(Def, Args),
    /// A value of a well-known type of the language's library.
    Known(&'static str, Args),
    /// A function that was not called yet, with the arguments of the type it is a member of.
    Function(Def, Box<Ty>),
    /// Something that gives this when called.
    Returns(Box<Ty>),
    Tuple(Args),
    /// One of these.
    Union(Args),
    /// A function of the library that makes a well-known type around its first argument.
    Holds(&'static str),
    /// A type parameter: a binding of a file.
    Param(u32, usize),
    /// A function by what it takes and gives.
    Signature(Args, Box<Ty>),
    /// In the place of what a function that is handed over gives.
    Given,
}

pub(super) type Args = Arc<[Ty]>;

pub(super) fn none() -> Args {
    Arc::from([])
}

impl Ty {
    pub(super) fn is_unknown(&self) -> bool {
        matches!(self, Ty::Unknown)
    }

    pub(super) fn union(members: Vec<Ty>) -> Ty {
        let mut all: Vec<Ty> = Vec::new();
        for member in members {
            match member {
                Ty::Union(inner) => {
                    all.extend(inner.iter().filter(|ty| !all.contains(ty)).cloned().collect::<Vec<_>>())
                }
                other if !all.contains(&other) => all.push(other),
                _ => {}
            }
        }
        match all.len() {
            0 => Ty::Unknown,
            1 => all.pop().unwrap_or_default(),
            _ => Ty::Union(all.into()),
        }
    }

    /// Whether what a function that is handed over gives is in it.
    pub(super) fn has_given(&self) -> bool {
        match self {
            Ty::Given => true,
            Ty::Known(_, args) | Ty::Tuple(args) | Ty::Union(args) => args.iter().any(Ty::has_given),
            _ => false,
        }
    }

    pub(super) fn known(name: &'static str, args: Vec<Ty>) -> Ty {
        Ty::Known(name, args.into())
    }
}

impl Query<'_> {
    /// The type of an expression, seen from a place.
    pub(super) fn eval(&self, site: Site, expr: ExprId) -> Ty {
        let Some(facts) = self.facts(site.file) else { return Ty::Unknown };
        let Some(expr) = facts.expr(expr) else { return Ty::Unknown };
        if !self.step() {
            return Ty::Unknown;
        }
        let found = match expr {
            Expr::Unknown => Ty::Unknown,
            Expr::Name(name) => {
                let found = self.name(site, *name, Space::Value);
                match found.first() {
                    _ if let Some(ty) = self.narrowed(site, *name, &found) => ty,
                    Some(Entity::External(_)) => known::made(self.language(site.file), facts.text(*name)),
                    _ => self.type_of_found(&found),
                }
            }
            Expr::This => self.this(site),
            Expr::Super => self.base(site),
            Expr::Member { base, name, path } => {
                let known = self.narrowed_member(site, *base, facts.text(*name));
                known.unwrap_or_else(|| self.eval_member(site, (*base, *path), facts.text(*name), Use::READ))
            }
            Expr::Call { callee, first, .. } => {
                self.made_of_type(site, *callee, *first).unwrap_or_else(|| {
                    let callee = self.eval_callee(site, *callee);
                    self.call_with(&callee, *first, site)
                })
            }
            Expr::Typed(ty) => self.written(site, *ty),
            Expr::Await(inner) => self.awaited(self.eval(site, *inner)),
            Expr::Try(inner) => self.tried(self.eval(site, *inner)),
            Expr::Index(inner) => self.indexed(self.eval(site, *inner), site),
            Expr::Literal(literal) => self.literal(site, *literal),
            Expr::Inside(inner, at) => {
                let scope = self.scopes(site.file).map_or(site.scope, |scopes| scopes.scope_at(*at));
                self.eval(Site { scope, at: *at, ..site }, *inner)
            }
            Expr::Either(left, right) => Ty::union(vec![self.eval(site, *left), self.eval(site, *right)]),
            Expr::Tuple(all) => Ty::Tuple(all.iter().map(|one| self.eval(site, *one)).collect()),
            Expr::Filled(literal, first, second) => {
                let args = [*first, *second].into_iter().filter(|one| one.is_some());
                match self.literal(site, *literal) {
                    Ty::Known(name, _) => Ty::Known(name, args.map(|one| self.eval(site, one)).collect()),
                    other => other,
                }
            }
            Expr::Bound(index) => self.binding(site.file, *index as usize),
            Expr::List(first) => {
                Ty::known(known::list(self.language(site.file)), vec![self.eval(site, *first)])
            }
            Expr::Object(id) => Ty::Instance(Def { file: site.file, id: *id }, none()),
            Expr::Lambda { body, at } => {
                let scope = self.scopes(site.file).map_or(site.scope, |scopes| scopes.scope_at(*at));
                Ty::Returns(Box::new(self.eval(Site { file: site.file, scope, at: *at }, *body)))
            }
        };
        self.unstep();
        found
    }

    /// What is called: of a field and a method of one name the method.
    fn eval_callee(&self, site: Site, callee: ExprId) -> Ty {
        let Some(facts) = self.facts(site.file) else { return Ty::Unknown };
        match facts.expr(callee) {
            Some(Expr::Member { base, name, path }) if self.step() => {
                let found = self.eval_member(site, (*base, *path), facts.text(*name), Use::CALL);
                self.unstep();
                found
            }
            // Where functions have names of their own, a variable of that name is not called.
            Some(Expr::Name(name)) if modules::of(self, site.file).space(Role::Call) == Space::Call => {
                let found = self.name(site, *name, Space::Call);
                match found.first() {
                    None => self.eval(site, callee),
                    Some(_) => self.type_of_found(&found),
                }
            }
            _ => self.eval(site, callee),
        }
    }

    fn eval_member(&self, site: Site, (base, path): (ExprId, bool), name: &str, used: Use) -> Ty {
        let made = if path { self.made_by_library(site, base, name) } else { None };
        made.unwrap_or_else(|| {
            let base = self.eval_base(site, base, path);
            self.member_used(&base, name, used, site).1
        })
    }

    /// What `Type::name` of the library makes, if that is a well-known type.
    fn made_by_library(&self, site: Site, base: ExprId, name: &str) -> Option<Ty> {
        let facts = self.facts(site.file)?;
        let of = match facts.expr(base)? {
            Expr::Name(of) => *of,
            _ => return None,
        };
        match self.name(site, of, Space::Type).first() {
            Some(Entity::External(_)) => known::made_by(self.language(site.file), facts.text(of), name),
            _ => None,
        }
    }

    /// What stands before `.` or `::`: in a path it is a type or a module rather than a value of the same name.
    pub(super) fn eval_base(&self, site: Site, base: ExprId, path: bool) -> Ty {
        let expr = self.facts(site.file).and_then(|facts| facts.expr(base));
        match expr {
            Some(Expr::Name(name)) if path || self.is_path_name(site, *name) => {
                self.type_of_found(&self.name(site, *name, Space::Type))
            }
            Some(Expr::Member { base, name, path: true }) if path => {
                let base = self.eval_base(site, *base, true);
                let name = self.facts(site.file).map_or("", |facts| facts.text(*name));
                let found = self.in_space(self.member(&base, name, site).0, Space::Type);
                self.type_of_found(&found)
            }
            Some(Expr::Typed(ty)) => self.written(site, *ty),
            _ => self.eval(site, base),
        }
    }

    fn is_path_name(&self, site: Site, name: crate::facts::Sym) -> bool {
        let text = self.facts(site.file).map_or("", |facts| facts.text(name));
        self.two_spaces(site.file) && matches!(text, "self" | "super" | "crate" | "Self" | "$crate")
    }

    fn literal(&self, site: Site, literal: Literal) -> Ty {
        known::literal(self.language(site.file), literal)
    }

    /// What `self` is at a place.
    pub(super) fn this(&self, site: Site) -> Ty {
        // A function may say what it is called on.
        if let Some(said) = self.scopes(site.file).and_then(|scopes| scopes.name_of_this(site.scope, site.at))
        {
            return self.binding(site.file, said);
        }
        let Some(around) = self.type_around(site) else { return Ty::Unknown };
        self.self_of(around)
    }

    /// A value of the type that is around something: of an `impl` with the arguments that it is for.
    pub(super) fn self_of(&self, around: Def) -> Ty {
        let Some(definition) = self.definition(around) else { return Ty::Unknown };
        if definition.kind == Kind::Impl {
            let site = Site { file: around.file, scope: definition.body, at: definition.name_start };
            return self.written(site, definition.ty);
        }
        Ty::Instance(around, self.params_of(around))
    }

    /// The type parameters of a definition, as types.
    fn params_of(&self, def: Def) -> Args {
        self.parameters(def).iter().map(|index| Ty::Param(def.file, *index)).collect()
    }

    pub(super) fn parameters(&self, def: Def) -> &[usize] {
        match (self.scopes(def.file), self.definition(def)) {
            (Some(scopes), Some(definition)) => scopes.type_parameters(definition.body),
            _ => &[],
        }
    }

    /// The bases of the type around.
    fn base(&self, site: Site) -> Ty {
        let Some(around) = self.type_around(site) else { return Ty::Unknown };
        let Some(definition) = self.definition(around) else { return Ty::Unknown };
        let at = Site { file: around.file, scope: definition.scope, at: definition.name_start };
        Ty::union(definition.bases.iter().map(|base| self.written(at, *base)).collect())
    }

    /// The type that something found has as a value, or is.
    pub(super) fn type_of_found(&self, found: &Found) -> Ty {
        match found.entities.as_slice() {
            [] => Ty::Unknown,
            [one] => self.type_of(one),
            several => {
                let defs: Vec<Ty> = several.iter().map(|entity| self.type_of(entity)).collect();
                // A type that there is in several variants is any of them.
                if defs.iter().any(|ty| matches!(ty, Ty::Type(..))) {
                    return Ty::union(defs.into_iter().filter(|ty| matches!(ty, Ty::Type(..))).collect());
                }
                // Overloads and variants of one thing: the first that is known.
                let first = defs.iter().find(|ty| !ty.is_unknown()).cloned();
                first.unwrap_or_default()
            }
        }
    }

    pub(super) fn type_of(&self, entity: &Entity) -> Ty {
        match entity {
            Entity::Def(def) => self.type_of_def(*def),
            Entity::Local(file, index) => self.binding(*file, *index),
            Entity::Module(place) => Ty::Module(place.clone()),
            Entity::External(_) => Ty::External,
        }
    }

    /// The type of what a definition defines.
    pub(super) fn type_of_def(&self, def: Def) -> Ty {
        let Some(definition) = self.definition(def) else { return Ty::Unknown };
        match definition.kind {
            Kind::Function | Kind::Method | Kind::Constructor => self
                .decorated(def, definition)
                .unwrap_or_else(|| Ty::Function(def, Box::new(self.around(def)))),
            Kind::Variant => Ty::Function(def, Box::new(self.around(def))),
            Kind::Module => self.place_of(&Entity::Def(def)).map_or(Ty::Unknown, Ty::Module),
            Kind::Impl => self.own_type(def).map_or(Ty::Unknown, |own| Ty::Type(own, none())),
            Kind::Type => self.alias(def, definition),
            kind if kind.is_type() => Ty::Type(def, self.params_of(def)),
            Kind::Macro => Ty::Unknown,
            _ => self.ask(Question::Definition(def), || {
                let site = self.site_of(def, definition);
                match definition.ty.is_some() {
                    true => self.written(site, definition.ty),
                    false => self.eval(site, definition.value),
                }
            }),
        }
    }

    /// An alias is what it stands for; one that stands for nothing is a type of its own.
    fn alias(&self, def: Def, definition: &Definition) -> Ty {
        if definition.ty.is_none() || definition.flags.has(Flags::DISTINCT) {
            return Ty::Type(def, self.params_of(def));
        }
        let found = self.ask(Question::Definition(def), || {
            let scope = if definition.body.is_some() { definition.body } else { definition.scope };
            self.written(Site { file: def.file, scope, at: definition.name_start }, definition.ty)
        });
        match found {
            Ty::Instance(of, args) => Ty::Type(of, args),
            Ty::Union(_) | Ty::Tuple(_) if Family::of(self.language(def.file)) == Family::Script => found,
            Ty::Unknown | Ty::Union(_) | Ty::Tuple(_) => Ty::Type(def, self.params_of(def)),
            other => other,
        }
    }

    /// Where the type and value of a definition are to be read.
    pub(super) fn site_of(&self, def: Def, definition: &Definition) -> Site {
        let scope = match (definition.kind.is_callable(), definition.body.is_some()) {
            (true, true) => definition.body,
            _ if definition.value.is_some() && definition.ty.is_none() => self
                .scopes(def.file)
                .map_or(definition.scope, |scopes| scopes.scope_at(definition.name_start)),
            _ => definition.scope,
        };
        Site { file: def.file, scope, at: definition.name_start.saturating_sub(1) }
    }

    /// The type that a definition is a member of, as a value.
    fn around(&self, def: Def) -> Ty {
        let Some(definition) = self.definition(def) else { return Ty::Unknown };
        let parent = Def { file: def.file, id: definition.parent };
        match self.definition(parent) {
            Some(around) if around.kind.is_type() => self.self_of(parent),
            _ if definition.owner.is_some() => {
                let scope = if definition.body.is_some() { definition.body } else { definition.scope };
                let site = Site { file: def.file, scope, at: definition.name_start };
                match self.written(site, definition.owner) {
                    own @ Ty::Instance(..) => own,
                    _ => Ty::Unknown,
                }
            }
            _ => Ty::Unknown,
        }
    }

    /// What a type of its own is made of, down to what is none.
    pub(super) fn beneath(&self, ty: &Ty) -> Option<Ty> {
        let mut at = ty.clone();
        for depth in 0..16 {
            let Ty::Instance(def, args) = &at else { return (depth > 0).then_some(at) };
            let made = self.definition(*def).filter(|found| found.flags.has(Flags::DISTINCT));
            let Some(definition) = made else { return (depth > 0).then_some(at) };
            let scope = if definition.body.is_some() { definition.body } else { definition.scope };
            let site = Site { file: def.file, scope, at: definition.name_start };
            let made_of = self.ask(Question::Definition(*def), || self.written(site, definition.ty));
            at = self.applied(made_of, *def, args);
        }
        None
    }

    /// The type of a local.
    pub(super) fn binding(&self, file: u32, index: usize) -> Ty {
        let Some(binding) = self.facts(file).and_then(|facts| facts.bindings.get(index)) else {
            return Ty::Unknown;
        };
        if binding.kind == BindingKind::TypeParameter {
            return Ty::Param(file, index);
        }
        self.ask(Question::Binding(file, index), || {
            if let Some(ty) = self.receiver(file, index) {
                return ty;
            }
            // In Python a name is not seen before its value ends, and the body of a function may begin with it.
            let before = u32::from(!self.scopes(file).is_some_and(|scopes| scopes.rules().class_body));
            let site = Site { file, scope: binding.scope, at: binding.start.saturating_sub(before) };
            let whole = match binding.ty.is_some() {
                true => self.written(site, binding.ty),
                false => self.eval(site, binding.value),
            };
            binding.part.steps().fold(whole, |whole, part| self.part(whole, part, site))
        })
    }

    /// What calling something with a first argument gives.
    fn call_with(&self, callee: &Ty, first: ExprId, site: Site) -> Ty {
        match callee {
            // `Some(x)`, `Arc::new(x)`: what is made holds what it is given.
            Ty::Holds(name) => known::held(name, self.eval(site, first), |ty| self.element(ty, site)),
            // `list.map(f)`: what is made holds what the function gives.
            Ty::Returns(ty) if ty.has_given() => {
                let given = self.awaited(self.call(&self.eval(site, first), site));
                replace(ty, &[Ty::Given], &[given])
            }
            Ty::Function(def, _) if let Some(ty) = self.solved(*def, first, site) => ty,
            Ty::Function(def, _) => self.inferred(*def, self.call(callee, site), first, site),
            _ => self.call(callee, site),
        }
    }

    /// What calling something gives.
    pub(super) fn call(&self, callee: &Ty, site: Site) -> Ty {
        match callee {
            Ty::Type(def, args) => Ty::Instance(*def, args.clone()),
            Ty::Function(def, of) => self.returned(*def, of),
            Ty::Returns(ty) | Ty::Signature(_, ty) => (**ty).clone(),
            Ty::Union(members) => Ty::union(members.iter().map(|ty| self.call(ty, site)).collect()),
            Ty::External => Ty::External,
            // In Java values are not called: the component of a record is, to get it.
            Ty::Known(..) | Ty::Instance(..) if self.language(site.file) == "java" => callee.clone(),
            Ty::Known(..) => Ty::External,
            Ty::Instance(..) => {
                if let Some(made_of) = self.beneath(callee) {
                    return self.call(&made_of, site);
                }
                let (found, method) = self.member(callee, "__call__", site);
                if found.is_empty() { Ty::Unknown } else { self.call(&method, site) }
            }
            _ => Ty::Unknown,
        }
    }

    /// What a function returns, called on a value of a type.
    fn returned(&self, def: Def, of: &Ty) -> Ty {
        let Some(definition) = self.definition(def) else { return Ty::Unknown };
        if definition.kind == Kind::Variant {
            return of.clone();
        }
        if definition.kind == Kind::Constructor && definition.ty.is_none() && !of.is_unknown() {
            return of.clone();
        }
        let raw = self.ask(Question::Definition(def), || {
            let one = |def: Def, definition: &Definition| {
                let site = self.site_of(def, definition);
                match definition.ty.is_some() {
                    true => self.written(site, definition.ty),
                    false => self.eval(site, definition.value),
                }
            };
            let others = self.overloads(def, definition).into_iter();
            let others = others.filter_map(|other| Some(one(other, self.definition(other)?)));
            match definition.kind.is_callable() {
                true => Ty::union([one(def, definition)].into_iter().chain(others).collect()),
                false => one(def, definition),
            }
        });
        // What `Self` and the parameters around are, the value says.
        let own = self.around(def);
        match (&own, of) {
            (Ty::Instance(around, params), Ty::Instance(value, args)) if around == value => {
                replace(&raw, params, args)
            }
            // A method of a base or trait that returns `Self` returns the value's own type.
            (Ty::Instance(around, _), Ty::Instance(..) | Ty::Known(..) | Ty::Param(..))
                if matches!(&raw, Ty::Instance(same, _) if same == around)
                    && self.returns_own(def, definition) =>
            {
                of.clone()
            }
            (Ty::Instance(around, params), Ty::Instance(value, args)) => {
                match self.seen_through(*value, args, *around) {
                    Some(args) => replace(&raw, params, &args),
                    None => raw,
                }
            }
            _ => raw,
        }
    }

    fn returns_own(&self, def: Def, definition: &Definition) -> bool {
        if Family::of(self.language(def.file)) == Family::Script {
            let facts = self.facts(def.file);
            let own = facts.and_then(|facts| facts.ty(definition.ty)) == Some(&Type::Own);
            return own || facts.and_then(|facts| facts.expr(definition.value)) == Some(&Expr::This);
        }
        definition.flags.has(Flags::RECEIVER) || definition.ty.is_some()
    }

    /// A type of a definition's inside with the definition's parameters replaced.
    pub(super) fn applied(&self, ty: Ty, def: Def, args: &Args) -> Ty {
        replace(&ty, &self.params_of(def), args)
    }

    /// The type that is written somewhere.
    pub(super) fn written(&self, site: Site, ty: TypeId) -> Ty {
        let Some(facts) = self.facts(site.file) else { return Ty::Unknown };
        let Some(ty) = facts.ty(ty) else { return Ty::Unknown };
        if !self.step() {
            return Ty::Unknown;
        }
        let found = match ty {
            Type::Named { path, args } => {
                let args: Vec<Ty> = args.iter().map(|arg| self.written(site, *arg)).collect();
                self.named(site, facts.text(*path), args)
            }
            Type::Pointer(inner) => self.written(site, *inner),
            Type::Array(inner) => {
                let list = known::list(self.language(site.file));
                Ty::known(list, vec![self.written(site, *inner)])
            }
            Type::Tuple(members) => {
                Ty::Tuple(members.iter().map(|member| self.written(site, *member)).collect())
            }
            Type::Union(members) => {
                Ty::union(members.iter().map(|member| self.written(site, *member)).collect())
            }
            Type::Function(returned) => Ty::Returns(Box::new(self.written(site, *returned))),
            Type::Callable { params, returns } => Ty::Signature(
                params.iter().map(|param| self.written(site, *param)).collect(),
                Box::new(self.written(site, *returns)),
            ),
            Type::Object(id) => {
                let def = Def { file: site.file, id: *id };
                Ty::Instance(def, self.params_of(def))
            }
            Type::Returned(of) => self.call(&self.written(site, *of), site),
            Type::Of(value) => self.eval(site, *value),
            Type::Indexed(of, name) => {
                let of = self.written(site, *of);
                match facts.text(*name) {
                    "" => self.indexed(of, site),
                    name => self.value_of(&of, name, site),
                }
            }
            Type::Own => self.this(site),
            Type::Unknown => Ty::Unknown,
        };
        self.unstep();
        found
    }

    /// The name that something imported has where it comes from.
    fn original_name(&self, found: &Found) -> Option<&str> {
        let (file, start) = *found.via.last()?;
        let facts = self.facts(file)?;
        match self.scopes(file)?.imported_at(start)? {
            Target::Import(import, Some(name)) => {
                let name = facts.imports.get(import)?.names.get(name)?;
                Some(facts.text(name.name)).filter(|_| name.alias.is_some())
            }
            _ => None,
        }
    }

    /// A type by its path, its names joined by `.`.
    pub(super) fn named(&self, site: Site, path: &str, args: Vec<Ty>) -> Ty {
        let mut names = path.split('.');
        let first = names.next().unwrap_or_default();
        let Some(sym) = self.scopes(site.file).and_then(|scopes| scopes.find(first)) else {
            return known::written(self.language(site.file), path, args);
        };
        let mut found = self.name(site, sym, Space::Type);
        for name in names {
            let base = self.type_of_found(&found);
            found = self.in_space(self.member(&base, name, site).0, Space::Type);
        }
        match found.first() {
            None => known::written(self.language(site.file), path, args),
            Some(Entity::External(package)) => {
                let language = self.language(site.file);
                match self.original_name(&found) {
                    Some(name) => known::imported(language, package, name, args),
                    None => known::imported(language, package, path, args),
                }
            }
            Some(entity) => match self.type_of(entity) {
                Ty::Type(def, params) => {
                    // An alias may name more than one type: its own parameters are replaced, not the target's.
                    match entity {
                        Entity::Def(named) if *named != def => {
                            let own = self.params_of(*named);
                            Ty::Instance(def, params.iter().map(|ty| replace(ty, &own, &args)).collect())
                        }
                        _ => Ty::Instance(def, args.into()),
                    }
                }
                // `Enum::Variant { … }`: its fields are its own, everything else is the enum's.
                Ty::Function(variant, _)
                    if self.definition(variant).is_some_and(|found| found.kind == Kind::Variant) =>
                {
                    Ty::Instance(variant, none())
                }
                other => {
                    let own = match entity {
                        Entity::Def(named) => self.params_of(*named),
                        _ => none(),
                    };
                    replace(&other, &own, &args)
                }
            },
        }
    }
}

/// A type with some types in it replaced by others, place by place.
pub(super) fn replace(ty: &Ty, from: &[Ty], to: &[Ty]) -> Ty {
    if from.is_empty() {
        return ty.clone();
    }
    let all = |args: &Args| -> Args { args.iter().map(|arg| replace(arg, from, to)).collect() };
    match ty {
        Ty::Param(..) | Ty::Given => match from.iter().position(|other| other == ty) {
            Some(at) => to.get(at).cloned().unwrap_or_else(|| ty.clone()),
            None => ty.clone(),
        },
        Ty::Instance(def, args) => Ty::Instance(*def, all(args)),
        Ty::Type(def, args) => Ty::Type(*def, all(args)),
        Ty::Known(name, args) => Ty::Known(name, all(args)),
        Ty::Tuple(args) => Ty::Tuple(all(args)),
        Ty::Union(args) => Ty::union(all(args).to_vec()),
        Ty::Returns(inner) => Ty::Returns(Box::new(replace(inner, from, to))),
        Ty::Signature(params, inner) => Ty::Signature(all(params), Box::new(replace(inner, from, to))),
        Ty::Function(def, of) => Ty::Function(*def, Box::new(replace(of, from, to))),
        Ty::Unknown | Ty::External | Ty::Module(_) | Ty::Holds(_) => ty.clone(),
    }
}
