//! Names, expressions and types in Rust.

use tree_sitter::Node;

use crate::facts::{Cx, Expr, ExprId, Flow, Role, Type, TypeId};
use crate::lang::{F, Handler, kit};

pub(super) const HANDLERS: &[(&str, Handler)] = &[
    ("identifier", name),
    ("type_identifier", kit::type_name),
    ("field_identifier", kit::read),
    ("shorthand_field_identifier", kit::read),
    ("call_expression", call),
    ("field_expression", field),
    ("scoped_identifier", scoped),
    ("scoped_type_identifier", scoped),
    ("type_binding", binding),
    ("struct_expression", structure),
    ("struct_pattern", structure),
    ("tuple_struct_pattern", tuple_struct),
    ("assignment_expression", assignment),
    ("compound_assignment_expr", assignment),
    ("shorthand_field_initializer", shorthand),
];

/// A name; in a path before another name it may be a type or a module.
fn name<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    cx.name(node, Role::Read);
    Flow::Skip
}

/// The last name of a path, type or call target.
pub(super) fn last_name<'t>(cx: &Cx<'t>, node: Node<'t>) -> Option<Node<'t>> {
    let mut at = node;
    for _ in 0..16 {
        at = match at.kind() {
            "identifier" | "type_identifier" | "field_identifier" | "shorthand_field_identifier" => {
                return Some(at);
            }
            "scoped_identifier" | "scoped_type_identifier" => cx.field(at, F::Name)?,
            "generic_type" | "generic_type_with_turbofish" | "reference_type" | "pointer_type" => {
                cx.field(at, F::Type)?
            }
            "generic_function" => cx.field(at, F::Function)?,
            "field_expression" => cx.field(at, F::Field)?,
            _ => return None,
        };
    }
    None
}

/// What the last name of a path or member is a member of.
pub(super) fn receiver_of<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> ExprId {
    let base = match node.kind() {
        "scoped_identifier" | "scoped_type_identifier" => cx.field(node, F::Path),
        "generic_type" | "generic_type_with_turbofish" => {
            return cx.field(node, F::Type).map_or(ExprId::NONE, |inner| receiver_of(cx, inner));
        }
        "generic_function" => {
            return cx.field(node, F::Function).map_or(ExprId::NONE, |inner| receiver_of(cx, inner));
        }
        "field_expression" => cx.field(node, F::Value),
        _ => None,
    };
    match base {
        // `self::name` is of this module, not of the value.
        Some(base) if base.kind() == "self" && node.kind().starts_with("scoped") => {
            let name = cx.sym(base);
            cx.expr_id(Expr::Name(name))
        }
        Some(base) => cx.expr(base),
        // `::name`: of nothing that is in this crate.
        None if node.kind().starts_with("scoped") => cx.expr_id(Expr::Unknown),
        None => ExprId::NONE,
    }
}

fn call<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(function) = cx.field(node, F::Function) else { return Flow::Children };
    if let Some(name) = last_name(cx, function) {
        let args = kit::count_args(cx, cx.field(node, F::Arguments), &[]);
        let receiver = receiver_of(cx, function);
        cx.mark_use(name, Role::Call, args, receiver);
    }
    Flow::Children
}

fn field<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(name) = cx.field(node, F::Field) {
        let receiver = receiver_of(cx, node);
        cx.mark_new(name, Role::Read, receiver);
    }
    Flow::Children
}

fn scoped<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(name) = cx.field(node, F::Name) {
        let receiver = receiver_of(cx, node);
        let role = if node.kind() == "scoped_type_identifier" { Role::Type } else { Role::Read };
        cx.mark_new(name, role, receiver);
    }
    Flow::Children
}

/// `Trait<Item = T>`: the name before `=` is a member of the trait.
fn binding<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let of = match cx.above.as_slice() {
        [.., generic, _] if generic.kind() == "generic_type" => cx.field(*generic, F::Type),
        _ => None,
    };
    if let (Some(of), Some(name)) = (of, cx.field(node, F::Name)) {
        let of = cx.ty(of);
        let of = cx.expr_id(Expr::Typed(of));
        cx.mark_use(name, Role::Type, 0, of);
    }
    Flow::Children
}

