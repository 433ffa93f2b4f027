//! What is known of types that are not in the workspace: the containers and wrappers of each language's library, as far
//! as values of the workspace's types come out of them again.

mod c;
mod go;
mod java;
pub(super) mod python;
mod rust;
mod script;

use super::types::{Args, Ty};
use crate::facts::Literal;

/// What a language's library is, for this purpose.
pub(super) struct Library {
    /// Names that need no import.
    pub everywhere: &'static [&'static str],
    /// Well-known types: the name that is written, and the one they go by here.
    pub types: &'static [(&'static str, &'static str)],
    /// Methods: the type (`*` for any), names, and the shape of what a call gives.
    pub methods: &'static [(&'static str, &'static str, &'static str)],
    /// What methods hand to the function they are given: the type, names, and a shape for each parameter.
    pub given: &'static [(&'static str, &'static str, &'static str)],
    /// Functions that make a well-known type around their first argument, with the type: `Box.new`, `Some`.
    pub makes: &'static [(&'static str, &'static str)],
    /// Types whose members are those of what is in them.
    pub through: &'static [&'static str],
    /// Member names that are so common outside that being the only one here says nothing.
    pub common: &'static [&'static str],
}

fn library(language: &str) -> Option<&'static Library> {
    match language {
        "rust" => Some(&rust::LIBRARY),
        "go" => Some(&go::LIBRARY),
        "java" => Some(&java::LIBRARY),
        "c" => Some(&c::PLAIN),
        "cpp" => Some(&c::PLUS),
        "python" => Some(&python::LIBRARY),
        "typescript" | "tsx" | "javascript" => Some(&script::LIBRARY),
        _ => None,
    }
}

/// Whether a name needs no import and is not of the workspace.
pub(super) fn is_everywhere(language: &str, name: &str) -> bool {
    library(language).is_some_and(|library| library.everywhere.contains(&name))
}

/// Whether a member's name says nothing about whose it is.
pub(super) fn is_common(language: &str, name: &str) -> bool {
    library(language).is_some_and(|library| {
        library.common.contains(&name)
            || library.methods.iter().any(|(_, names, _)| names.split(' ').any(|other| other == name))
    })
}

fn canonical(language: &str, name: &str) -> Option<&'static str> {
    let types = library(language)?.types;
    types.iter().find(|(written, _)| *written == name).map(|(_, canonical)| *canonical)
}

/// Whether a type of Rust's library that is written so goes by a name here.
pub(super) fn is_called(written: &str, known: &str) -> bool {
    canonical("rust", written) == Some(known)
}

/// A written type that nothing in the workspace is named by.
pub(super) fn written(language: &str, path: &str, args: Vec<Ty>) -> Ty {
    let last = path.rsplit('.').next().unwrap_or(path);
    match canonical(language, last) {
        Some(name) => known(name, args),
        None if is_everywhere(language, last) => Ty::External,
        None => Ty::Unknown,
    }
}

/// A written type that an import brings from outside.
pub(super) fn imported(language: &str, _package: &str, path: &str, args: Vec<Ty>) -> Ty {
    let last = path.rsplit('.').next().unwrap_or(path);
    canonical(language, last).map_or(Ty::External, |name| known(name, args))
}

fn known(name: &'static str, mut args: Vec<Ty>) -> Ty {
    if let Some(ty) = python::written(name, &args) {
        return ty;
    }
    match name {
        // A wrapper that is nothing but what it wraps.
        "=" => args.first().cloned().unwrap_or(Ty::External),
        "Optional" => args.pop().unwrap_or_default(),
        "Union" => Ty::union(args),
        "Tuple" => Ty::Tuple(args.into()),
        _ => Ty::Known(name, args.into()),
    }
}

/// What a call of a method of a well-known type gives.
pub(super) fn method(language: &str, ty: &str, name: &str) -> Option<&'static str> {
    let methods = library(language)?.methods;
    methods
        .iter()
        .filter(|(of, _, _)| *of == ty || *of == "*")
        .find(|(_, names, _)| names.split(' ').any(|other| other == name))
        .map(|(_, _, shape)| *shape)
}

/// What a call of a method that any type may have gives.
pub(super) fn any(language: &str, name: &str) -> Option<&'static str> {
    let methods = library(language)?.methods;
    methods
        .iter()
        .filter(|(of, _, _)| *of == "*")
        .find(|(_, names, _)| names.split(' ').any(|other| other == name))
        .map(|(_, _, shape)| *shape)
}

/// Whether members of a type are those of what is in it.
pub(super) fn is_through(language: &str, ty: &str) -> bool {
    library(language).is_some_and(|library| library.through.contains(&ty))
}

/// The name that lists of a language go by here.
pub(super) fn list(language: &str) -> &'static str {
    match language {
        "typescript" | "tsx" | "javascript" => "Array",
        "python" => "list",
        _ => "Vec",
    }
}

