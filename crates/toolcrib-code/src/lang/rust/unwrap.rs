//! Items inside a macro: `cfg_feature! { mod a; pub fn b() {} }`.
//!
//! Many macros only wrap items, to compile them under a condition or to add to them. To the grammar they are tokens. So
//! what stands around such items is blanked out, and the file is read as if they stood by themselves: every offset stays
//! what it is.

use tree_sitter::{Node, Tree};

use crate::facts::parse;
use crate::lang::{Language, Rewritten};

/// How deep wrappers inside wrappers are opened.
const MAX_ROUNDS: usize = 3;
/// More wrappers than these in one round are left closed.
const MAX_WRAPPERS: usize = 2_000;

/// The text with all wrappers of items opened, if there are any.
pub(super) fn unwrapped(source: &str, tree: &Tree, language: &'static Language) -> Option<Rewritten> {
    let mut opened = Rewritten { text: source.to_owned(), tree: tree.clone(), macros: Vec::new() };
    for _ in 0..MAX_ROUNDS {
        let wrappers = wrappers(&opened.text, &opened.tree, language);
        if wrappers.is_empty() {
            break;
        }
        let mut bytes = opened.text.into_bytes();
        for wrapper in &wrappers {
            for range in [wrapper.start..wrapper.inner.start, wrapper.inner.end..wrapper.end] {
                let outside = bytes.get_mut(range).into_iter().flatten();
                outside.filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
            }
            opened.macros.push((wrapper.start as u32, wrapper.name.clone()));
        }
        opened.text = String::from_utf8(bytes).ok()?;
        opened.tree = parse(&opened.text, language).ok()?;
    }
    (!opened.macros.is_empty()).then_some(opened)
}

struct Wrapper {
    start: usize,
    end: usize,
    inner: std::ops::Range<usize>,
    name: String,
}

fn wrappers(source: &str, tree: &Tree, language: &'static Language) -> Vec<Wrapper> {
    let mut found = Vec::new();
    let mut left = vec![tree.root_node()];
    while let Some(around) = left.pop() {
        let mut cursor = around.walk();
        for node in around.named_children(&mut cursor) {
            match node.kind() {
                "mod_item" | "impl_item" | "trait_item" => left.extend(node.child_by_field_name("body")),
                "macro_invocation" => found.extend(wrapper(source, node, node, language)),
                "expression_statement" => {
                    let inner = node.named_child(0).filter(|inner| inner.kind() == "macro_invocation");
                    found.extend(inner.and_then(|inner| wrapper(source, node, inner, language)));
                }
                _ => {}
            }
        }
        if found.len() > MAX_WRAPPERS {
            return Vec::new();
        }
    }
    found
}

fn wrapper(source: &str, whole: Node<'_>, node: Node<'_>, language: &'static Language) -> Option<Wrapper> {
    let name = node.child_by_field_name("macro").filter(|name| name.kind() == "identifier")?;
    let tokens = node.named_children(&mut node.walk()).find(|child| child.kind() == "token_tree")?;
    let mut inner = tokens.start_byte() + 1..tokens.end_byte().checked_sub(1)?;
    // `#![…]` says what the macro is to do, not what the items are.
    let text = source.get(inner.clone())?;
    inner.start += text.len() - past_inner_attributes(text).len();
    let text = source.get(inner.clone())?;
    if !begins_like_an_item(text) || !holds_items(text, language) {
        return None;
    }
    let name = source.get(name.byte_range())?.to_owned();
    Some(Wrapper { start: whole.start_byte(), end: whole.end_byte(), inner, name })
}

fn past_inner_attributes(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(after) = rest.strip_prefix("#![") {
        match after.split_once(']') {
            Some((_, after)) => rest = after.trim_start(),
            None => return rest,
        }
    }
    rest
}

fn begins_like_an_item(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "pub", "fn", "struct", "enum", "union", "trait", "impl", "mod", "use", "const", "static", "type",
        "unsafe", "async", "extern",
    ];
    let text = text.trim_start();
    let word = text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    text.starts_with("#[") || text.starts_with("//") || WORDS.contains(&word)
}

/// Whether a text is items and hardly anything else.
fn holds_items(text: &str, language: &'static Language) -> bool {
    let Ok(tree) = parse(text, language) else { return false };
    let root = tree.root_node();
    let (mut items, mut wrong) = (0, 0);
    let mut cursor = root.walk();
    let mut left: Vec<Node<'_>> = root.named_children(&mut cursor).collect();
    while let Some(node) = left.pop() {
        if node.is_error() {
            wrong += node.end_byte() - node.start_byte();
        } else if node.kind() == "expression_statement" {
            return false;
        } else {
            items += usize::from(node.kind().ends_with("_item") || node.kind() == "use_declaration");
            if node.has_error() {
                let mut cursor = node.walk();
                left.extend(node.children(&mut cursor));
            }
        }
    }
    items > 0 && wrong * 8 <= text.len()
}
