//! What the handlers of a language work with while a file is walked.
//!
//! The walk is in the order of the file, a parent before its children. A handler that knows what a node further down
//! means (the name of a function, the callee of a call) marks it; when the walk comes to the marked node, it does as told.
//! Nothing here recurses without a bound: source may nest as deep as it likes.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;

use tree_sitter::{Node, TreeCursor};

use super::docs::Pending;
use super::strings::{Interner, Mixing};
use super::{
    Binding, BindingKind, DefId, Definition, Export, Expr, ExprId, FileFacts, Flags, Import, Kind, Param,
    Part, Parts, Reference, Role, Scope, ScopeId, ScopeKind, Span, Sym, Type, TypeId,
};
use crate::lang::{Compiled, F};

/// Longer signatures are cut.
const MAX_SIGNATURE: usize = 300;

/// How the walk goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Into the children.
    Children,
    /// Past them.
    Skip,
}

/// What is already known of a node that the walk will come to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mark {
    /// Its name is taken care of.
    Skip,
    /// It is a use of its name.
    Use {
        /// As this.
        role: Role,
        /// With so many arguments.
        args: u8,
        /// Of this.
        receiver: ExprId,
    },
}

/// A definition to be.
pub(crate) struct NewDefinition<'t> {
    pub(crate) name: Sym,
    pub(crate) name_start: u32,
    pub(crate) kind: Kind,
    pub(crate) node: Node<'t>,
    pub(crate) span: Span,
    /// Where the signature ends: the body.
    pub(crate) head_end: u32,
    pub(crate) flags: Flags,
    pub(crate) ty: TypeId,
    pub(crate) value: ExprId,
    pub(crate) bases: Vec<TypeId>,
    pub(crate) params: Vec<Param>,
    pub(crate) owner: TypeId,
    pub(crate) decorator: ExprId,
    pub(crate) doc: Span,
}

type Quick = BuildHasherDefault<Mixing>;
type Map<V> = HashMap<usize, V, Quick>;

/// The state of a walk.
pub(crate) struct Cx<'t> {
    pub(crate) source: &'t str,
    pub(crate) compiled: &'static Compiled,
    pub(crate) facts: FileFacts,
    pub(crate) names: Interner,
    pub(crate) scope: ScopeId,
    pub(crate) definition: DefId,
    /// The nodes around the current one, outermost first.
    pub(crate) above: Vec<Node<'t>>,
    pub(super) marks: Map<Mark>,
    pub(super) expr_of: Map<ExprId>,
    pub(super) exprs: HashMap<Expr, ExprId, Quick>,
    pub(super) types: HashMap<Type, TypeId, Quick>,
    owners: Map<DefId>,
    seen: HashSet<(ScopeId, DefId, Sym), Quick>,
    spare: RefCell<Option<TreeCursor<'t>>>,
    pub(super) depth: u32,
    pub(super) pending: Pending,
}

pub(crate) fn span(node: Node<'_>) -> Span {
    Span::new(node.start_byte() as u32, node.end_byte() as u32)
}

impl<'t> Cx<'t> {
    pub(crate) fn new(source: &'t str, compiled: &'static Compiled) -> Self {
        let whole = Span::new(0, source.len() as u32);
        let file =
            Scope { kind: ScopeKind::File, parent: ScopeId::NONE, span: whole, definition: DefId::NONE };
        Self {
            source,
            compiled,
            facts: FileFacts { scopes: vec![file], ..FileFacts::default() },
            names: Interner::default(),
            scope: ScopeId::new(0),
            definition: DefId::NONE,
            above: Vec::new(),
            marks: Map::default(),
            expr_of: Map::default(),
            exprs: HashMap::default(),
            types: HashMap::default(),
            owners: Map::default(),
            seen: HashSet::default(),
            spare: RefCell::new(None),
            depth: 0,
            pending: Pending::default(),
        }
    }

    pub(crate) fn finish(mut self) -> FileFacts {
        self.facts.references.sort_by_key(|reference| reference.start);
        self.facts.strings = self.names.finish();
        self.facts
    }

    // Reading nodes.

