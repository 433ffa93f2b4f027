//! Names, expressions and types in Python.

use tree_sitter::Node;

use crate::facts::{Cx, Expr, ExprId, Flow, Role, Type, TypeId};
use crate::lang::{F, Handler, kit};

pub(super) const HANDLERS: &[(&str, Handler)] = &[
    ("identifier", kit::read),
    ("call", call),
    ("attribute", attribute),
    ("keyword_argument", keyword),
    ("type", annotation),
];

/// What an attribute is one of.
pub(super) fn object<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> ExprId {
    cx.field(node, F::Object).map_or(ExprId::NONE, |object| cx.expr(object))
}

fn args<'t>(cx: &Cx<'t>, node: Node<'t>) -> u8 {
    match cx.field(node, F::Arguments) {
        Some(list) if list.kind() == "generator_expression" => 1,
        list => kit::count_args(cx, list, &["list_splat", "dictionary_splat"]),
    }
}

fn call<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(function) = cx.field(node, F::Function) else { return Flow::Children };
    let args = args(cx, node);
    match function.kind() {
        "identifier" => cx.mark_use(function, Role::Call, args, ExprId::NONE),
        "attribute" => {
            let receiver = object(cx, function);
            if let Some(name) = cx.field(function, F::Attribute) {
                cx.mark_use(name, Role::Call, args, receiver);
            }
        }
        _ => {}
    }
    Flow::Children
}

fn attribute<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let receiver = object(cx, node);
    if let Some(name) = cx.field(node, F::Attribute) {
        cx.mark_new(name, Role::Read, receiver);
    }
    Flow::Children
}

/// The name of a keyword argument is the callee's, not one of ours.
fn keyword<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(name) = cx.field(node, F::Name) {
        cx.skip(name);
    }
    Flow::Children
}

fn annotation<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    // A type inside a type was marked with it.
    if !matches!(cx.parent_kind(), "type_parameter" | "union_type" | "constrained_type" | "member_type") {
        mark_type(cx, node, Role::Type);
    }
    Flow::Children
}

/// Names in a type are uses as a type, also those in a string.
pub(super) fn mark_type<'t>(cx: &mut Cx<'t>, node: Node<'t>, role: Role) {
    let mut left = vec![(node, role)];
    while let Some((at, role)) = left.pop() {
        match at.kind() {
            "identifier" => cx.mark_new(at, role, ExprId::NONE),
            "attribute" => {
                let receiver = object(cx, at);
                if let Some(name) = cx.field(at, F::Attribute) {
                    cx.mark_new(name, role, receiver);
                }
            }
            "string" => forward(cx, at, role),
            "subscript" | "generic_type" => {
                let parts = cx.named(at);
                // The subscripted type keeps the role, what is in the brackets is just a type.
                left.extend(
                    parts
                        .into_iter()
                        .enumerate()
                        .map(|(index, part)| (part, if index == 0 { role } else { Role::Type })),
                );
            }
            "type" | "type_parameter" | "union_type" | "binary_operator" | "tuple" | "list"
            | "member_type" | "constrained_type" | "splat_type" => {
                left.extend(cx.named(at).into_iter().map(|child| (child, role)));
            }
            _ => {}
        }
    }
}

/// A type in quotes: every name in it.
fn forward<'t>(cx: &mut Cx<'t>, node: Node<'t>, role: Role) {
    let Some(content) = cx.child(node, &["string_content"]) else { return };
    let text = cx.text(content);
    let mut start = content.start_byte();
    for part in text.split_inclusive(|c: char| !(c == '_' || c == '.' || c.is_alphanumeric())) {
        let path = part.trim_end_matches(|c: char| !(c == '_' || c == '.' || c.is_alphanumeric()));
        let last = path.rsplit('.').next().unwrap_or(path);
        let receiver = match path.rsplit_once('.') {
            Some((before, _)) => {
                let name = cx.intern(before);
                cx.expr_id(Expr::Name(name))
            }
            None => ExprId::NONE,
        };
        if !matches!(last, "None" | "") {
            let name = cx.intern(last);
            cx.reference_at(name, (start + path.len() - last.len()) as u32, role, 0, receiver);
        }
        start += part.len();
    }
}

