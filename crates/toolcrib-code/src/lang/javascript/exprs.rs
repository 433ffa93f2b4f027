//! Names and expressions in JavaScript and TypeScript.

use tree_sitter::Node;

use crate::facts::{Cx, Expr, ExprId, Flow, Import, ImportKind, Literal, Role, Sym, Type, TypeId, span};
use crate::lang::{F, Handler, kit};

pub(in crate::lang) const HANDLERS: &[(&str, Handler)] = &[
    ("identifier", kit::read),
    ("property_identifier", property),
    ("private_property_identifier", property),
    ("shorthand_property_identifier", kit::read),
    ("shorthand_property_identifier_pattern", property),
    ("call_expression", call),
    ("new_expression", new),
    ("member_expression", member),
    ("jsx_opening_element", jsx),
    ("jsx_self_closing_element", jsx),
    ("jsx_closing_element", jsx_closing),
    ("jsx_attribute", jsx_attribute),
];

/// A property that nobody marked is a key.
fn property<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(crate::facts::Mark::Use { role, args, receiver }) = cx.take_mark(node) {
        cx.reference(node, role, args, receiver);
    }
    Flow::Skip
}

pub(in crate::lang) fn is_function(node: Node<'_>) -> bool {
    matches!(node.kind(), "arrow_function" | "function_expression" | "generator_function")
}

fn args<'t>(cx: &Cx<'t>, node: Node<'t>) -> u8 {
    match cx.field(node, F::Arguments) {
        Some(list) if list.kind() == "template_string" => 1,
        list => kit::count_args(cx, list, &["spread_element"]),
    }
}

fn object<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> ExprId {
    let object = cx.field(node, F::Object);
    // The grammar takes `x satisfies a.B` for `(x satisfies a).B`; with brackets it would be another node.
    let object = object.and_then(|object| match object.kind() {
        "satisfies_expression" | "as_expression" => cx.named(object).last().copied(),
        _ => Some(object),
    });
    object.map_or(ExprId::NONE, |object| cx.expr(object))
}

/// An object; what is spread into it is among its members.
fn object_literal<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Expr {
    let mut found = match cx.owner_of(node) {
        owner if owner.is_some() => Expr::Object(owner),
        _ => Expr::Literal(Literal::Map),
    };
    let spread = cx.named(node).into_iter().filter(|child| child.kind() == "spread_element");
    for value in spread.filter_map(|spread| spread.named_child(0)).take(4) {
        found = Expr::Either(cx.expr_id(found), cx.expr(value));
    }
    found
}

/// Marks the last name of an expression or type as used so.
pub(in crate::lang) fn mark<'t>(cx: &mut Cx<'t>, node: Node<'t>, role: Role) {
    mark_call(cx, node, role, 0);
}

fn mark_call<'t>(cx: &mut Cx<'t>, node: Node<'t>, role: Role, args: u8) {
    match node.kind() {
        "identifier" | "type_identifier" => cx.mark_use(node, role, args, ExprId::NONE),
        "member_expression" | "nested_identifier" => {
            let receiver = object(cx, node);
            if let Some(name) = cx.field(node, F::Property) {
                cx.mark_use(name, role, args, receiver);
            }
        }
        "generic_type" | "nested_type_identifier" => {
            if let Some(name) = cx.field(node, F::Name).filter(|name| name.kind() == "type_identifier") {
                let receiver = cx.field(node, F::Module).map_or(ExprId::NONE, |module| cx.expr(module));
                cx.mark_use(name, role, args, receiver);
            }
        }
        "non_null_expression" | "parenthesized_expression" | "instantiation_expression" => {
            if let Some(inner) = node.named_child(0).filter(|inner| inner.kind() != node.kind()) {
                mark_call(cx, inner, role, args);
            }
        }
        _ => {}
    }
}

fn call<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let Some(function) = cx.field(node, F::Function) else { return Flow::Children };
    let count = args(cx, node);
    // An import that gives names was taken care of with them.
    let known = cx.take_mark(node).is_some();
    if !known && (function.kind() == "import" || cx.text(function) == "require") {
        dynamic(cx, node);
    }
    mark_call(cx, function, Role::Call, count);
    Flow::Children
}

/// `require("m")` and `import("m")`.
fn dynamic<'t>(cx: &mut Cx<'t>, node: Node<'t>) {
    if let Some(source) = required(cx, node) {
        let (span, scope) = (span(node), cx.scope);
        cx.import(Import {
            kind: ImportKind::Dynamic,
            source,
            alias: Sym::NONE,
            names: Vec::new(),
            span,
            scope,
        });
    }
}

