//! Names, expressions and types in Go.

use tree_sitter::Node;

use crate::facts::{Cx, Expr, ExprId, Flow, Role, Type, TypeId};
use crate::lang::{F, Handler, kit};

pub(super) const HANDLERS: &[(&str, Handler)] = &[
    ("identifier", kit::read),
    ("field_identifier", kit::read),
    ("type_identifier", kit::type_name),
    ("package_identifier", kit::read),
    ("call_expression", call),
    ("selector_expression", selector),
    ("qualified_type", qualified),
    ("composite_literal", composite),
];

pub(super) fn mark<'t>(cx: &mut Cx<'t>, node: Node<'t>, role: Role, args: u8) {
    match node.kind() {
        "identifier" if cx.text(node) == "_" => cx.skip(node),
        "identifier" | "type_identifier" => cx.mark_use(node, role, args, ExprId::NONE),
        "selector_expression" => {
            let receiver = cx.field(node, F::Operand).map_or(ExprId::NONE, |operand| cx.expr(operand));
            if let Some(name) = cx.field(node, F::Field) {
                cx.mark_use(name, role, args, receiver);
            }
        }
        "qualified_type" => {
            let receiver = cx.field(node, F::Package).map_or(ExprId::NONE, |package| cx.expr(package));
            if let Some(name) = cx.field(node, F::Name) {
                cx.mark_use(name, role, args, receiver);
            }
        }
        _ => {}
    }
}

fn call<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let args = kit::count_args(cx, cx.field(node, F::Arguments), &["variadic_argument"]);
    if let Some(function) = cx.field(node, F::Function) {
        mark(cx, function, Role::Call, args);
    }
    Flow::Children
}

fn selector<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let receiver = cx.field(node, F::Operand).map_or(ExprId::NONE, |operand| cx.expr(operand));
    if let Some(name) = cx.field(node, F::Field) {
        cx.mark_new(name, Role::Read, receiver);
    }
    Flow::Children
}

fn qualified<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let receiver = cx.field(node, F::Package).map_or(ExprId::NONE, |package| cx.expr(package));
    if let Some(name) = cx.field(node, F::Name) {
        cx.mark_new(name, Role::Type, receiver);
    }
    Flow::Children
}

/// `T{field: value}`
fn composite<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(ty) = cx.field(node, F::Type) else { return Flow::Children };
    mark(cx, ty, Role::Construct, 0);
    let named = matches!(ty.kind(), "type_identifier" | "qualified_type" | "generic_type");
    let of = cx.ty(ty);
    let body = cx.field(node, F::Body);
    match body {
        Some(body) if named => keys(cx, body, of),
        Some(body) => nested(cx, body, of),
        None => {}
    }
    Flow::Children
}

/// The elements of `[]T{{…}, {…}}` and `map[K]T{k: {…}}`: their type is not written again.
fn nested<'t>(cx: &mut Cx<'t>, body: Node<'t>, of: TypeId) {
    let mut left = vec![(body, of)];
    while let Some((body, of)) = left.pop() {
        let element = match cx.facts.ty(of) {
            Some(Type::Array(inner)) => *inner,
            Some(Type::Named { path, args }) if cx.names.get(*path) == "map" => {
                args.get(1).copied().unwrap_or(TypeId::NONE)
            }
            _ => TypeId::NONE,
        };
        let element = match cx.facts.ty(element) {
            Some(Type::Pointer(inner)) => *inner,
            _ => element,
        };
        for member in cx.named(body) {
            let value = match member.kind() {
                "keyed_element" => cx.named(member).last().copied(),
                _ => Some(member),
            };
            let value = value.filter(|value| value.kind() == "literal_element");
            let Some(inner) = value.and_then(|value| cx.child(value, &["literal_value"])) else { continue };
            match cx.facts.ty(element) {
                Some(Type::Named { path, .. }) if cx.names.get(*path) != "map" => keys(cx, inner, element),
                Some(Type::Array(_) | Type::Named { .. }) => left.push((inner, element)),
                _ => keys(cx, inner, TypeId::NONE),
            }
        }
    }
}

/// The keys of a struct are its fields.
fn keys<'t>(cx: &mut Cx<'t>, body: Node<'t>, of: TypeId) {
    let of = cx.expr_id(if of.is_some() { Expr::Typed(of) } else { Expr::Unknown });
    for member in cx.named(body).into_iter().filter(|member| member.kind() == "keyed_element") {
        let key = cx.field(member, F::Key).or_else(|| member.named_child(0));
        let key =
            key.and_then(|key| if key.kind() == "literal_element" { key.named_child(0) } else { Some(key) });
        if let Some(key) = key.filter(|key| key.kind() == "identifier") {
            cx.mark_use(key, Role::Write, 0, of);
        }
    }
}

