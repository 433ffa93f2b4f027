//! Facts in a form that people read: for tests, and for looking at what an answer stands on.

use std::fmt::Write;

use super::{Expr, ExprId, FileFacts, Flags, Part, Type, TypeId};

impl FileFacts {
    /// A type, written.
    pub fn type_text(&self, id: TypeId) -> String {
        let list = |ids: &[TypeId], by: &str| {
            let texts: Vec<String> = ids.iter().map(|id| self.type_text(*id)).collect();
            texts.join(by)
        };
        match self.ty(id) {
            None => String::new(),
            Some(Type::Named { path, args }) if args.is_empty() => self.text(*path).to_owned(),
            Some(Type::Named { path, args }) => format!("{}<{}>", self.text(*path), list(args, ", ")),
            Some(Type::Pointer(inner)) => format!("&{}", self.type_text(*inner)),
            Some(Type::Array(inner)) => format!("[{}]", self.type_text(*inner)),
            Some(Type::Tuple(all)) => format!("({})", list(all, ", ")),
            Some(Type::Union(all)) => list(all, " | "),
            Some(Type::Function(returns)) => format!("fn -> {}", self.type_text(*returns)),
            Some(Type::Callable { params, returns }) => {
                format!("fn({}) -> {}", list(params, ", "), self.type_text(*returns))
            }
            Some(Type::Object(_)) => "{…}".to_owned(),
            Some(Type::Returned(of)) => format!("{}()", self.type_text(*of)),
            Some(Type::Of(value)) => format!("typeof {}", self.expr_text(*value)),
            Some(Type::Indexed(of, name)) => format!("{}[{}]", self.type_text(*of), self.text(*name)),
            Some(Type::Own) => "Self".to_owned(),
            Some(Type::Unknown) => "?".to_owned(),
        }
    }

    /// An expression, written.
    pub fn expr_text(&self, id: ExprId) -> String {
        match self.expr(id) {
            None => String::new(),
            Some(Expr::Unknown) => "?".to_owned(),
            Some(Expr::Name(name)) => self.text(*name).to_owned(),
            Some(Expr::This) => "self".to_owned(),
            Some(Expr::Super) => "super".to_owned(),
            Some(Expr::Member { base, name, path }) => {
                let by = if *path { "::" } else { "." };
                format!("{}{by}{}", self.expr_text(*base), self.text(*name))
            }
            Some(Expr::Inside(inner, _)) => format!("{{{}}}", self.expr_text(*inner)),
            Some(Expr::Call { callee, args, .. }) => format!("{}({args})", self.expr_text(*callee)),
            Some(Expr::Typed(ty)) => format!("<{}>", self.type_text(*ty)),
            Some(Expr::Await(inner)) => format!("await {}", self.expr_text(*inner)),
            Some(Expr::Try(inner)) => format!("{}?", self.expr_text(*inner)),
            Some(Expr::Index(inner)) => format!("{}[]", self.expr_text(*inner)),
            Some(Expr::Literal(literal)) => format!("{literal:?}").to_lowercase(),
            Some(Expr::List(first)) => format!("[{}]", self.expr_text(*first)),
            Some(Expr::Object(_)) => "{…}".to_owned(),
            Some(Expr::Lambda { body, .. }) => format!("=> {}", self.expr_text(*body)),
            Some(Expr::Either(left, right)) => {
                format!("{} | {}", self.expr_text(*left), self.expr_text(*right))
            }
            Some(Expr::Tuple(all)) => {
                let all: Vec<String> = all.iter().map(|one| self.expr_text(*one)).collect();
                format!("({})", all.join(", "))
            }
            Some(Expr::Filled(literal, first, second)) => {
                let of = self.expr_text(*first);
                let to = self.expr_text(*second);
                let colon = if to.is_empty() { "" } else { ": " };
                format!("{literal:?}").to_lowercase() + &format!("[{of}{colon}{to}]")
            }
            Some(Expr::Bound(index)) => {
                let bound = self.bindings.get(*index as usize);
                bound.map_or("?".to_owned(), |bound| {
                    format!("{}@{}", self.text(bound.name), self.lines.line(bound.start))
                })
            }
        }
    }