/// A struct's fields in a literal or a pattern belong to the struct.
fn structure<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let literal = node.kind() == "struct_expression";
    let Some(ty) = cx.field(node, if literal { F::Name } else { F::Type }) else { return Flow::Children };
    if literal && let Some(name) = last_name(cx, ty) {
        let receiver = receiver_of(cx, ty);
        cx.mark_use(name, Role::Construct, 0, receiver);
    }
    let list = if literal { cx.field(node, F::Body) } else { Some(node) };
    let of = cx.ty(ty);
    let of = cx.expr_id(Expr::Typed(of));
    for member in list.map(|list| cx.named(list)).unwrap_or_default() {
        match member.kind() {
            "field_initializer" => {
                if let Some(name) = cx.field(member, F::Field) {
                    cx.mark_use(name, Role::Write, 0, of);
                }
            }
            "field_pattern" => {
                if let Some(name) = cx.field(member, F::Name).filter(|name| name.kind() == "field_identifier")
                {
                    cx.mark_use(name, Role::Read, 0, of);
                } else if let Some(name) = cx.field(member, F::Name) {
                    // `Struct { name }` binds a local and reads the field.
                    cx.reference(name, Role::Read, 0, of);
                }
            }
            "shorthand_field_initializer" => {
                if let Some(name) = cx.child(member, &["identifier"]) {
                    cx.reference(name, Role::Write, 0, of);
                }
            }
            _ => {}
        }
    }
    Flow::Children
}

fn shorthand<'t>(_: &mut Cx<'t>, _: Node<'t>) -> Flow {
    Flow::Children
}

fn tuple_struct<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(ty) = cx.field(node, F::Type)
        && let Some(name) = last_name(cx, ty)
    {
        let receiver = receiver_of(cx, ty);
        cx.mark_use(name, Role::Type, 0, receiver);
    }
    Flow::Children
}

fn assignment<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(left) = cx.field(node, F::Left)
        && let Some(name) = last_name(cx, left)
    {
        let receiver = receiver_of(cx, left);
        cx.mark_use(name, Role::Write, 0, receiver);
    }
    Flow::Children
}

/// What an expression is.
pub(super) fn expr<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Expr {
    match node.kind() {
        "identifier" | "type_identifier" | "crate" | "super" => Expr::Name(cx.sym(node)),
        "self" => Expr::This,
        "scoped_identifier" | "scoped_type_identifier" => {
            let base = receiver_of(cx, node);
            let name = cx.field(node, F::Name).map(|name| cx.sym(name)).unwrap_or_default();
            Expr::Member { base, name, path: true }
        }
        "field_expression" => {
            let base = receiver_of(cx, node);
            let name = cx.field(node, F::Field).map(|name| cx.sym(name)).unwrap_or_default();
            Expr::Member { base, name, path: false }
        }
        "generic_function" => inner(cx, node, F::Function),
        "generic_type" | "generic_type_with_turbofish" | "bracketed_type" => Expr::Typed(cx.ty(node)),
        "call_expression" => {
            let callee = cx.field(node, F::Function).map_or(ExprId::NONE, |callee| cx.expr(callee));
            let args = kit::count_args(cx, cx.field(node, F::Arguments), &[]);
            Expr::Call { callee, args, first: kit::first_arg(cx, node) }
        }
        "struct_expression" => cx.field(node, F::Name).map_or(Expr::Unknown, |ty| Expr::Typed(cx.ty(ty))),
        "type_cast_expression" => cx.field(node, F::Type).map_or(Expr::Unknown, |ty| Expr::Typed(cx.ty(ty))),
        "await_expression" => first(cx, node).map_or(Expr::Unknown, Expr::Await),
        "try_expression" => first(cx, node).map_or(Expr::Unknown, Expr::Try),
        "index_expression" => first(cx, node).map_or(Expr::Unknown, Expr::Index),
        // Members are looked up through references.
        "reference_expression" => inner(cx, node, F::Value),
        "parenthesized_expression" | "unary_expression" => match node.named_child(0) {
            Some(child) => (cx.compiled.expr)(cx, child),
            None => Expr::Unknown,
        },
        "if_expression" => {
            let then = cx.field(node, F::Consequence).map_or(ExprId::NONE, |block| cx.expr(block));
            let other = cx.field(node, F::Alternative).and_then(|clause| clause.named_child(0));
            let other = other.map_or(ExprId::NONE, |block| cx.expr(block));
            one_of(cx, vec![then, other])
        }
        "block" | "unsafe_block" | "match_block" => block(cx, node),
        "match_expression" => {
            let arms = cx.field(node, F::Body).map(|body| cx.named(body)).unwrap_or_default();
            let arms: Vec<Node<'t>> = arms.into_iter().filter_map(|arm| cx.field(arm, F::Value)).collect();
            let values = arms.into_iter().take(16).map(|value| inside(cx, value)).collect();
            one_of(cx, values)
        }
        "macro_invocation" => macro_value(cx, node),
        kind => kit::literal(kind).unwrap_or(Expr::Unknown),
    }
}

/// The macros of the standard library that make a value of a known type.
fn macro_value<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Expr {
    match cx.field(node, F::Macro).map_or("", |name| cx.text(name)) {
        "vec" => Expr::Typed(cx.named_type("Vec")),
        "format" => Expr::Typed(cx.named_type("String")),
        _ => Expr::Unknown,
    }
}

