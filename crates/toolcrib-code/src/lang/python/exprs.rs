//! Names, expressions and types in Python.

use tree_sitter::Node;

use super::{narrow, written};
use crate::facts::{Cx, Expr, ExprId, Flow, Literal, Role, Type, TypeId};
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
        "identifier" => {
            if cx.text(function) == "isinstance" {
                narrow::isinstance(cx, node);
            }
            cx.mark_use(function, Role::Call, args, ExprId::NONE);
            if cx.text(function) == "cast" {
                mark_first(cx, node);
            }
        }
        "attribute" => {
            if is_cast(cx.text(function)) {
                mark_first(cx, node);
            }
            let receiver = object(cx, function);
            if let Some(name) = cx.field(function, F::Attribute) {
                cx.mark_use(name, Role::Call, args, receiver);
            }
        }
        _ => {}
    }
    Flow::Children
}

/// `cast("T", x)`: a value of a type.
fn is_cast(function: &str) -> bool {
    matches!(function, "cast" | "t.cast" | "typing.cast" | "te.cast" | "typing_extensions.cast")
}

fn first_type<'t>(cx: &Cx<'t>, call: Node<'t>) -> Option<Node<'t>> {
    cx.field(call, F::Arguments)?.named_child(0)
}

fn mark_first<'t>(cx: &mut Cx<'t>, call: Node<'t>) {
    if let Some(first) = first_type(cx, call) {
        mark_type(cx, first, Role::Type);
    }
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
            "string" => written::forward(cx, at, role),
            "subscript" | "generic_type" => {
                let mut parts = cx.named(at);
                match parts.first().map(|base| cx.text(*base)) {
                    Some(base) if written::holds_values(base) => parts.truncate(1),
                    Some("Annotated" | "t.Annotated" | "typing.Annotated") => parts.truncate(2),
                    _ => {}
                }
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

/// What an expression is.
pub(super) fn expr<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Expr {
    match node.kind() {
        "identifier" => match cx.text(node) {
            "self" if cx.type_around().is_some() => Expr::This,
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
            if function.is_some_and(|function| is_cast(cx.text(function)))
                && let Some(first) = first_type(cx, node)
            {
                return Expr::Typed(cx.ty(first));
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
        "tuple" | "expression_list" | "pattern_list" => {
            let parts = cx.named(node);
            Expr::Tuple(parts.into_iter().take(8).map(|part| cx.expr(part)).collect())
        }
        "list" | "set" => match node.named_child(0) {
            Some(first) if !matches!(first.kind(), "comment" | "list_splat") => {
                Expr::Filled(Literal::List, cx.expr(first), ExprId::NONE)
            }
            _ => Expr::Literal(Literal::List),
        },
        "dictionary" => match node.named_child(0).and_then(|first| pair(cx, first)) {
            Some((key, value)) => Expr::Filled(Literal::Map, key, value),
            None => Expr::Literal(Literal::Map),
        },
        "list_comprehension" | "set_comprehension" | "generator_expression" => {
            match cx.field(node, F::Body) {
                Some(body) => Expr::Filled(Literal::List, placed(cx, body), ExprId::NONE),
                None => Expr::Literal(Literal::List),
            }
        }
        "dictionary_comprehension" => match cx.field(node, F::Body) {
            Some(body) => match (cx.field(body, F::Key), cx.field(body, F::Value)) {
                (Some(key), Some(value)) => Expr::Filled(Literal::Map, placed(cx, key), placed(cx, value)),
                _ => Expr::Literal(Literal::Map),
            },
            None => Expr::Literal(Literal::Map),
        },
        kind => kit::literal(kind).unwrap_or(Expr::Unknown),
    }
}

fn pair<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Option<(ExprId, ExprId)> {
    let (key, value) = (cx.field(node, F::Key)?, cx.field(node, F::Value)?);
    Some((cx.expr(key), cx.expr(value)))
}

/// An expression as it is meant where it is written.
pub(super) fn placed<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> ExprId {
    let inner = cx.expr(node);
    match cx.facts.expr(inner) {
        None | Some(Expr::Unknown | Expr::Literal(_) | Expr::This) => inner,
        _ => cx.expr_id(Expr::Inside(inner, node.start_byte() as u32)),
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
            written::named(cx, &text)
        }
        "string" => {
            let text = cx.child(node, &["string_content"]).map_or("", |content| cx.text(content));
            written::quoted(cx, text)
        }
        "subscript" | "generic_type" => {
            let parts = cx.named(node);
            let base: String =
                parts.first().map_or(String::new(), |base| cx.text(*base).split_whitespace().collect());
            if written::holds_values(&base) {
                return written::named(cx, "str");
            }
            let list = match parts.get(1).filter(|list| list.kind() == "type_parameter") {
                Some(list) => cx.named(*list),
                None => parts.get(1..).unwrap_or_default().to_vec(),
            };
            let args: Vec<Node<'t>> = list.into_iter().filter(|arg| !is_none(cx, *arg)).collect();
            let args = args.into_iter().map(|arg| cx.ty(arg)).collect();
            written::generic(cx, &base, args)
        }
        // One of several, as `except (A, B)` and `isinstance(x, (A, B))` say it.
        "tuple" => {
            let members = cx.named(node);
            Type::Union(members.into_iter().map(|member| cx.ty(member)).collect())
        }
        "binary_operator" | "union_type" => {
            let members =
                cx.named(node).into_iter().filter(|member| !is_none(cx, *member)).collect::<Vec<_>>();
            let members: Vec<TypeId> = members.into_iter().map(|member| cx.ty(member)).collect();
            Type::Union(members)
        }
        "call" => cx.field(node, F::Function).map_or(Type::Unknown, |inner| copy(cx, inner)),
        _ => Type::Unknown,
    }
}

fn is_none<'t>(cx: &Cx<'t>, node: Node<'t>) -> bool {
    cx.text(node) == "None"
}

fn copy<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Type {
    let id = cx.ty(node);
    cx.facts.ty(id).cloned().unwrap_or(Type::Unknown)
}
