//! The names of symbols: `scheme manager package version descriptors`, each descriptor a name and a suffix.

/// What kind of thing a descriptor names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words say it")]
pub enum Suffix {
    Namespace,
    Type,
    Term,
    Method,
    TypeParameter,
    Parameter,
    Meta,
    Macro,
}

/// One step of a symbol's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// The name, without quotes.
    pub name: String,
    /// What it names.
    pub suffix: Suffix,
}

/// `SymbolInformation.Kind.EnumMember`: rust-analyzer writes variants like types.
const ENUM_MEMBER: i32 = 12;

/// What a symbol stands for, as far as its name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the words say it")]
pub enum Class {
    Function,
    Type,
    Method,
    Field,
    /// A constant, variable, variant or macro.
    Constant,
    Module,
    /// A local, parameter or type parameter.
    Local,
}

impl Class {
    pub(super) fn of(symbol: &str, kind: i32) -> Self {
        let descriptors = descriptors(symbol);
        let Some(last) = descriptors.last() else { return Class::Local };
        let before = descriptors.len().checked_sub(2).and_then(|at| descriptors.get(at));
        // The methods of a Rust `impl` come after `impl#[Type][Trait]`.
        let is_member =
            before.is_some_and(|before| matches!(before.suffix, Suffix::Type | Suffix::TypeParameter));
        match last.suffix {
            Suffix::Type if kind == ENUM_MEMBER => Class::Constant,
            Suffix::Type => Class::Type,
            Suffix::Method if is_member => Class::Method,
            Suffix::Method => Class::Function,
            // A member of a type that has no name of its own is `typeLiteral0:name.`
            Suffix::Term if is_member || before.is_some_and(|before| before.suffix == Suffix::Meta) => {
                Class::Field
            }
            Suffix::Term | Suffix::Macro => Class::Constant,
            Suffix::Namespace | Suffix::Meta => Class::Module,
            Suffix::Parameter | Suffix::TypeParameter => Class::Local,
        }
    }
}

/// The descriptors of a symbol; none for a local one or one that cannot be read.
pub fn descriptors(symbol: &str) -> Vec<Descriptor> {
    let mut found = Vec::new();
    if symbol.starts_with("local ") {
        return found;
    }
    let Some(mut rest) = past_package(symbol) else { return found };
    while !rest.is_empty() {
        let Some((descriptor, after)) = next(rest) else { return Vec::new() };
        found.push(descriptor);
        rest = after;
    }
    found
}

/// Without scheme, manager, package and version, each ended by one space; two stand for one in it.
fn past_package(symbol: &str) -> Option<&str> {
    let mut rest = symbol;
    for _ in 0..4 {
        loop {
            let (_, after) = rest.split_once(' ')?;
            rest = after;
            match after.strip_prefix(' ') {
                Some(inside) => rest = inside,
                None => break,
            }
        }
    }
    Some(rest)
}

fn next(text: &str) -> Option<(Descriptor, &str)> {
    if let Some(inner) = text.strip_prefix('(') {
        let (name, rest) = identifier(inner)?;
        return Some((Descriptor { name, suffix: Suffix::Parameter }, rest.strip_prefix(')')?));
    }
    if let Some(inner) = text.strip_prefix('[') {
        let (name, rest) = identifier(inner)?;
        return Some((Descriptor { name, suffix: Suffix::TypeParameter }, rest.strip_prefix(']')?));
    }
    let (name, rest) = identifier(text)?;
    let mut chars = rest.chars();
    let suffix = match chars.next()? {
        '/' => Suffix::Namespace,
        '#' => Suffix::Type,
        '.' => Suffix::Term,
        ':' => Suffix::Meta,
        '!' => Suffix::Macro,
        '(' => {
            let (_, rest) = chars.as_str().split_once(").")?;
            return Some((Descriptor { name, suffix: Suffix::Method }, rest));
        }
        _ => return None,
    };
    Some((Descriptor { name, suffix }, chars.as_str()))
}

fn identifier(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('`') else {
        let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '+' | '-' | '$')));
        let (name, rest) = text.split_at_checked(end.unwrap_or(text.len()))?;
        return (!name.is_empty()).then(|| (name.to_owned(), rest));
    };
    let mut name = String::new();
    let mut rest = quoted;
    loop {
        let (before, after) = rest.split_once('`')?;
        name.push_str(before);
        match after.strip_prefix('`') {
            Some(inside) => {
                name.push('`');
                rest = inside;
            }
            None => return Some((name, after)),
        }
    }
}
