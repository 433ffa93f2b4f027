//! What a function that is handed to another takes and gives, and what a call says of type parameters.

use super::program::Def;
use super::query::{Query, Site};
use super::types::{Args, Ty, replace};
use crate::facts::ExprId;

/// How many types above a type are followed for their arguments.
const MAX_ABOVE: usize = 16;

impl Query<'_> {
    /// What something hands to the function that it is given: a method of a value, or without one the value itself.
    pub(super) fn handed(&self, of: &Ty, method: &str, at: usize, site: Site) -> Ty {
        let callee = match method {
            "" => of.clone(),
            _ => self.member(of, method, site).1,
        };
        let params: Vec<Ty> = match &callee {
            // A value that is assigned: it is itself the function.
            Ty::Signature(params, _) if method.is_empty() => {
                return match self.callback(params) {
                    Some(callback) if params.len() == 1 => callback.get(at).cloned().unwrap_or_default(),
                    _ => params.get(at).cloned().unwrap_or_default(),
                };
            }
            Ty::Signature(params, _) => params.to_vec(),
            Ty::Function(def, of) => self.params_as_types(*def, of),
            Ty::Type(class, args) => {
                let constructor = self.member_of(*class, "constructor").first().copied();
                let of = Ty::Instance(*class, args.clone());
                constructor.map(|constructor| self.params_as_types(constructor, &of)).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        let callback = self.callback(&params);
        callback.and_then(|params| params.get(at).cloned()).unwrap_or_default()
    }

    /// The parameters of the first function among types.
    fn callback(&self, params: &[Ty]) -> Option<Args> {
        params.iter().find_map(|param| match param {
            Ty::Signature(params, _) => Some(params.clone()),
            Ty::Union(members) => members.iter().find_map(|member| match member {
                Ty::Signature(params, _) => Some(params.clone()),
                _ => None,
            }),
            _ => None,
        })
    }

    /// The types of the parameters of a function, called on a value.
    fn params_as_types(&self, def: Def, of: &Ty) -> Vec<Ty> {
        let Some(definition) = self.definition(def) else { return Vec::new() };
        let site = self.site_of(def, definition);
        let around = Def { file: def.file, id: definition.parent };
        let types = definition.params.iter().map(|param| {
            let ty = self.written(site, param.ty);
            match of {
                Ty::Instance(value, args) => match self.seen_through(*value, args, around) {
                    Some(args) => self.applied(ty, around, &args),
                    None => ty,
                },
                _ => ty,
            }
        });
        types.collect()
    }

    /// The arguments that a type above has, seen from a type with arguments.
    pub(super) fn seen_through(&self, def: Def, args: &Args, above: Def) -> Option<Args> {
        let mut left = vec![(def, args.clone())];
        let mut seen = Vec::new();
        while let Some((at, args)) = left.pop() {
            if at == above {
                return Some(args);
            }
            if seen.contains(&at) || seen.len() > MAX_ABOVE || !self.step() {
                continue;
            }
            seen.push(at);
            if let Some(definition) = self.definition(at) {
                let scope = if definition.body.is_some() { definition.body } else { definition.scope };
                let site = Site { file: at.file, scope, at: definition.name_start };
                for base in definition.bases.iter().rev() {
                    if let Ty::Instance(base, given) | Ty::Type(base, given) = self.written(site, *base) {
                        let given = given.iter().map(|ty| self.applied(ty.clone(), at, &args)).collect();
                        left.push((base, given));
                    }
                }
            }
            self.unstep();
        }
        None
    }

    /// What a call returns when the first argument says what a type parameter of the function is.
    pub(super) fn inferred(&self, def: Def, returned: Ty, first: ExprId, site: Site) -> Ty {
        let own = self.parameters(def);
        let Some(definition) = self.definition(def).filter(|_| !own.is_empty() && first.is_some()) else {
            return returned;
        };
        let from: Vec<Ty> = own.iter().map(|index| Ty::Param(def.file, *index)).collect();
        let Some(param) = definition.params.first().filter(|_| mentions(&returned, &from)) else {
            return returned;
        };
        let wanted = self.written(self.site_of(def, definition), param.ty);
        let given = self.eval(site, first);
        let mut to = from.clone();
        self.unify(&wanted, &given, &from, &mut to, 0);
        replace(&returned, &from, &to)
    }

    fn unify(&self, wanted: &Ty, given: &Ty, from: &[Ty], to: &mut [Ty], depth: u32) {
        if depth > 6 || given.is_unknown() {
            return;
        }
        let all = |wanted: &[Ty], given: &[Ty], to: &mut [Ty]| {
            for (wanted, given) in wanted.iter().zip(given) {
                self.unify(wanted, given, from, to, depth + 1);
            }
        };
        match (wanted, given) {
            (Ty::Param(..), _) => {
                if let Some(at) = from.iter().position(|param| param == wanted)
                    && let Some(slot) = to.get_mut(at)
                    && *slot == *wanted
                {
                    *slot = given.clone();
                }
            }
            (Ty::Instance(one, wanted), Ty::Instance(other, given)) => {
                if let Some(given) = self.seen_through(*other, given, *one) {
                    all(wanted, &given, to);
                }
            }
            (Ty::Known(one, wanted), Ty::Known(other, given)) if one == other => all(wanted, given, to),
            (Ty::Tuple(wanted), Ty::Tuple(given)) => all(wanted, given, to),
            (Ty::Signature(_, wanted), Ty::Signature(_, given) | Ty::Returns(given)) => {
                self.unify(wanted, given, from, to, depth + 1);
            }
            (Ty::Signature(_, wanted), Ty::Function(..)) => {
                let given = self.call(given, Site { file: 0, scope: crate::facts::ScopeId::new(0), at: 0 });
                self.unify(wanted, &given, from, to, depth + 1);
            }
            (Ty::Union(members), _) => {
                for member in members.iter() {
                    self.unify(member, given, from, to, depth + 1);
                }
            }
            _ => {}
        }
    }
}

/// Whether a type has one of these parameters in it.
fn mentions(ty: &Ty, params: &[Ty]) -> bool {
    match ty {
        Ty::Param(..) => params.contains(ty),
        Ty::Instance(_, args)
        | Ty::Type(_, args)
        | Ty::Known(_, args)
        | Ty::Tuple(args)
        | Ty::Union(args) => args.iter().any(|arg| mentions(arg, params)),
        Ty::Returns(inner) | Ty::Function(_, inner) => mentions(inner, params),
        Ty::Signature(args, inner) => mentions(inner, params) || args.iter().any(|arg| mentions(arg, params)),
        _ => false,
    }
}