/// The module that a call loads, if it is written out.
pub(super) fn required<'t>(cx: &mut Cx<'t>, call: Node<'t>) -> Option<Sym> {
    let function = cx.field(call, F::Function)?;
    let loads = function.kind() == "import" || cx.text(function) == "require";
    let list = cx.field(call, F::Arguments).filter(|_| loads)?;
    let text = list.named_child(0).filter(|first| first.kind() == "string")?;
    Some(super::modules::unquoted(cx, text))
}

fn new<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(class) = cx.field(node, F::Constructor) {
        let count = args(cx, node);
        mark_call(cx, class, Role::Construct, count);
    }
    Flow::Children
}

fn member<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(name) = cx.field(node, F::Property) {
        let receiver = object(cx, node);
        cx.mark_new(name, Role::Read, receiver);
    }
    Flow::Children
}

/// A capitalised element is a component.
fn jsx<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(name) = cx.field(node, F::Name) {
        let native =
            name.kind() == "identifier" && cx.text(name).starts_with(|c: char| c.is_ascii_lowercase());
        if native {
            cx.skip(name);
        } else {
            mark_call(cx, name, Role::Call, crate::facts::ARGS_UNKNOWN);
        }
    }
    Flow::Children
}

fn jsx_closing<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    let name = cx.field(node, F::Name);
    match name.filter(|name| !cx.text(*name).starts_with(|c: char| c.is_ascii_lowercase())) {
        Some(_) => Flow::Children,
        None => Flow::Skip,
    }
}

fn jsx_attribute<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Flow {
    if let Some(name) = node.named_child(0) {
        cx.skip(name);
    }
    Flow::Children
}

/// What an expression is.
pub(in crate::lang) fn expr<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Expr {
    match node.kind() {
        "identifier" | "shorthand_property_identifier" | "type_identifier" => Expr::Name(cx.sym(node)),
        "this" => Expr::This,
        "super" => Expr::Super,
        "member_expression" | "nested_identifier" => {
            let base = object(cx, node);
            let name = cx.field(node, F::Property).map(|name| cx.sym(name)).unwrap_or_default();
            Expr::Member { base, name, path: false }
        }
        "call_expression" => {
            let callee = cx.field(node, F::Function).map_or(ExprId::NONE, |callee| cx.expr(callee));
            Expr::Call { callee, args: args(cx, node), first: kit::first_arg(cx, node) }
        }
        "new_expression" => {
            let ty = cx.field(node, F::Constructor).map_or(TypeId::NONE, |class| as_type(cx, class));
            let args = cx.field(node, F::TypeArguments).map(|list| cx.named(list)).unwrap_or_default();
            Expr::Typed(with_args(cx, ty, args))
        }
        "object" => object_literal(cx, node),
        "array" => match node.named_child(0) {
            Some(first) if !first.kind().contains("comment") && first.kind() != "spread_element" => {
                Expr::List(cx.expr(first))
            }
            _ => Expr::Literal(Literal::List),
        },
        "arrow_function" | "function_expression" => lambda(cx, node),
        "regex" => Expr::Literal(Literal::Number),
        "unary_expression" => Expr::Literal(Literal::Boolean),
        "sequence_expression" => match node.named_child_count() {
            0 => Expr::Unknown,
            count => inner(cx, node, count as u32 - 1),
        },
        "await_expression" => node.named_child(0).map_or(Expr::Unknown, |inner| Expr::Await(cx.expr(inner))),
        "subscript_expression" => Expr::Index(object(cx, node)),
        "non_null_expression"
        | "parenthesized_expression"
        | "satisfies_expression"
        | "instantiation_expression" => inner(cx, node, 0),
        "as_expression" => match node.named_child(1) {
            Some(ty) => Expr::Typed(cx.ty(ty)),
            // `as const`
            None => inner(cx, node, 0),
        },
        "ternary_expression" => match (cx.field(node, F::Consequence), cx.field(node, F::Alternative)) {
            (Some(left), Some(right)) => Expr::Either(cx.expr(left), cx.expr(right)),
            _ => Expr::Unknown,
        },
        "binary_expression" => {
            let operator = cx.field(node, F::Operator).map_or("", |operator| cx.text(operator));
            match (cx.field(node, F::Left), cx.field(node, F::Right)) {
                (Some(left), Some(right)) if matches!(operator, "||" | "??") => {
                    Expr::Either(cx.expr(left), cx.expr(right))
                }
                (_, Some(right)) if operator == "&&" => {
                    let id = cx.expr(right);
                    cx.facts.expr(id).cloned().unwrap_or(Expr::Unknown)
                }
                _ => Expr::Literal(Literal::Number),
            }
        }
        "assignment_expression" => cx.field(node, F::Right).map_or(Expr::Unknown, |right| {
            let id = cx.expr(right);
            cx.facts.expr(id).cloned().unwrap_or(Expr::Unknown)
        }),
        kind => kit::literal(kind).unwrap_or(Expr::Unknown),
    }
}

