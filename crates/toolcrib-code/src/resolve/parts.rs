//! Parts of values: fields, elements, what a variant or a wrapper holds, what a method hands to a function.

use super::known;
use super::query::{Query, Site, Space};
use super::types::Ty;
use crate::facts::{Part, ScopeId};

/// Members that say what one gets by going over a value, the nearest to that first.
const ITERATED: [&str; 7] =
    ["Item", "__next__", "__iter__", "__anext__", "__aiter__", "__getitem__", "[Symbol.iterator]"];

impl Query<'_> {
    /// A part of a value.
    pub(super) fn part(&self, whole: Ty, part: Part, site: Site) -> Ty {
        let text = |name| self.facts(site.file).map_or("", |facts| facts.text(name));
        match part {
            Part::Whole => whole,
            Part::Element => self.element(&whole, site),
            Part::Index(at) => self.nth(&whole, usize::from(at), site),
            Part::Field(name) => self.value_of(&whole, text(name), site),
            Part::Variant(name, at) => self.in_variant(&whole, text(name), usize::from(at), site),
            Part::Given(method, at) => self.given(&whole, text(method), usize::from(at), site),
            Part::Entered => self.entered(&whole, site),
            Part::Unknown => Ty::Unknown,
        }
    }

    pub(super) fn value_of(&self, of: &Ty, name: &str, site: Site) -> Ty {
        self.member(of, name, site).1
    }

    /// What a context manager gives.
    fn entered(&self, whole: &Ty, site: Site) -> Ty {
        if let Ty::Known(..) = whole {
            return known::entered(whole).unwrap_or_default();
        }
        let method = self.member(whole, "__enter__", site);
        let method = if method.0.is_empty() { self.member(whole, "__aenter__", site) } else { method };
        match method.0.is_empty() {
            true => known::entered(whole).unwrap_or(Ty::Unknown),
            false => match self.call(&method.1, site) {
                Ty::Unknown => whole.clone(),
                known => known,
            },
        }
    }

    fn nth(&self, whole: &Ty, at: usize, site: Site) -> Ty {
        match whole {
            Ty::Tuple(members) => members.get(at).cloned().unwrap_or_default(),
            Ty::Known(..) => self.element(whole, site),
            Ty::Union(members) => Ty::union(members.iter().map(|ty| self.nth(ty, at, site)).collect()),
            Ty::External => Ty::External,
            _ => Ty::Unknown,
        }
    }

    /// What one gets by going over a value.
    pub(super) fn element(&self, of: &Ty, site: Site) -> Ty {
        if let Some(made_of) = self.beneath(of) {
            return self.element(&made_of, site);
        }
        match of {
            Ty::Known(name, args) => known::element(self.language(site.file), name, args),
            Ty::Tuple(members) => Ty::union(members.to_vec()),
            Ty::Union(members) => Ty::union(members.iter().map(|ty| self.element(ty, site)).collect()),
            Ty::External => Ty::External,
            Ty::Instance(..) | Ty::Param(..) => {
                for name in ITERATED {
                    let (found, ty) = self.member(of, name, site);
                    if !found.is_empty() {
                        let given = self.call(&ty, site);
                        return match name {
                            "Item" => self.as_value(ty),
                            "__next__" | "__anext__" | "__getitem__" => given,
                            _ if given == *of => Ty::Unknown,
                            _ => self.element(&given, site),
                        };
                    }
                }
                Ty::Unknown
            }
            _ => Ty::Unknown,
        }
    }

    /// A type used where a value of it is meant.
    pub(super) fn as_value(&self, ty: Ty) -> Ty {
        match ty {
            Ty::Type(def, args) => Ty::Instance(def, args),
            other => other,
        }
    }

    /// What a method hands to the function that it is given.
    fn given(&self, of: &Ty, method: &str, at: usize, site: Site) -> Ty {
        if let Some(made_of) = self.beneath(of) {
            return self.given(&made_of, method, at, site);
        }
        match of {
            Ty::Known(name, args) => match known::given(self.language(site.file), name, method, at) {
                Some(shape) => known::shaped(shape, of, args),
                None => Ty::Unknown,
            },
            Ty::Union(members) => {
                Ty::union(members.iter().map(|ty| self.given(ty, method, at, site)).collect())
            }
            _ => self.handed(of, method, at, site),
        }
    }

    fn in_variant(&self, whole: &Ty, name: &str, at: usize, site: Site) -> Ty {
        match whole {
            Ty::Known("Option" | "Result", args) if matches!(name, "Some" | "Ok") => {
                args.first().cloned().unwrap_or_default()
            }
            Ty::Known("Result", args) if name == "Err" => args.get(1).cloned().unwrap_or_default(),
            Ty::Known(..) | Ty::External => Ty::External,
            Ty::Union(members) => {
                Ty::union(members.iter().map(|ty| self.in_variant(ty, name, at, site)).collect())
            }
            Ty::Instance(def, args) => {
                for variant in self.member_of(*def, name) {
                    if let Some(param) = self.definition(variant).and_then(|found| found.params.get(at)) {
                        let scope = self.definition(variant).map_or(ScopeId::NONE, |found| found.scope);
                        let from = Site { file: variant.file, scope, at: 0 };
                        return self.applied(self.written(from, param.ty), *def, args);
                    }
                }
                Ty::Unknown
            }
            // `Struct(x)` of something unknown: the pattern says what it is.
            _ => {
                let Some(sym) = self.scopes(site.file).and_then(|scopes| scopes.find(name)) else {
                    return Ty::Unknown;
                };
                match self.type_of_found(&self.name(site, sym, Space::Type)) {
                    Ty::Type(def, args) => self.value_of(&Ty::Instance(def, args), &at.to_string(), site),
                    _ => Ty::Unknown,
                }
            }
        }
    }

    pub(super) fn awaited(&self, ty: Ty) -> Ty {
        match ty {
            Ty::Known("Future", args) => self.awaited(args.first().cloned().unwrap_or_default()),
            Ty::Union(members) => Ty::union(members.iter().map(|ty| self.awaited(ty.clone())).collect()),
            other => other,
        }
    }

    pub(super) fn tried(&self, ty: Ty) -> Ty {
        match ty {
            Ty::Known("Option" | "Result", args) => args.first().cloned().unwrap_or_default(),
            other => other,
        }
    }

    pub(super) fn indexed(&self, ty: Ty, site: Site) -> Ty {
        if let Some(made_of) = self.beneath(&ty) {
            return self.indexed(made_of, site);
        }
        match &ty {
            // A pointer, in C.
            Ty::Instance(def, _) if matches!(self.language(def.file), "c" | "cpp") => {
                match self.member(&ty, "operator[]", site) {
                    (found, _) if found.is_empty() => ty,
                    (_, method) => self.call(&method, site),
                }
            }
            Ty::Function(..) => ty,
            Ty::Known(name, args) => known::indexed(name, args),
            Ty::Instance(..) => {
                for name in ["__getitem__", "Output"] {
                    let (found, member) = self.member(&ty, name, site);
                    if !found.is_empty() {
                        return self.as_value(self.call(&member, site));
                    }
                }
                Ty::Unknown
            }
            Ty::Tuple(members) => Ty::union(members.to_vec()),
            Ty::Union(members) => {
                Ty::union(members.iter().map(|ty| self.indexed(ty.clone(), site)).collect())
            }
            Ty::External => Ty::External,
            // A generic class with its arguments, as `List[int]()`.
            Ty::Type(..) => ty,
            _ => Ty::Unknown,
        }
    }
}