    pub(crate) fn field(&self, node: Node<'t>, field: F) -> Option<Node<'t>> {
        match self.compiled.field(field) {
            0 => None,
            id => node.child_by_field_id(id),
        }
    }

    pub(crate) fn text(&self, node: Node<'t>) -> &'t str {
        self.source.get(node.byte_range()).unwrap_or_default()
    }

    pub(crate) fn slice(&self, span: Span) -> &'t str {
        self.source.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    pub(crate) fn sym(&mut self, node: Node<'t>) -> Sym {
        let text = self.text(node);
        self.names.intern(text)
    }

    pub(crate) fn intern(&mut self, text: &str) -> Sym {
        self.names.intern(text)
    }

    /// Walks the children with a cursor that is kept: making one for every look costs more than the look.
    fn with_cursor<R>(&self, node: Node<'t>, look: impl FnOnce(&mut TreeCursor<'t>) -> R) -> R {
        let mut spare = self.spare.borrow_mut();
        look(spare.get_or_insert_with(|| node.walk()))
    }

    pub(crate) fn named(&self, node: Node<'t>) -> Vec<Node<'t>> {
        if node.named_child_count() == 0 {
            return Vec::new();
        }
        self.with_cursor(node, |cursor| node.named_children(cursor).collect())
    }

    /// How many named children there are that are no comments, or none if one is of these kinds.
    pub(crate) fn count(&self, node: Node<'t>, unless: &[&str]) -> Option<usize> {
        if node.named_child_count() == 0 {
            return Some(0);
        }
        self.with_cursor(node, |cursor| {
            let mut count = 0;
            for child in node.named_children(cursor) {
                if !unless.is_empty() && unless.contains(&child.kind()) {
                    return None;
                }
                count += usize::from(!child.is_extra());
            }
            Some(count)
        })
    }

    /// The nearest child of one of these kinds.
    pub(crate) fn child(&self, node: Node<'t>, kinds: &[&str]) -> Option<Node<'t>> {
        self.with_cursor(node, |cursor| node.children(cursor).find(|child| kinds.contains(&child.kind())))
    }

    pub(crate) fn parent(&self) -> Option<Node<'t>> {
        self.above.last().copied()
    }

    /// The call that the node is an argument of.
    pub(crate) fn handed_to(&self) -> Option<Node<'t>> {
        match self.above.as_slice() {
            [.., call, list] if list.kind().contains("argument") => Some(*call),
            _ => None,
        }
    }

    pub(crate) fn parent_kind(&self) -> &'t str {
        self.above.last().map_or("", |node| node.kind())
    }

    pub(crate) fn scope_kind(&self) -> ScopeKind {
        self.facts.scope(self.scope).map_or(ScopeKind::File, |scope| scope.kind)
    }

    pub(crate) fn scope_span(&self) -> Span {
        self.facts.scope(self.scope).map_or(Span::default(), |scope| scope.span)
    }

    /// The innermost scope of a function or closure, or else of the file, a type or a module: where Python's
    /// assignments and `var` live.
    pub(crate) fn function_scope(&self) -> ScopeId {
        let mut at = self.scope;
        while let Some(scope) = self.facts.scope(at) {
            if !matches!(scope.kind, ScopeKind::Block | ScopeKind::Comprehension) {
                return at;
            }
            at = scope.parent;
        }
        self.scope
    }

    /// Whether the current place is inside a function.
    pub(crate) fn in_function(&self) -> bool {
        let mut at = self.scope;
        while let Some(scope) = self.facts.scope(at) {
            match scope.kind {
                ScopeKind::Function | ScopeKind::Closure => return true,
                ScopeKind::Type | ScopeKind::Module | ScopeKind::File => return false,
                ScopeKind::Block | ScopeKind::Comprehension => at = scope.parent,
            }
        }
        false
    }

    /// The innermost type around the current place.
    pub(crate) fn type_around(&self) -> DefId {
        let mut at = self.definition;
        while let Some(definition) = self.facts.definition(at) {
            if definition.kind.is_type() {
                return at;
            }
            at = definition.parent;
        }
        DefId::NONE
    }

    // Marks.

    pub(crate) fn mark(&mut self, node: Node<'t>, mark: Mark) {
        self.marks.insert(node.id(), mark);
    }

    pub(crate) fn skip(&mut self, node: Node<'t>) {
        self.mark(node, Mark::Skip);
    }

    pub(crate) fn mark_use(&mut self, node: Node<'t>, role: Role, args: u8, receiver: ExprId) {
        self.mark(node, Mark::Use { role, args, receiver });
    }

    pub(crate) fn take_mark(&mut self, node: Node<'t>) -> Option<Mark> {
        if self.marks.is_empty() { None } else { self.marks.remove(&node.id()) }
    }