fn is_path(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c == '_' || c == '.' || c.is_alphanumeric())
}

/// What an expression is.
pub(super) fn expr<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Expr {
    match node.kind() {
        "identifier" => match cx.text(node) {
            "self" | "cls" => Expr::This,
            _ => Expr::Name(cx.sym(node)),
        },
        "attribute" => {
            let base = object(cx, node);
            let name = cx.field(node, F::Attribute).map(|name| cx.sym(name)).unwrap_or_default();
            Expr::Member { base, name, path: false }
        }
        "call" => {
            let function = cx.field(node, F::Function);
            if function.is_some_and(|function| cx.text(function) == "super") {
                return Expr::Super;
            }
            let callee = function.map_or(ExprId::NONE, |function| cx.expr(function));
            Expr::Call { callee, args: args(cx, node), first: kit::first_arg(cx, node) }
        }
        "await" => node.named_child(0).map_or(Expr::Unknown, |inner| Expr::Await(cx.expr(inner))),
        "subscript" => cx.field(node, F::Value).map_or(Expr::Unknown, |inner| Expr::Index(cx.expr(inner))),
        "parenthesized_expression" => node.named_child(0).map_or(Expr::Unknown, |inner| {
            let id = cx.expr(inner);
            cx.facts.expr(id).cloned().unwrap_or(Expr::Unknown)
        }),
        "conditional_expression" => match (node.named_child(0), node.named_child(2)) {
            (Some(left), Some(right)) => Expr::Either(cx.expr(left), cx.expr(right)),
            _ => Expr::Unknown,
        },
        "boolean_operator" => match (cx.field(node, F::Left), cx.field(node, F::Right)) {
            (Some(left), Some(right)) => Expr::Either(cx.expr(left), cx.expr(right)),
            _ => Expr::Unknown,
        },
        kind => kit::literal(kind).unwrap_or(Expr::Unknown),
    }
}

/// What a type is.
pub(super) fn ty<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Type {
    match node.kind() {
        "type" | "parenthesized_expression" => {
            node.named_child(0).map_or(Type::Unknown, |inner| copy(cx, inner))
        }
        "identifier" | "attribute" | "member_type" => {
            let text: String = cx.text(node).split_whitespace().collect();
            match text.as_str() {
                "Self" | "typing.Self" => Type::Own,
                _ => Type::Named { path: cx.intern(&text), args: Vec::new() },
            }
        }
        "string" => {
            let text = cx.child(node, &["string_content"]).map_or("", |content| cx.text(content));
            let members: Vec<&str> = text.split('|').map(str::trim).filter(|name| *name != "None").collect();
            match members.as_slice() {
                [one] if is_path(one) => Type::Named { path: cx.intern(one), args: Vec::new() },
                many if many.iter().all(|one| is_path(one)) => {
                    Type::Union(many.iter().map(|one| cx.named_type(one)).collect())
                }
                _ => Type::Unknown,
            }
        }
        "subscript" => {
            let base = cx.field(node, F::Value).map(|base| cx.text(base)).unwrap_or_default();
            let path = cx.intern(base);
            let args = cx.named(node).into_iter().skip(1).collect::<Vec<_>>();
            Type::Named { path, args: args.into_iter().map(|arg| cx.ty(arg)).collect() }
        }
        "generic_type" => {
            let parts = cx.named(node);
            let path = parts.first().map(|base| cx.sym(*base)).unwrap_or_default();
            let list = parts.get(1).map(|list| cx.named(*list)).unwrap_or_default();
            Type::Named { path, args: list.into_iter().map(|arg| cx.ty(arg)).collect() }
        }
        "binary_operator" | "union_type" => {
            let members =
                cx.named(node).into_iter().filter(|member| member.kind() != "none").collect::<Vec<_>>();
            let members: Vec<TypeId> = members.into_iter().map(|member| cx.ty(member)).collect();
            Type::Union(members)
        }
        "call" => cx.field(node, F::Function).map_or(Type::Unknown, |inner| copy(cx, inner)),
        _ => Type::Unknown,
    }
}

fn copy<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Type {
    let id = cx.ty(node);
    cx.facts.ty(id).cloned().unwrap_or(Type::Unknown)
}