pub(super) fn literal(language: &str, literal: Literal) -> Ty {
    match literal {
        Literal::List => Ty::known(list(language), Vec::new()),
        Literal::Map if language == "python" => Ty::known("dict", Vec::new()),
        Literal::String => Ty::known("str", Vec::new()),
        Literal::Number | Literal::Boolean => Ty::External,
        Literal::Map | Literal::Function | Literal::Null => Ty::Unknown,
    }
}

/// What one gets by going over a well-known type.
pub(super) fn element(language: &str, name: &str, args: &Args) -> Ty {
    match name {
        "Map" if language == "python" => args.first().cloned().unwrap_or_default(),
        "Map" => Ty::Tuple(args.clone()),
        _ => args.first().cloned().unwrap_or_default(),
    }
}

pub(super) fn indexed(name: &str, args: &Args) -> Ty {
    match name {
        "Map" | "dict" | "Record" => args.get(1).cloned().unwrap_or_default(),
        "str" | "String" => Ty::External,
        _ => args.first().cloned().unwrap_or_default(),
    }
}

/// What entering a context manager that is not of the workspace gives.
pub(super) fn entered(ty: &Ty) -> Option<Ty> {
    match ty {
        Ty::Known("Context", args) => args.first().cloned(),
        Ty::External | Ty::Known(..) => Some(Ty::External),
        _ => None,
    }
}

/// A type made after a shape: `=` the value's own, a digit one of its arguments, `!` something outside, `?` unknown, `~` what the function gives that is handed over,
/// `Name<…>` a well-known type, `(…)` a tuple.
pub(super) fn shaped(shape: &'static str, own: &Ty, args: &[Ty]) -> Ty {
    let (ty, _) = parse(shape, own, args);
    ty
}

fn parse<'s>(shape: &'static str, own: &Ty, args: &[Ty]) -> (Ty, &'s str)
where
    'static: 's,
{
    let mut chars = shape.chars();
    match chars.next() {
        Some('=') => (own.clone(), chars.as_str()),
        Some('!') => (Ty::External, chars.as_str()),
        Some('~') => (Ty::Given, chars.as_str()),
        Some('(') => {
            let (members, rest) = members(chars.as_str(), own, args, ')');
            (Ty::Tuple(members.into()), rest)
        }
        Some(digit) if digit.is_ascii_digit() => {
            let at = digit.to_digit(10).unwrap_or(0) as usize;
            (args.get(at).cloned().unwrap_or_default(), chars.as_str())
        }
        Some(letter) if letter.is_alphabetic() => {
            let end = shape.find(|c: char| !c.is_alphanumeric()).unwrap_or(shape.len());
            let (name, rest) = shape.split_at_checked(end).unwrap_or((shape, ""));
            match rest.strip_prefix('<') {
                Some(inside) => {
                    let (members, rest) = members(inside, own, args, '>');
                    (Ty::Known(name, members.into()), rest)
                }
                None => (Ty::Known(name, Vec::new().into()), rest),
            }
        }
        _ => (Ty::Unknown, chars.as_str()),
    }
}

fn members(mut rest: &'static str, own: &Ty, args: &[Ty], end: char) -> (Vec<Ty>, &'static str) {
    let mut members = Vec::new();
    loop {
        let (member, after) = parse(rest, own, args);
        members.push(member);
        rest = match after.strip_prefix(',') {
            Some(more) => more,
            None => return (members, after.strip_prefix(end).unwrap_or(after)),
        };
    }
}

/// The shape of what a method of a well-known type hands to the function that it is given.
pub(super) fn given(language: &str, ty: &str, method: &str, at: usize) -> Option<&'static str> {
    let given = library(language)?.given;
    let found = given.iter().find(|(of, names, _)| *of == ty && names.split(' ').any(|name| name == method));
    found.and_then(|(_, _, shapes)| shapes.split(' ').nth(at))
}

/// What a name of the library is as a value.
pub(super) fn made(language: &str, name: &str) -> Ty {
    let makes = library(language).map_or(&[][..], |library| library.makes);
    makes.iter().find(|(maker, _)| *maker == name).map_or(Ty::External, |(_, ty)| Ty::Holds(ty))
}

/// What `Type::name` of the library is: something that makes a well-known type.
pub(super) fn made_by(language: &str, of: &str, name: &str) -> Option<Ty> {
    let wanted = format!("{of}.{name}");
    let makes = library(language)?.makes;
    if let Some((_, ty)) = makes.iter().find(|(maker, _)| *maker == wanted) {
        return Some(Ty::Holds(ty));
    }
    let makes_empty = matches!(name, "new" | "default" | "with_capacity" | "from" | "from_iter");
    let ty = canonical(language, of).filter(|_| makes_empty)?;
    Some(Ty::Returns(Box::new(Ty::known(ty, Vec::new()))))
}

/// What a function of the library that was called with a first argument gives.
pub(super) fn held(name: &'static str, first: Ty, element: impl FnOnce(&Ty) -> Ty) -> Ty {
    match name.starts_with('*') {
        true => python::held(name, first, element).unwrap_or_default(),
        false => Ty::known(name, vec![first]),
    }
}