    /// Everything, a line a fact.
    pub fn describe(&self) -> String {
        let mut out = String::new();
        if self.package.is_some() {
            let _ = writeln!(out, "package {}", self.text(self.package));
        }
        self.describe_definitions(&mut out);
        for import in &self.imports {
            let line = self.lines.line(import.span.start);
            let _ = write!(out, "{line}: import {} {:?}", import.kind.as_str(), self.text(import.source));
            if import.alias.is_some() {
                let _ = write!(out, " as {}", self.text(import.alias));
            }
            for name in &import.names {
                let _ = write!(out, " {}", self.text(name.name));
                if name.alias.is_some() {
                    let _ = write!(out, "={}", self.text(name.alias));
                }
            }
            out.push('\n');
        }
        for export in &self.exports {
            let line = self.lines.line(export.start);
            let _ = write!(out, "{line}: export {}", self.text(export.name));
            if export.local != export.name {
                let _ = write!(out, " = {}", self.text(export.local));
            }
            out.push('\n');
        }
        self.describe_names(&mut out);
        if self.parse_errors > 0 {
            let _ = writeln!(out, "errors {}", self.parse_errors);
        }
        out
    }

    fn describe_definitions(&self, out: &mut String) {
        for (index, definition) in self.definitions.iter().enumerate() {
            let (line, end) = (self.lines.line(definition.name_start), self.lines.last_line(definition.span));
            let path = self.parent_path(super::DefId::new(index));
            let dot = if path.is_empty() { "" } else { "." };
            let _ = write!(
                out,
                "{line}-{end}: {} {path}{dot}{}",
                definition.kind.as_str(),
                self.text(definition.name)
            );
            if !definition.params.is_empty() || definition.kind.is_callable() {
                let params = definition.params.iter().map(|param| {
                    let ty = self.type_text(param.ty);
                    let rest = if param.rest { "*" } else { "" };
                    let optional = if param.optional { "?" } else { "" };
                    let colon = if ty.is_empty() { "" } else { ": " };
                    format!("{rest}{}{optional}{colon}{ty}", self.text(param.name))
                });
                let _ = write!(out, "({})", params.collect::<Vec<_>>().join(", "));
            }
            if definition.ty.is_some() {
                let _ = write!(out, ": {}", self.type_text(definition.ty));
            }
            if definition.value.is_some() {
                let _ = write!(out, " = {}", self.expr_text(definition.value));
            }
            for base in &definition.bases {
                let _ = write!(out, " < {}", self.type_text(*base));
            }
            if definition.owner.is_some() {
                let _ = write!(out, " of {}", self.type_text(definition.owner));
            }
            if definition.decorator.is_some() {
                let _ = write!(out, " @{}", self.expr_text(definition.decorator));
            }
            for (flag, word) in [
                (Flags::EXPORTED, "pub"),
                (Flags::TEST, "test"),
                (Flags::STATIC, "static"),
                (Flags::ASYNC, "async"),
                (Flags::ABSTRACT, "abstract"),
                (Flags::DECLARATION, "declared"),
                (Flags::DEFAULT_EXPORT, "default"),
                (Flags::ACCESSOR, "accessor"),
                (Flags::VARIADIC, "variadic"),
            ] {
                if definition.flags.has(flag) {
                    let _ = write!(out, " [{word}]");
                }
            }
            if !definition.doc.is_empty() {
                let _ = write!(out, " doc@{}", self.lines.line(definition.doc.start));
            }
            out.push('\n');
        }
    }

    fn describe_names(&self, out: &mut String) {
        for binding in &self.bindings {
            let _ = write!(
                out,
                "{}: let {} {}",
                self.lines.line(binding.start),
                format!("{:?}", binding.kind).to_lowercase(),
                self.text(binding.name)
            );
            if binding.ty.is_some() {
                let _ = write!(out, ": {}", self.type_text(binding.ty));
            }
            if binding.value.is_some() {
                let _ = write!(out, " = {}", self.expr_text(binding.value));
            }
            for part in binding.part.steps() {
                let _ = match part {
                    Part::Field(name) => write!(out, " part .{}", self.text(name)),
                    Part::Variant(name, 0) => write!(out, " part {}()", self.text(name)),
                    Part::Variant(name, at) => write!(out, " part {}({at})", self.text(name)),
                    Part::Given(name, at) => write!(out, " part given by {} at {at}", self.text(name)),
                    part => write!(out, " part {part:?}"),
                };
            }
            out.push('\n');
        }
        for reference in &self.references {
            let _ = write!(out, "{}: {} ", self.lines.line(reference.start), reference.role.as_str());
            if reference.receiver.is_some() {
                let _ = write!(out, "{} . ", self.expr_text(reference.receiver));
            }
            out.push_str(self.text(reference.name));
            if matches!(reference.role, super::Role::Call | super::Role::Construct) {
                let _ = write!(out, "({})", reference.args);
            }
            let around = self.enclosing(reference.scope);
            if let Some(around) = self.definition(around) {
                let _ = write!(out, " in {}", self.text(around.name));
            }
            out.push('\n');
        }
    }
}
