//! Names, expressions and types in C and C++.

use tree_sitter::Node;

use crate::facts::{Cx, Expr, ExprId, Flow, Role, Type, TypeId};
use crate::lang::{F, Handler, kit};

pub(in crate::lang) const HANDLERS: &[(&str, Handler)] = &[
    ("identifier", kit::read),
    ("field_identifier", member_name),
    ("initializer_pair", designated),
    ("offsetof_expression", offset_of),
    ("type_identifier", kit::type_name),
    ("call_expression", call),
    ("field_expression", field),
    ("assignment_expression", assignment),
    ("update_expression", assignment),
];

/// The last name of something qualified.
pub(in crate::lang) fn last_name<'t>(cx: &Cx<'t>, node: Node<'t>) -> Option<Node<'t>> {
    let mut at = node;
    for _ in 0..16 {
        at = match at.kind() {
            "identifier"
            | "field_identifier"
            | "type_identifier"
            | "destructor_name"
            | "operator_name"
            | "namespace_identifier"
            | "primitive_type" => return Some(at),
            "qualified_identifier" | "template_function" | "template_method" | "template_type" => {
                cx.field(at, F::Name)?
            }
            "dependent_name" => at.named_child(0)?,
            "field_expression" => cx.field(at, F::Field)?,
            _ => return None,
        };
    }
    None
}

/// What stands before the last name of a qualified one, joined by `.`.
pub(in crate::lang) fn qualifier<'t>(cx: &Cx<'t>, node: Node<'t>) -> Option<String> {
    let mut parts = Vec::new();
    let mut at = node;
    while at.kind() == "qualified_identifier" && parts.len() < 16 {
        if let Some(scope) = cx.field(at, F::Scope) {
            let name = if scope.kind() == "template_type" { cx.field(scope, F::Name) } else { Some(scope) };
            parts.push(name.map_or("", |name| cx.text(name)));
        }
        at = cx.field(at, F::Name)?;
    }
    (!parts.is_empty()).then(|| parts.join("."))
}

/// Marks the last name of an expression or type.
pub(in crate::lang) fn mark<'t>(cx: &mut Cx<'t>, node: Node<'t>, role: Role, args: u8) {
    let Some(name) = last_name(cx, node) else { return };
    let receiver = match node.kind() {
        "field_expression" => cx.field(node, F::Argument).map_or(ExprId::NONE, |base| cx.expr(base)),
        "qualified_identifier" => qualifier_expr(cx, node),
        _ => ExprId::NONE,
    };
    cx.mark_use(name, role, args, receiver);
}

pub(in crate::lang) fn qualifier_expr<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> ExprId {
    let Some(path) = qualifier(cx, node) else { return ExprId::NONE };
    let mut base = ExprId::NONE;
    for part in path.split('.').filter(|part| !part.is_empty()) {
        let name = cx.intern(part);
        let expr = match base.is_some() {
            true => Expr::Member { base, name, path: true },
            false => Expr::Name(name),
        };
        base = cx.expr_id(expr);
    }
    base
}

fn call<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let args = kit::count_args(cx, cx.field(node, F::Arguments), &["parameter_pack_expansion"]);
    if let Some(function) = cx.field(node, F::Function) {
        mark(cx, function, Role::Call, args);
    }
    Flow::Children
}

fn field<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let receiver = cx.field(node, F::Argument).map_or(ExprId::NONE, |base| cx.expr(base));
    if let Some(name) = cx.field(node, F::Field).and_then(|name| last_name(cx, name)) {
        cx.mark_new(name, Role::Read, receiver);
    }
    Flow::Children
}

/// A member's name where nothing is known of what it is a member of.
fn member_name<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let unknown = cx.expr_id(Expr::Unknown);
    cx.mark_new(node, Role::Read, unknown);
    cx.name(node, Role::Read);
    Flow::Skip
}

