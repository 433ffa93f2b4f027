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
    let of = cx.expr_id(Expr::Typed(of));
    let members = cx.field(node, F::Body).map(|body| cx.named(body)).unwrap_or_default();
    for member in members.into_iter().filter(|member| named && member.kind() == "keyed_element") {
        let key = cx.field(member, F::Key).or_else(|| member.named_child(0));
        let key =
            key.and_then(|key| if key.kind() == "literal_element" { key.named_child(0) } else { Some(key) });
        if let Some(key) = key.filter(|key| key.kind() == "identifier") {
            cx.mark_use(key, Role::Write, 0, of);
        }
    }
    Flow::Children
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
            let args = kit::count_args(cx, cx.field(node, F::Arguments), &["variadic_argument"]);
            let callee = callee.map_or(ExprId::NONE, |callee| cx.expr(callee));
            Expr::Call { callee, args, first: kit::first_arg(cx, node) }
        }
        "composite_literal" | "type_assertion_expression" | "type_conversion_expression" => {
            cx.field(node, F::Type).map_or(Expr::Unknown, |ty| Expr::Typed(cx.ty(ty)))
        }
        "unary_expression" => inner(cx, cx.field(node, F::Operand)),
        "parenthesized_expression" => inner(cx, node.named_child(0)),
        "index_expression" | "slice_expression" => {
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
        "channel_type" => cx.field(node, F::Value).map_or(Type::Unknown, |inner| Type::Array(cx.ty(inner))),
        "parenthesized_type" | "type_elem" | "type_constraint" => {
            node.named_child(0).map_or(Type::Unknown, |inner| {
                let id = cx.ty(inner);
                cx.facts.ty(id).cloned().unwrap_or(Type::Unknown)
            })
        }
        "parameter_list" => {
            let members =
                cx.named(node).into_iter().filter_map(|member| cx.field(member, F::Type)).collect::<Vec<_>>();
            Type::Tuple(members.into_iter().map(|member| cx.ty(member)).collect())
        }
        "function_type" => {
            Type::Function(cx.field(node, F::Result).map_or(TypeId::NONE, |result| cx.ty(result)))
        }
        _ => Type::Unknown,
    }
}