/// An expression that may use names that are declared around it and not where its value is used.
fn inside<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> ExprId {
    let inner = cx.expr(node);
    match cx.facts.expr(inner) {
        None | Some(Expr::Unknown | Expr::Literal(_)) => ExprId::NONE,
        Some(Expr::Inside(..)) => inner,
        Some(_) => cx.expr_id(Expr::Inside(inner, node.start_byte() as u32)),
    }
}

/// The value of a block is its last expression; one that ends in a statement has none.
fn block<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Expr {
    let last = node.named_child(node.named_child_count().saturating_sub(1) as u32);
    let last = last.filter(|last| !last.kind().ends_with("_statement") && !last.kind().ends_with("_item"));
    let id = last.map_or(ExprId::NONE, |last| inside(cx, last));
    cx.facts.expr(id).cloned().unwrap_or(Expr::Unknown)
}

/// Any of several, those that are not understood left out: they mostly do not come back.
fn one_of<'t>(cx: &mut Cx<'t>, values: Vec<ExprId>) -> Expr {
    let known = |id: &ExprId| !matches!(cx.facts.expr(*id), None | Some(Expr::Unknown));
    let values: Vec<ExprId> = values.into_iter().filter(known).collect();
    let mut values = values.into_iter();
    let Some(mut all) = values.next() else { return Expr::Unknown };
    for value in values {
        if value != all {
            all = cx.expr_id(Expr::Either(all, value));
        }
    }
    cx.facts.expr(all).cloned().unwrap_or(Expr::Unknown)
}

fn first<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Option<ExprId> {
    node.named_child(0).map(|child| cx.expr(child))
}

fn inner<'t>(cx: &mut Cx<'t>, node: Node<'t>, field: F) -> Expr {
    cx.field(node, field).map_or(Expr::Unknown, |child| bounded(cx, child))
}

/// The expression itself in place of what wraps it, through the counted way.
fn bounded<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Expr {
    let id = cx.expr(node);
    cx.facts.expr(id).cloned().unwrap_or(Expr::Unknown)
}

/// What a type is.
pub(super) fn ty<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Type {
    match node.kind() {
        "type_identifier" | "identifier" | "primitive_type" if cx.text(node) == "Self" => Type::Own,
        "type_identifier"
        | "identifier"
        | "primitive_type"
        | "scoped_type_identifier"
        | "scoped_identifier" => Type::Named { path: path(cx, node), args: Vec::new() },
        "generic_type" | "generic_type_with_turbofish" => {
            let Some(base) = cx.field(node, F::Type) else { return Type::Unknown };
            let path = path(cx, base);
            let list = cx.field(node, F::TypeArguments).map(|list| cx.named(list)).unwrap_or_default();
            let args =
                list.into_iter().filter(|arg| arg.kind() != "lifetime").map(|arg| cx.ty(arg)).collect();
            Type::Named { path, args }
        }
        "type_binding" => cx.field(node, F::Type).map_or(Type::Unknown, |inner| ty(cx, inner)),
        "reference_type" | "pointer_type" => {
            cx.field(node, F::Type).map_or(Type::Unknown, |inner| Type::Pointer(cx.ty(inner)))
        }
        "array_type" => cx.field(node, F::Element).map_or(Type::Unknown, |inner| Type::Array(cx.ty(inner))),
        "tuple_type" => Type::Tuple(all(cx, node)),
        "abstract_type" | "dynamic_type" => cx.field(node, F::Trait).map_or(Type::Unknown, |inner| {
            let id = cx.ty(inner);
            cx.facts.ty(id).cloned().unwrap_or(Type::Unknown)
        }),
        "bounded_type" | "trait_bounds" => Type::Union(all(cx, node)),
        "bracketed_type" | "higher_ranked_trait_bound" | "removed_trait_bound" | "qualified_type" => {
            let inner = cx.field(node, F::Type).or_else(|| node.named_child(0));
            inner.map_or(Type::Unknown, |inner| {
                let id = cx.ty(inner);
                cx.facts.ty(id).cloned().unwrap_or(Type::Unknown)
            })
        }
        "function_type" => {
            Type::Function(cx.field(node, F::ReturnType).map_or(TypeId::NONE, |ret| cx.ty(ret)))
        }
        _ => Type::Unknown,
    }
}

fn all<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Vec<TypeId> {
    let members = cx.named(node).into_iter().filter(|child| child.kind() != "lifetime");
    members.collect::<Vec<_>>().into_iter().map(|child| cx.ty(child)).collect()
}

/// A path with its names joined by `.` and without type arguments.
pub(super) fn path<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> crate::facts::Sym {
    let text = cx.text(node);
    if !text.contains("::") {
        return cx.intern(text);
    }
    let mut depth = 0_u32;
    let mut plain = String::with_capacity(text.len());
    for part in text.chars().filter(|c| !c.is_whitespace()) {
        match part {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(part),
            _ => {}
        }
    }
    let names: Vec<&str> = plain.split("::").filter(|name| !name.is_empty()).collect();
    cx.intern(&names.join("."))
}