/// `.name = value`: a field of what is declared with the list around, or cast to.
fn designated<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let of = match cx.above.as_slice() {
        [.., declaration, declarator, list]
            if list.kind() == "initializer_list" && declarator.kind() == "init_declarator" =>
        {
            let plain =
                cx.field(*declarator, F::Declarator).is_some_and(|inner| inner.kind() == "identifier");
            cx.field(*declaration, F::Type).filter(|_| plain)
        }
        [.., literal, list]
            if list.kind() == "initializer_list" && literal.kind() == "compound_literal_expression" =>
        {
            cx.field(*literal, F::Type)
        }
        // `T list[] = {{.name = value}}`
        [.., declaration, declarator, outer, list]
            if list.kind() == "initializer_list"
                && outer.kind() == "initializer_list"
                && declarator.kind() == "init_declarator" =>
        {
            let many =
                cx.field(*declarator, F::Declarator).is_some_and(|inner| inner.kind() == "array_declarator");
            cx.field(*declaration, F::Type).filter(|_| many)
        }
        _ => None,
    };
    let receiver = match of {
        Some(ty) => Expr::Typed(cx.ty(ty)),
        None => Expr::Unknown,
    };
    let receiver = cx.expr_id(receiver);
    for designator in cx.named(node).into_iter().filter(|part| part.kind() == "field_designator").take(1) {
        if let Some(name) = designator.named_child(0) {
            cx.mark_new(name, Role::Write, receiver);
        }
    }
    Flow::Children
}

fn offset_of<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let (Some(ty), Some(name)) = (cx.field(node, F::Type), cx.child(node, &["field_identifier"])) {
        let ty = cx.ty(ty);
        let receiver = cx.expr_id(Expr::Typed(ty));
        cx.mark_new(name, Role::Read, receiver);
    }
    Flow::Children
}

/// `: name(value)` before the body of a constructor.
pub(in crate::lang) fn initializer<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(name) = node.named_child(0).filter(|name| name.kind() == "field_identifier") {
        let this = cx.expr_id(Expr::This);
        cx.mark_new(name, Role::Write, this);
    }
    Flow::Children
}

fn assignment<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(left) = cx.field(node, F::Left).or_else(|| cx.field(node, F::Argument)) {
        mark(cx, left, Role::Write, 0);
    }
    Flow::Children
}

/// What an expression is.
pub(in crate::lang) fn expr<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Expr {
    match node.kind() {
        "identifier" | "type_identifier" | "namespace_identifier" => Expr::Name(cx.sym(node)),
        "this" => Expr::This,
        "qualified_identifier" => {
            let base = qualifier_expr(cx, node);
            let name = last_name(cx, node).map(|name| cx.sym(name)).unwrap_or_default();
            Expr::Member { base, name, path: true }
        }
        "field_expression" => {
            let base = cx.field(node, F::Argument).map_or(ExprId::NONE, |base| cx.expr(base));
            let name = last_name(cx, node).map(|name| cx.sym(name)).unwrap_or_default();
            Expr::Member { base, name, path: false }
        }
        "call_expression" => {
            if let Some(made) = cx.field(node, F::Function).and_then(|callee| made_of(cx, callee)) {
                return made;
            }
            let args = kit::count_args(cx, cx.field(node, F::Arguments), &["parameter_pack_expansion"]);
            let callee = cx.field(node, F::Function).map_or(ExprId::NONE, |callee| cx.expr(callee));
            Expr::Call { callee, args, first: kit::first_arg(cx, node) }
        }
        "template_function" | "template_method" => inner(cx, cx.field(node, F::Name)),
        "new_expression" | "cast_expression" | "compound_literal_expression" => {
            cx.field(node, F::Type).map_or(Expr::Unknown, |ty| Expr::Typed(cx.ty(ty)))
        }
        "pointer_expression" => inner(cx, cx.field(node, F::Argument)),
        "parenthesized_expression" => inner(cx, node.named_child(0)),
        "subscript_expression" => {
            cx.field(node, F::Argument).map_or(Expr::Unknown, |base| Expr::Index(cx.expr(base)))
        }
        "conditional_expression" => match (cx.field(node, F::Consequence), cx.field(node, F::Alternative)) {
            (Some(left), Some(right)) => Expr::Either(cx.expr(left), cx.expr(right)),
            _ => Expr::Unknown,
        },
        kind => kit::literal(kind).unwrap_or(Expr::Unknown),
    }
}

