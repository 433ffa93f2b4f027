//! Types as Python writes them: in brackets, in quotes, as a value.

use tree_sitter::Node;

use crate::facts::{Cx, Expr, ExprId, Role, Type, TypeId};
use crate::lang::F;

/// Types in quotes are read this deep.
const MAX_DEPTH: u32 = 12;
/// Names of types that a value is made of when it is a type by another name.
const MADE_OF: &[&str] = &[
    "Union",
    "Optional",
    "Callable",
    "List",
    "Dict",
    "Set",
    "Tuple",
    "Type",
    "Iterable",
    "Iterator",
    "Sequence",
    "Mapping",
    "MutableMapping",
    "Annotated",
    "Awaitable",
    "Coroutine",
    "Generator",
    "Literal",
    "list",
    "dict",
    "set",
    "tuple",
    "type",
    "frozenset",
    "FrozenSet",
    "Collection",
];

fn is_path(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c == '_' || c == '.' || c.is_alphanumeric())
}

fn last_name(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// A type by its path.
pub(super) fn named(cx: &mut Cx<'_>, path: &str) -> Type {
    match path {
        "Self" | "typing.Self" | "t.Self" | "te.Self" | "typing_extensions.Self" => Type::Own,
        "..." | "None" => Type::Unknown,
        _ => Type::Named { path: cx.intern(path), args: Vec::new() },
    }
}

/// A type with arguments.
pub(super) fn generic(cx: &mut Cx<'_>, path: &str, mut args: Vec<TypeId>) -> Type {
    match last_name(path) {
        "Callable" => args.pop().map_or(Type::Unknown, Type::Function),
        _ => Type::Named { path: cx.intern(path), args },
    }
}

/// Whether what is in the brackets of a type are no types.
pub(super) fn holds_values(path: &str) -> bool {
    last_name(path) == "Literal"
}

/// A type in quotes.
pub(super) fn quoted(cx: &mut Cx<'_>, text: &str) -> Type {
    let id = parse(cx, text, 0);
    cx.facts.ty(id).cloned().unwrap_or(Type::Unknown)
}

fn parse(cx: &mut Cx<'_>, text: &str, depth: u32) -> TypeId {
    let text = text.trim().trim_matches(['"', '\'']).trim();
    if depth > MAX_DEPTH || text.is_empty() {
        return cx.type_id(Type::Unknown);
    }
    let members: Vec<&str> = pieces(text, '|').into_iter().filter(|one| one.trim() != "None").collect();
    let ty = match members.as_slice() {
        [one] => single(cx, one.trim(), depth),
        many => {
            let many: Vec<TypeId> = many.iter().map(|one| parse(cx, one, depth + 1)).collect();
            Type::Union(many)
        }
    };
    cx.type_id(ty)
}

fn single(cx: &mut Cx<'_>, text: &str, depth: u32) -> Type {
    match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
        Some((base, _)) if holds_values(base.trim()) => named(cx, "str"),
        Some((base, inside)) if is_path(base.trim()) => {
            let args = pieces(inside, ',').into_iter().filter(|one| !one.trim().is_empty());
            let args: Vec<&str> = args.filter(|one| one.trim() != "None").collect();
            let args = args.into_iter().map(|one| parse(cx, one, depth + 1)).collect();
            generic(cx, base.trim(), args)
        }
        _ if is_path(text) => named(cx, text),
        _ => Type::Unknown,
    }
}

/// The parts of a text between separators that are in no brackets.
fn pieces(text: &str, by: char) -> Vec<&str> {
    let mut depth = 0_i32;
    text.split(move |c: char| {
        depth += match c {
            '[' | '(' => 1,
            ']' | ')' => -1,
            _ => 0,
        };
        c == by && depth == 0
    })
    .collect()
}