/// What a function returns that is the value of something with a type.
pub(super) fn returned<'t>(cx: &mut Cx<'t>, function: Node<'t>, of: TypeId) -> TypeId {
    match cx.field(function, F::ReturnType) {
        Some(returns) => cx.ty(returns),
        None if of.is_some() => cx.type_id(Type::Returned(of)),
        None => TypeId::NONE,
    }
}

/// What a function as a value is: known by the type it says, or by what it gives.
fn lambda<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> Expr {
    if let Some(returns) = cx.field(node, F::ReturnType) {
        let returns = cx.ty(returns);
        return Expr::Typed(cx.type_id(Type::Callable { params: Vec::new(), returns }));
    }
    let body = cx.field(node, F::Body);
    let value = match body.map(|body| (body, body.kind())) {
        Some((body, "statement_block")) => {
            let returns = cx.named(body).into_iter().rfind(|child| child.kind() == "return_statement");
            returns.and_then(|returns| returns.named_child(0))
        }
        Some((body, _)) => Some(body),
        None => None,
    };
    match value {
        Some(value) => Expr::Lambda { body: cx.expr(value), at: value.start_byte() as u32 },
        None => Expr::Literal(Literal::Function),
    }
}

/// What a function is handed to, assigned to or returned as: that tells what its parameters are.
pub(super) fn context<'t>(cx: &mut Cx<'t>) -> Option<(ExprId, Sym)> {
    let around = cx.parent()?;
    match around.kind() {
        "arguments" => {
            let call = cx.handed_to()?;
            let callee = cx.field(call, F::Function).or_else(|| cx.field(call, F::Constructor))?;
            match callee.kind() {
                "member_expression" => {
                    let method = cx.field(callee, F::Property).map(|name| cx.sym(name))?;
                    Some((object(cx, callee), method))
                }
                _ => Some((cx.expr(callee), Sym::NONE)),
            }
        }
        "variable_declarator" | "public_field_definition" => {
            let ty = cx.field(around, F::Type)?;
            let ty = cx.ty(ty);
            Some((cx.expr_id(Expr::Typed(ty)), Sym::NONE))
        }
        "assignment_expression" => {
            let left = cx.field(around, F::Left)?;
            Some((cx.expr(left), Sym::NONE))
        }
        "return_statement" => {
            let function = cx.facts.scope(cx.function_scope())?;
            let around = cx.facts.definition(function.definition)?;
            let ty = Some(around.ty).filter(|ty| {
                ty.is_some()
                    && function.kind == crate::facts::ScopeKind::Function
                    && around.kind.is_callable()
            })?;
            Some((cx.expr_id(Expr::Typed(ty)), Sym::NONE))
        }
        _ => None,
    }
}

/// A named type with arguments.
pub(super) fn with_args<'t>(cx: &mut Cx<'t>, ty: TypeId, args: Vec<Node<'t>>) -> TypeId {
    match cx.facts.ty(ty).cloned() {
        Some(Type::Named { path, .. }) if !args.is_empty() => {
            let args = args.into_iter().map(|arg| cx.ty(arg)).collect();
            cx.type_id(Type::Named { path, args })
        }
        _ => ty,
    }
}

fn inner<'t>(cx: &mut Cx<'t>, node: Node<'t>, index: u32) -> Expr {
    node.named_child(index).map_or(Expr::Unknown, |inner| {
        let id = cx.expr(inner);
        cx.facts.expr(id).cloned().unwrap_or(Expr::Unknown)
    })
}

/// An expression that stands for a class.
pub(in crate::lang) fn as_type<'t>(cx: &mut Cx<'t>, node: Node<'t>) -> TypeId {
    match node.kind() {
        "identifier" | "member_expression" => {
            let text: String = cx.text(node).split_whitespace().collect();
            if text.len() <= 200 { cx.named_type(&text) } else { TypeId::NONE }
        }
        _ => TypeId::NONE,
    }
}

/// JavaScript has no types to read.
pub(super) fn no_type<'t>(_: &mut Cx<'t>, _: Node<'t>) -> Type {
    Type::Unknown
}
