//! Comments and attributes that belong to the definition after them.

use tree_sitter::Node;

use super::cx::{Cx, span};
use super::{Flags, Span};

/// A comment, with the attributes after it, that may belong to the definition that follows.
#[derive(Clone, Copy, Default)]
pub(super) struct Pending {
    pub(super) doc: Span,
    pub(super) start: u32,
    pub(super) end_row: usize,
    pub(super) flags: Flags,
}

impl<'t> Cx<'t> {
    pub(crate) fn comment(&mut self, node: Node<'t>) {
        let (first, last) = (node.start_position().row, last_row(node));
        let at = span(node);
        let text = self.text(node);
        // What stands after code on its line belongs to that code.
        let before = self.source.get(..node.start_byte()).unwrap_or_default();
        let alone = before.rsplit('\n').next().unwrap_or_default().trim_start().is_empty();
        let is_doc =
            alone && self.compiled.language.doc_prefixes.iter().any(|prefix| text.starts_with(prefix));
        if self.pending.end_row + 1 == first && !self.pending.doc.is_empty() && is_doc {
            self.pending.doc.end = at.end;
        } else {
            let doc = if is_doc { at } else { Span::default() };
            let start = if is_doc { at.start } else { u32::MAX };
            self.pending = Pending { doc, start, end_row: 0, flags: Flags::default() };
        }
        self.pending.end_row = last;
    }

    /// An attribute that stands before the definition it belongs to.
    pub(crate) fn attribute(&mut self, node: Node<'t>, flags: Flags) {
        if self.pending.end_row + 1 < node.start_position().row
            || self.pending.start == u32::MAX
            || (self.pending.doc.is_empty() && self.pending.flags == Flags::default())
        {
            self.pending = Pending { start: node.start_byte() as u32, ..Pending::default() };
        }
        self.pending.end_row = last_row(node);
        self.pending.flags = self.pending.flags.with(flags);
    }
}

/// The row of the last byte: some comments end with their line break.
fn last_row(node: Node<'_>) -> usize {
    let end = node.end_position();
    if end.column == 0 && end.row > node.start_position().row { end.row - 1 } else { end.row }
}