    /// Marks a name unless something is already known of it: the outer of two nodes knows better.
    pub(crate) fn mark_new(&mut self, node: Node<'t>, role: Role, receiver: ExprId) {
        self.marks.entry(node.id()).or_insert(Mark::Use { role, args: 0, receiver });
    }

    /// A value further down is the body of a definition: `const f = () => …`.
    pub(crate) fn own(&mut self, node: Node<'t>, definition: DefId) {
        self.owners.insert(node.id(), definition);
    }

    pub(crate) fn owner_of(&self, node: Node<'t>) -> DefId {
        self.owners.get(&node.id()).copied().unwrap_or(DefId::NONE)
    }

    /// The definition that the next one will be.
    pub(crate) fn next_definition(&self) -> DefId {
        DefId::new(self.facts.definitions.len())
    }

    pub(crate) fn take_owner(&mut self, node: Node<'t>) -> DefId {
        self.owners.remove(&node.id()).unwrap_or(DefId::NONE)
    }

    /// Whether a name comes up for the first time in a scope or, for a member, in a type.
    pub(crate) fn is_first(&mut self, scope: ScopeId, of: DefId, name: Sym) -> bool {
        self.seen.insert((scope, of, name))
    }

    /// Whether a name came up before in a scope or, for a member, in a type.
    pub(crate) fn was_seen(&self, scope: ScopeId, of: DefId, name: Sym) -> bool {
        self.seen.contains(&(scope, of, name))
    }

    /// Whether a name comes up for the first time in the current scope.
    pub(crate) fn is_first_name(&mut self, name: Node<'t>) -> bool {
        let sym = self.sym(name);
        self.is_first(self.scope, DefId::NONE, sym)
    }

    // Making facts.

    /// A name that is read unless something else was marked.
    pub(crate) fn name(&mut self, node: Node<'t>, otherwise: Role) {
        match self.take_mark(node) {
            Some(Mark::Skip) => {}
            Some(Mark::Use { role, args, receiver }) => self.reference(node, role, args, receiver),
            None => self.reference(node, otherwise, 0, ExprId::NONE),
        }
    }

    pub(crate) fn reference(&mut self, node: Node<'t>, role: Role, args: u8, receiver: ExprId) {
        let name = self.sym(node);
        self.reference_at(name, node.start_byte() as u32, role, args, receiver);
    }

    pub(crate) fn reference_at(&mut self, name: Sym, start: u32, role: Role, args: u8, receiver: ExprId) {
        if name.is_some() {
            let scope = self.scope;
            self.facts.references.push(Reference { name, start, scope, role, args, receiver });
        }
    }