/// `make_unique<T>(…)` and `static_cast<T>(…)`: the type is written.
fn made_of<'t>(cx: &mut Cx<'t>, callee: Node<'t>) -> Option<Expr> {
    let mut at = callee;
    for _ in 0..4 {
        if at.kind() != "qualified_identifier" {
            break;
        }
        at = cx.field(at, F::Name)?;
    }
    if at.kind() != "template_function" {
        return None;
    }
    let name = cx.field(at, F::Name).map_or("", |name| cx.text(name));
    let ty = cx.field(at, F::Arguments).and_then(|list| cx.child(list, &["type_descriptor"]))?;
    let ty = cx.ty(ty);
    match name {
        "make_unique" | "make_shared" | "allocate_shared" => {
            let path = cx.intern("std.shared_ptr");
            let ty = cx.type_id(Type::Named { path, args: vec![ty] });
            Some(Expr::Typed(ty))
        }
        "static_cast"
        | "dynamic_cast"
        | "const_cast"
        | "reinterpret_cast"
        | "static_pointer_cast"
        | "dynamic_pointer_cast" => Some(Expr::Typed(ty)),
        _ => None,
    }
}

fn inner<'t>(cx: &mut Cx<'t>, node: Option<Node<'t>>) -> Expr {
    node.map_or(Expr::Unknown, |node| {
        let id = cx.expr(node);
        cx.facts.expr(id).cloned().unwrap_or(Expr::Unknown)
    })
}

/// What a type is.
pub(in crate::lang) fn ty<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Type {
    match node.kind() {
        "type_identifier" | "primitive_type" | "sized_type_specifier" | "identifier" => {
            Type::Named { path: cx.sym(node), args: Vec::new() }
        }
        // A tag is told from other names: `typedef struct x x;` is no circle.
        "struct_specifier" | "union_specifier" | "enum_specifier" | "class_specifier" => {
            let name = cx.field(node, F::Name).filter(|name| name.kind() == "type_identifier");
            name.map_or(Type::Unknown, |name| {
                let path = format!("struct {}", cx.text(name));
                Type::Named { path: cx.intern(&path), args: Vec::new() }
            })
        }
        "template_type" => {
            let path = cx.field(node, F::Name).map(|name| cx.sym(name)).unwrap_or_default();
            let list = cx.field(node, F::Arguments).map(|list| cx.named(list)).unwrap_or_default();
            let list = list.into_iter().filter(|arg| arg.kind() == "type_descriptor").collect::<Vec<_>>();
            Type::Named { path, args: list.into_iter().map(|arg| cx.ty(arg)).collect() }
        }
        "qualified_identifier" => qualified_type(cx, node),
        "type_descriptor" | "dependent_type" => {
            let inner = cx.field(node, F::Type).or_else(|| node.named_child(0));
            inner.map_or(Type::Unknown, |inner| {
                let id = cx.ty(inner);
                cx.facts.ty(id).cloned().unwrap_or(Type::Unknown)
            })
        }
        _ => Type::Unknown,
    }
}

/// `a::B<C>`: the arguments are those of the last name.
fn qualified_type<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Type {
    let before = qualifier(cx, node).unwrap_or_default();
    let mut last = node;
    for _ in 0..16 {
        match cx.field(last, F::Name).filter(|_| last.kind() == "qualified_identifier") {
            Some(name) => last = name,
            None => break,
        }
    }
    let id: TypeId = cx.ty(last);
    match cx.facts.ty(id).cloned() {
        Some(Type::Named { path, args }) => {
            let path = format!("{before}.{}", cx.names.get(path));
            Type::Named { path: cx.intern(&path), args }
        }
        _ => Type::Unknown,
    }
}