/// Every name of a type in quotes is a use.
pub(super) fn forward<'t>(cx: &mut Cx<'t>, node: Node<'t>, role: Role) {
    let Some(content) = cx.child(node, &["string_content"]) else { return };
    let text = cx.text(content);
    if text.contains(char::is_whitespace) && !text.contains(['|', '[']) {
        return;
    }
    let mut start = content.start_byte();
    let is_part = |c: char| c == '_' || c == '.' || c.is_alphanumeric();
    for piece in text.split_inclusive(|c: char| !is_part(c)) {
        let path = piece.trim_end_matches(|c: char| !is_part(c));
        let mut receiver = ExprId::NONE;
        let mut at = start;
        for (index, name) in path.split('.').enumerate() {
            let last = index + 1 == path.split('.').count();
            if !matches!(name, "None" | "") && !name.starts_with(|c: char| c.is_ascii_digit()) {
                let sym = cx.intern(name);
                cx.reference_at(sym, at as u32, if last { role } else { Role::Read }, 0, receiver);
                let expr = match index {
                    0 => Expr::Name(sym),
                    _ => Expr::Member { base: receiver, name: sym, path: false },
                };
                receiver = cx.expr_id(expr);
            }
            at += name.len() + 1;
        }
        start += piece.len();
    }
}

/// What a context manager made of a generator gives: what the generator does.
pub(super) fn entered(cx: &mut Cx<'_>, ty: TypeId) -> TypeId {
    let given = match cx.facts.ty(ty) {
        Some(Type::Named { args, .. }) => args.first().copied(),
        _ => None,
    };
    let Some(given) = given else { return ty };
    let path = cx.intern("AbstractContextManager");
    cx.type_id(Type::Named { path, args: vec![given] })
}

/// The type of a parameter in the function itself: of one that takes all further arguments, what holds them.
pub(super) fn collected<'t>(cx: &mut Cx<'t>, node: Node<'t>, ty: TypeId, rest: bool) -> TypeId {
    if !rest || ty.is_none() {
        return ty;
    }
    let by_name = cx.text(node).starts_with("**");
    let args = if by_name { vec![cx.named_type("str"), ty] } else { vec![ty] };
    let path = cx.intern(if by_name { "dict" } else { "list" });
    cx.type_id(Type::Named { path, args })
}

/// The type that a value stands for when the name it is given is one of a type: `Union[A, B]`, `TypeVar("T", bound=A)`.
pub(super) fn alias<'t>(cx: &mut Cx<'t>, right: Node<'t>) -> Option<TypeId> {
    match right.kind() {
        "subscript" => {
            let base = cx.field(right, F::Value)?;
            MADE_OF.contains(&last_name(cx.text(base))).then(|| cx.ty(right))
        }
        "binary_operator" if cx.text(right).contains('|') => {
            let plain = |node: &Node<'_>| {
                matches!(
                    node.kind(),
                    "identifier" | "attribute" | "subscript" | "none" | "string" | "binary_operator"
                )
            };
            cx.named(right).iter().all(plain).then(|| cx.ty(right))
        }
        "call" => {
            let function = cx.field(right, F::Function)?;
            let name = last_name(cx.text(function));
            let list = cx.named(cx.field(right, F::Arguments)?);
            match name {
                "TypeVar" => {
                    let bound = list.iter().find(|one| {
                        one.kind() == "keyword_argument"
                            && cx.field(**one, F::Name).is_some_and(|name| cx.text(name) == "bound")
                    });
                    match bound.and_then(|bound| cx.field(*bound, F::Value)) {
                        Some(bound) => {
                            super::exprs::mark_type(cx, bound, Role::Type);
                            Some(cx.ty(bound))
                        }
                        None => Some(cx.type_id(Type::Unknown)),
                    }
                }
                "ParamSpec" | "TypeVarTuple" => Some(cx.type_id(Type::Unknown)),
                "NewType" => list.get(1).map(|of| cx.ty(*of)),
                _ => None,
            }
        }
        _ => None,
    }
}
