//! Types that are known from around a use: what was asked of a name before, what a function's decorator makes of it,
//! what the first parameter of a method is.

use super::modules::Family;
use super::program::Def;
use super::query::{Entity, Found, Query, Question, Site, Space};
use super::types::Ty;
use crate::facts::{BindingKind, Definition, Expr, ExprId, Flags, Sym, Type, TypeId};

impl Query<'_> {
    /// What `isinstance` says of a name at a place.
    pub(super) fn narrowed(&self, site: Site, name: Sym, found: &Found) -> Option<Ty> {
        let scopes = self.scopes(site.file).filter(|scopes| scopes.narrows())?;
        let index = scopes.narrowed(name, site.at)?;
        let known = scopes.facts().bindings.get(index)?;
        // A value that is given later is another one.
        let is_older = |start: u32| start <= known.start;
        let holds = match found.first()? {
            Entity::Local(file, local) if *file == site.file => {
                scopes.facts().bindings.get(*local).is_some_and(|local| is_older(local.start))
            }
            Entity::Def(def) => self.definition(*def).is_some(),
            _ => false,
        };
        holds.then(|| self.asked(site, index)).flatten()
    }

    /// What `isinstance` says of a path at a place.
    pub(super) fn narrowed_member(&self, site: Site, base: ExprId, name: &str) -> Option<Ty> {
        let scopes = self.scopes(site.file).filter(|scopes| scopes.narrows())?;
        let facts = scopes.facts();
        let mut path = name.to_owned();
        let mut at = base;
        for _ in 0..4 {
            match facts.expr(at)? {
                Expr::This => {
                    path.insert_str(0, "self.");
                    break;
                }
                Expr::Name(first) => {
                    path = format!("{}.{path}", facts.text(*first));
                    break;
                }
                Expr::Member { base, name, .. } => {
                    path = format!("{}.{path}", facts.text(*name));
                    at = *base;
                }
                _ => return None,
            }
        }
        let index = scopes.narrowed(scopes.find(&path)?, site.at)?;
        self.asked(site, index)
    }

    fn asked(&self, site: Site, index: usize) -> Option<Ty> {
        let known = self.facts(site.file)?.bindings.get(index)?;
        let from = Site { file: site.file, scope: known.scope, at: known.start };
        match self.written(from, known.ty) {
            Ty::Unknown => None,
            ty => Some(ty),
        }
    }

    /// What the receiver of a method is where its first parameter says nothing.
    pub(super) fn receiver(&self, file: u32, index: usize) -> Option<Ty> {
        let facts = self.facts(file)?;
        let binding = facts.bindings.get(index)?;
        if binding.kind != BindingKind::Parameter || binding.ty.is_some() || binding.value.is_some() {
            return None;
        }
        let function = facts.definition(facts.enclosing(binding.scope))?;
        let is_receiver = Family::of(self.language(file)) == Family::Python
            && function.body == binding.scope
            && function.flags.has(Flags::RECEIVER)
            && function.params.iter().all(|param| param.name != binding.name);
        let around = Def { file, id: function.parent };
        if !is_receiver || !self.definition(around)?.kind.is_type() {
            return None;
        }
        match (facts.text(binding.name), self.self_of(around)) {
            ("cls" | "mcs" | "metacls" | "klass", Ty::Instance(def, args)) => Some(Ty::Type(def, args)),
            (_, own) => Some(own),
        }
    }

    /// What a decorator makes of a function, if that is a value of a type of the workspace.
    pub(super) fn decorated(&self, def: Def, definition: &Definition) -> Option<Ty> {
        if definition.decorator.is_none() || definition.flags.has(Flags::ACCESSOR) {
            return None;
        }
        let made = self.ask(Question::Decorated(def), || {
            let site = Site { file: def.file, scope: definition.scope, at: definition.span.start };
            let decorator = self.eval(site, definition.decorator);
            let made = match self.call(&decorator, site) {
                Ty::Union(members) => members.to_vec(),
                one => vec![one],
            };
            let values = made.into_iter().filter(|ty| match ty {
                Ty::Instance(class, _) => self.member_of(*class, "__get__").is_empty(),
                _ => false,
            });
            Ty::union(values.collect())
        });
        (!made.is_unknown()).then_some(made)
    }

    /// The other definitions that a function of Python is one with: its overloads.
    pub(super) fn overloads(&self, def: Def, definition: &Definition) -> Vec<Def> {
        let is_python = Family::of(self.language(def.file)) == Family::Python;
        if !is_python || !definition.kind.is_callable() || definition.flags.has(Flags::ACCESSOR) {
            return Vec::new();
        }
        self.program.same(def).into_iter().filter(|other| *other != def).take(16).collect()
    }

    /// `object.__new__(T)`: a value of the type that is given.
    pub(super) fn made_of_type(&self, site: Site, callee: ExprId, first: ExprId) -> Option<Ty> {
        let facts = self.facts(site.file)?;
        let Expr::Member { name, .. } = facts.expr(callee)? else { return None };
        match (facts.text(*name), facts.expr(first)) {
            ("__new__", Some(_)) => match self.eval(site, first) {
                Ty::Type(def, args) => Some(Ty::Instance(def, args)),
                _ => None,
            },
            _ => None,
        }
    }

    /// What a function gives whose type is that of its first argument, or made of it.
    pub(super) fn solved(&self, def: Def, first: ExprId, site: Site) -> Option<Ty> {
        let definition = self.definition(def)?;
        let is_python = Family::of(self.language(def.file)) == Family::Python;
        if !is_python || first.is_none() || definition.ty.is_none() {
            return None;
        }
        let facts = self.facts(def.file)?;
        let param = definition.params.first().filter(|param| param.ty.is_some())?;
        let from = Site { file: def.file, scope: definition.scope, at: definition.name_start };
        let (variable, wrapped) = match facts.ty(param.ty)? {
            Type::Named { path, args } => match args.as_slice() {
                [] => (*path, None),
                [inner] => match facts.ty(*inner)? {
                    Type::Named { path: inner, args } if args.is_empty() => (*inner, Some(facts.text(*path))),
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        };
        if !self.is_variable(from, variable) {
            return None;
        }
        let given = self.eval(site, first);
        let meant = match (wrapped.map(|path| path.rsplit('.').next().unwrap_or(path)), given) {
            (_, Ty::Unknown) => return None,
            (None, given) => given,
            (Some("type" | "Type"), Ty::Type(def, args)) => Ty::Instance(def, args),
            (Some("type" | "Type"), _) => return None,
            (Some(_), given) => match self.element(&given, site) {
                Ty::Unknown => return None,
                element => element,
            },
        };
        self.with(from, definition.ty, variable, &meant, 0)
    }

    /// A written type with a type variable in it replaced; none if it is not in there.
    fn with(&self, site: Site, ty: TypeId, variable: Sym, meant: &Ty, depth: u32) -> Option<Ty> {
        let facts = self.facts(site.file)?;
        if depth > 8 {
            return None;
        }
        match facts.ty(ty)? {
            Type::Named { path, args } if args.is_empty() => (*path == variable).then(|| meant.clone()),
            Type::Named { path, args } => {
                let inner: Vec<Option<Ty>> =
                    args.iter().map(|arg| self.with(site, *arg, variable, meant, depth + 1)).collect();
                if inner.iter().all(Option::is_none) {
                    return None;
                }
                let all = inner.into_iter().zip(args);
                let all = all.map(|(one, arg)| one.unwrap_or_else(|| self.written(site, *arg))).collect();
                Some(self.named(site, facts.text(*path), all))
            }
            Type::Union(members) => {
                let found =
                    members.iter().filter_map(|one| self.with(site, *one, variable, meant, depth + 1));
                let found: Vec<Ty> = found.collect();
                (!found.is_empty()).then(|| Ty::union(found))
            }
            _ => None,
        }
    }

    /// Whether a name is one of a type variable.
    fn is_variable(&self, site: Site, name: Sym) -> bool {
        let found = self.name(site, name, Space::Type);
        let Some(Entity::Def(def)) = found.first() else { return false };
        let (Some(facts), Some(definition)) = (self.facts(def.file), self.definition(*def)) else {
            return false;
        };
        let Some(Expr::Call { callee, .. }) = facts.expr(definition.value) else { return false };
        match facts.expr(*callee) {
            Some(Expr::Name(name) | Expr::Member { name, .. }) => facts.text(*name) == "TypeVar",
            _ => false,
        }
    }
}