/// What an expression is.
pub(super) fn expr<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Expr {
    match node.kind() {
        "identifier" | "package_identifier" | "type_identifier" => Expr::Name(cx.sym(node)),
        "selector_expression" => {
            let base = cx.field(node, F::Operand).map_or(ExprId::NONE, |operand| cx.expr(operand));
            let name = cx.field(node, F::Field).map(|name| cx.sym(name)).unwrap_or_default();
            Expr::Member { base, name, path: false }
        }
        "call_expression" => {
            let callee = cx.field(node, F::Function);
            if callee.is_some_and(|callee| matches!(cx.text(callee), "new" | "make")) {
                let list = cx.field(node, F::Arguments);
                return list
                    .and_then(|list| list.named_child(0))
                    .map_or(Expr::Unknown, |ty| Expr::Typed(cx.ty(ty)));
            }
            // What is appended to stays what it is.
            if callee.is_some_and(|callee| cx.text(callee) == "append") {
                let first = cx.field(node, F::Arguments).and_then(|list| list.named_child(0));
                return inner(cx, first);
            }
            let args = kit::count_args(cx, cx.field(node, F::Arguments), &["variadic_argument"]);
            let callee = callee.map_or(ExprId::NONE, |callee| cx.expr(callee));
            Expr::Call { callee, args, first: kit::first_arg(cx, node) }
        }
        "composite_literal" | "type_assertion_expression" | "type_conversion_expression" => {
            cx.field(node, F::Type).map_or(Expr::Unknown, |ty| Expr::Typed(cx.ty(ty)))
        }
        "unary_expression"
            if cx.field(node, F::Operator).is_some_and(|operator| cx.text(operator) == "<-") =>
        {
            cx.field(node, F::Operand).map_or(Expr::Unknown, |operand| Expr::Index(cx.expr(operand)))
        }
        "unary_expression" | "slice_expression" => inner(cx, cx.field(node, F::Operand)),
        "type_instantiation_expression" => inner(cx, cx.field(node, F::Type)),
        "func_literal" => {
            let returned = cx.field(node, F::Result).map_or(TypeId::NONE, |result| cx.ty(result));
            let ty = cx.type_id(Type::Function(returned));
            Expr::Typed(ty)
        }
        "parenthesized_expression" => inner(cx, node.named_child(0)),
        "index_expression" => {
            cx.field(node, F::Operand).map_or(Expr::Unknown, |operand| Expr::Index(cx.expr(operand)))
        }
        kind => kit::literal(kind).unwrap_or(Expr::Unknown),
    }
}

fn inner<'t>(cx: &mut Cx<'t>, node: Option<Node<'t>>) -> Expr {
    node.map_or(Expr::Unknown, |node| {
        let id = cx.expr(node);
        cx.facts.expr(id).cloned().unwrap_or(Expr::Unknown)
    })
}

/// What a type is.
pub(super) fn ty<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Type {
    match node.kind() {
        "type_identifier" | "identifier" | "qualified_type" | "selector_expression" => {
            Type::Named { path: cx.sym(node), args: Vec::new() }
        }
        "generic_type" => {
            let path = cx.field(node, F::Type).map(|base| cx.sym(base)).unwrap_or_default();
            let list = cx.field(node, F::TypeArguments).map(|list| cx.named(list)).unwrap_or_default();
            Type::Named { path, args: list.into_iter().map(|arg| cx.ty(arg)).collect() }
        }
        "pointer_type" => node.named_child(0).map_or(Type::Unknown, |inner| Type::Pointer(cx.ty(inner))),
        "slice_type" | "array_type" | "implicit_length_array_type" => {
            cx.field(node, F::Element).map_or(Type::Unknown, |inner| Type::Array(cx.ty(inner)))
        }
        "map_type" => {
            let args =
                [F::Key, F::Value].map(|part| cx.field(node, part).map_or(TypeId::NONE, |ty| cx.ty(ty)));
            Type::Named { path: cx.intern("map"), args: args.to_vec() }
        }
        "channel_type" => {
            let inner = cx.field(node, F::Value).map_or(TypeId::NONE, |inner| cx.ty(inner));
            Type::Named { path: cx.intern("chan"), args: vec![inner] }
        }
        "parenthesized_type" | "type_elem" | "type_constraint" => {
            node.named_child(0).map_or(Type::Unknown, |inner| {
                let id = cx.ty(inner);
                cx.facts.ty(id).cloned().unwrap_or(Type::Unknown)
            })
        }
        "parameter_list" => {
            let mut members = Vec::new();
            for member in cx.named(node) {
                let Some(ty) = cx.field(member, F::Type) else { continue };
                let ty = cx.ty(ty);
                // `(a, b int)` are two.
                let times = super::names(cx, member).len().max(1);
                members.extend(std::iter::repeat_n(ty, times));
            }
            match members.as_slice() {
                [only] => cx.facts.ty(*only).cloned().unwrap_or(Type::Unknown),
                _ => Type::Tuple(members),
            }
        }
        "function_type" => {
            Type::Function(cx.field(node, F::Result).map_or(TypeId::NONE, |result| cx.ty(result)))
        }
        _ => Type::Unknown,
    }
}
