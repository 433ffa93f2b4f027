//! How an output is shown, and what the conversation already holds.

use std::collections::HashMap;

use crate::outcome::{Attachment, Hint};

/// How a tool's output is shown to a model and to a person.
pub trait Render {
    /// One line for a person: "Read src/main.rs, lines 1-40 of 312".
    fn title(&self) -> String;

    /// The text for the model.
    fn text(&self, cx: &mut RenderContext<'_>) -> String;

    /// At most a few lines for a person.
    fn preview(&self) -> Vec<String> {
        Vec::new()
    }

    /// Binary parts.
    fn attachments(&self) -> Vec<Attachment> {
        Vec::new()
    }

    /// Calls that would continue.
    fn hints(&self) -> Vec<Hint> {
        Vec::new()
    }

    /// Whether less is shown than was asked for.
    fn truncated(&self) -> bool {
        false
    }

    /// Where the whole is kept, if the tool itself had to put it somewhere.
    fn spill(&self) -> Option<String> {
        None
    }

    /// What the caller should know besides.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What `Render::text` may look at.
pub struct RenderContext<'a> {
    tracker: Option<&'a mut ResourceTracker>,
    call_id: &'a str,
}

impl<'a> RenderContext<'a> {
    /// A context for the text of `call_id`. Without a tracker everything is shown in full.
    pub fn new(tracker: Option<&'a mut ResourceTracker>, call_id: &'a str) -> Self {
        Self { tracker, call_id }
    }

    /// A context in which nothing has been shown before.
    pub fn plain() -> RenderContext<'static> {
        RenderContext { tracker: None, call_id: "" }
    }

    /// Notes that the text shows `resource` with this hash. Returns the call that already shows the same, if it is
    /// still in the conversation; then name that instead of repeating it.
    pub fn show(&mut self, resource: &str, hash: &str) -> Option<String> {
        let call_id = self.call_id;
        self.tracker.as_mut().and_then(|tracker| tracker.show(resource, hash, call_id))
    }
}

/// Which resources (a path with a range, and the hash of what was shown) the conversation holds, and in which call.
///
/// To render a history again, walk it from the newest call to the oldest with one fresh tracker: the newest occurrence
/// is shown in full and older ones are named.
#[derive(Clone, Debug, Default)]
pub struct ResourceTracker {
    shown: HashMap<String, (String, String)>,
}

impl ResourceTracker {
    /// A tracker that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes that `call_id` shows `resource` with `hash`; returns the other call that already shows the same.
    pub fn show(&mut self, resource: &str, hash: &str, call_id: &str) -> Option<String> {
        if let Some((seen_hash, seen_call)) = self.shown.get(resource)
            && seen_hash == hash
            && seen_call != call_id
        {
            return Some(seen_call.clone());
        }
        self.shown.insert(resource.to_owned(), (hash.to_owned(), call_id.to_owned()));
        None
    }

    /// Forgets what `call_id` showed: a compaction dropped its message.
    pub fn forget(&mut self, call_id: &str) {
        self.shown.retain(|_, (_, shown_by)| shown_by != call_id);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.shown.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_what_is_in_the_conversation_until_it_is_dropped() {
        let mut tracker = ResourceTracker::new();
        assert_eq!(tracker.show("a.rs", "h1", "c1"), None);
        assert_eq!(tracker.show("a.rs", "h1", "c2"), Some("c1".into()));
        assert_eq!(tracker.show("a.rs", "h2", "c3"), None, "changed content is shown");
        tracker.forget("c3");
        assert_eq!(tracker.show("a.rs", "h2", "c4"), None, "dropped content is shown again");
    }
}