    pub(crate) fn new_definition(&mut self, name: Node<'t>, kind: Kind, node: Node<'t>) -> NewDefinition<'t> {
        self.skip(name);
        NewDefinition {
            name: self.sym(name),
            name_start: name.start_byte() as u32,
            kind,
            node,
            span: span(node),
            head_end: node.end_byte() as u32,
            flags: Flags::default(),
            ty: TypeId::NONE,
            value: ExprId::NONE,
            bases: Vec::new(),
            params: Vec::new(),
            owner: TypeId::NONE,
            decorator: ExprId::NONE,
            doc: Span::default(),
        }
    }

    pub(crate) fn define(&mut self, new: NewDefinition<'t>) -> DefId {
        let pending = std::mem::take(&mut self.pending);
        let row = new.node.start_position().row;
        let belongs = pending.end_row + 1 >= row && pending.end_row <= row && pending.start < new.span.start;
        let mut doc = new.doc;
        let mut flags = new.flags;
        let mut begin = new.span.start;
        if belongs
            && pending.start != u32::MAX
            && (!pending.doc.is_empty() || pending.flags != Flags::default())
        {
            doc = if doc.is_empty() { pending.doc } else { doc };
            flags = flags.with(pending.flags);
            begin = begin.min(pending.start);
        }
        let signature = self.signature(Span::new(new.node.start_byte() as u32, new.head_end));
        self.facts.definitions.push(Definition {
            name: new.name,
            kind: new.kind,
            name_start: new.name_start,
            span: Span::new(begin, new.span.end),
            signature,
            doc,
            scope: self.scope,
            body: ScopeId::NONE,
            parent: self.definition,
            flags,
            ty: new.ty,
            value: new.value,
            bases: new.bases,
            params: new.params,
            owner: new.owner,
            decorator: new.decorator,
        });
        DefId::new(self.facts.definitions.len() - 1)
    }

    /// Defines a member of a type from elsewhere, as `self.x = …` does in a method.
    pub(crate) fn define_in(&mut self, parent: DefId, new: NewDefinition<'t>) -> DefId {
        let (scope, definition) = (self.scope, self.definition);
        self.scope = self.facts.definition(parent).map_or(scope, |parent| parent.body);
        self.definition = parent;
        let id = self.define(new);
        (self.scope, self.definition) = (scope, definition);
        id
    }

    /// A function without a written return type is known by what it first returns.
    pub(crate) fn returns(&mut self, value: Node<'t>) {
        if self.facts.scope(self.function_scope()).is_none_or(|scope| scope.kind != ScopeKind::Function) {
            return;
        }
        let wanted = self
            .facts
            .definition(self.definition)
            .is_some_and(|around| around.kind.is_callable() && around.ty.is_none() && around.value.is_none());
        if wanted {
            let value = self.expr(value);
            let known = !matches!(self.facts.expr(value), None | Some(Expr::Unknown | Expr::Literal(_)));
            if let Some(index) = self.definition.index().filter(|_| known)
                && let Some(around) = self.facts.definitions.get_mut(index)
            {
                around.value = value;
            }
        }
    }

    /// The head of a definition in one line.
    fn signature(&mut self, head: Span) -> Sym {
        let mut line = String::new();
        // Looked at in pieces: a head may be a whole bundle.
        for word in self.slice(head).split_whitespace() {
            if line.len() + word.len() > MAX_SIGNATURE {
                let room = MAX_SIGNATURE.saturating_sub(line.len());
                line.extend(word.chars().take(room / 4));
                line.push('…');
                break;
            }
            if !line.is_empty() && !line.ends_with('(') && !word.starts_with(')') {
                line.push(' ');
            }
            line.push_str(word);
        }
        let line = line.replace(",)", ")");
        self.names.intern(line.trim_end_matches(['{', ':', '=', ';', ',', ' ']))
    }

    /// The rest of the node's children lie in a scope of their own.
    pub(crate) fn enter(&mut self, kind: ScopeKind, node: Node<'t>, definition: DefId) -> ScopeId {
        let owner = if definition.is_some() { definition } else { self.definition };
        self.facts.scopes.push(Scope { kind, parent: self.scope, span: span(node), definition: owner });
        self.scope = ScopeId::new(self.facts.scopes.len() - 1);
        self.definition = owner;
        if let Some(defined) = definition.index().and_then(|index| self.facts.definitions.get_mut(index)) {
            defined.body = self.scope;
        }
        self.scope
    }

    /// A name that lives in the current scope.
    pub(crate) fn bind(&mut self, name: Node<'t>, kind: BindingKind, from: &Source) {
        self.skip(name);
        let (sym, start) = (self.sym(name), name.start_byte() as u32);
        self.bind_at(sym, start, kind, from);
    }

    pub(crate) fn bind_at(&mut self, name: Sym, start: u32, kind: BindingKind, from: &Source) {
        if name.is_none() {
            return;
        }
        let scope = from.scope.unwrap_or(self.scope);
        let visible = from.visible.or_else(|| self.facts.scope(scope).map(|scope| scope.span));
        let (visible, ty, value) = (visible.unwrap_or_default(), from.ty, from.value);
        self.facts.bindings.push(Binding { name, kind, start, scope, visible, ty, value, part: from.part });
    }

    pub(crate) fn import(&mut self, import: Import) {
        self.facts.imports.push(import);
    }

    pub(crate) fn export(&mut self, name: Sym, local: Sym, start: u32) {
        if self.scope_kind() == ScopeKind::File {
            self.facts.exports.push(Export { name, local, start });
        }
    }
}

/// What a binding is made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    pub(crate) scope: Option<ScopeId>,
    pub(crate) visible: Option<Span>,
    pub(crate) ty: TypeId,
    pub(crate) value: ExprId,
    pub(crate) part: Parts,
}

impl Source {
    pub(crate) fn nothing() -> Self {
        Self { scope: None, visible: None, ty: TypeId::NONE, value: ExprId::NONE, part: Parts::default() }
    }

    pub(crate) fn typed(ty: TypeId) -> Self {
        Self { ty, ..Self::nothing() }
    }

    pub(crate) fn value(value: ExprId, part: Part) -> Self {
        Self { value, part: Parts::one(part), ..Self::nothing() }
    }

    /// One step further into the value.
    pub(crate) fn part(self, part: Part) -> Self {
        Self { part: self.part.then(part), ..self }
    }
}
