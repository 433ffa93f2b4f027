//! Redirections and here-documents, put back where bash has them.
//!
//! The grammar hangs redirections on whole lists, words that follow a redirection on the redirection, and the rest of a line
//! on the here-document that begins in it.

use super::Judgement;
use super::heredoc;
use super::parse::source;
use super::run::{Flow, Run};
use super::simple::{Io, Redirect};
use super::word::{Expanded, Word};
use tree_sitter::Node;

/// Redirections that the grammar hung on something larger than the command they belong to.
pub(super) type Tail<'t> = Vec<Node<'t>>;

/// The redirections that hang on a node; not all of them have a field's name.
pub(super) fn redirections<'t>(node: Node<'t>) -> Tail<'t> {
    let mut cursor = node.walk();
    node.children(&mut cursor).filter(|child| child.kind().ends_with("_redirect")).collect()
}

impl Run<'_> {
    /// What hangs on a statement that does not take redirections apart itself: a test, a declaration, an assignment.
    pub(super) fn hung(&mut self, node: Node<'_>, text: &str, flow: &Flow, tail: &Tail<'_>) -> Flow {
        let takes_apart = matches!(
            node.kind(),
            "list"
                | "pipeline"
                | "redirected_statement"
                | "command"
                | "negated_command"
                | "subshell"
                | "for_statement"
                | "compound_statement"
                | "do_group"
                | "if_statement"
                | "elif_clause"
                | "else_clause"
                | "while_statement"
                | "case_statement"
                | "case_item"
                | "c_style_for_statement"
        );
        if tail.is_empty() || takes_apart {
            return flow.clone();
        }
        self.around(tail, text, flow)
    }

    /// `cat <<EOF && b` and `cat <<EOF | b`: the grammar keeps the rest of the line inside the here-document.
    pub(super) fn after_heredoc(&mut self, redirect: Node<'_>, text: &str, flow: &Flow) {
        if redirect.kind() != "heredoc_redirect" {
            return;
        }
        let mut cursor = redirect.walk();
        let children: Vec<Node<'_>> = redirect.children(&mut cursor).collect();
        let body = children
            .iter()
            .find(|child| child.kind() == "heredoc_body")
            .map(|body| source(*body, text).to_owned());
        for (nth, child) in children.iter().enumerate() {
            let argument =
                redirect.field_name_for_child(u32::try_from(nth).unwrap_or(u32::MAX)) == Some("argument");
            if argument || !child.is_named() {
                continue;
            }
            match child.kind() {
                "heredoc_start"
                | "heredoc_body"
                | "heredoc_end"
                | "file_redirect"
                | "herestring_redirect"
                | "file_descriptor"
                | "heredoc_redirect" => {}
                "pipeline" => {
                    let flow = Flow { piped: true, feed: body.clone(), forked: true, ..flow.clone() };
                    self.apart(|run| run.walk(*child, text, &flow));
                }
                _ => self.walk(*child, text, flow),
            }
        }
    }

    pub(super) fn bare_redirects(&mut self, node: Node<'_>, text: &str, flow: &Flow, tail: &Tail<'_>) {
        let mut io = Io::default();
        let mut words = Vec::new();
        let judgement = self.redirects(tail, text, &mut io, &mut words);
        let judgement = judgement.worst(Judgement::Plain).worst(flow.floor.clone());
        if words.is_empty() {
            self.found(source(node, text), Vec::new(), 0, judgement);
        } else {
            let flow = Flow { floor: judgement, bare: flow.bare && !io.elsewhere, ..flow.clone() };
            self.command(words, &io, source(node, text), &flow);
        }
    }

    /// Takes redirections apart: where they go, what they feed, and the words that belong to the command.
    pub(super) fn redirects(
        &mut self,
        tail: &Tail<'_>,
        text: &str,
        io: &mut Io,
        words: &mut Vec<Word>,
    ) -> Judgement {
        let mut worst = Judgement::Safe;
        let mut stack: Vec<Node<'_>> = tail.iter().rev().copied().collect();
        while let Some(node) = stack.pop() {
            if !self.burn() {
                break;
            }
            self.seen.node(node);
            if matches!(node.kind(), "file_redirect" | "herestring_redirect") {
                self.substitutions(node, text, &Flow::new());
            }
            match node.kind() {
                "file_redirect" => worst = worst.worst(self.file_redirect(node, text, io, words)),
                "herestring_redirect" => {
                    let mut cursor = node.walk();
                    for child in node.named_children(&mut cursor) {
                        let value = self.word(child, text).words;
                        io.input =
                            Some(value.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "));
                    }
                    worst = worst.worst(Judgement::Plain);
                }
                "heredoc_redirect" => {
                    let mut cursor = node.walk();
                    let inner: Vec<Node<'_>> = node.children_by_field_name("redirect", &mut cursor).collect();
                    stack.extend(inner.into_iter().rev());
                    let mut cursor = node.walk();
                    let arguments: Vec<Node<'_>> =
                        node.children_by_field_name("argument", &mut cursor).collect();
                    for argument in arguments {
                        self.substitutions(argument, text, &Flow::new());
                        words.extend(self.word(argument, text).words);
                    }
                    self.heredoc_body(node, text, io);
                    worst = worst.worst(Judgement::Plain);
                }
                _ => {}
            }
        }
        worst
    }

    fn heredoc_body(&mut self, node: Node<'_>, text: &str, io: &mut Io) {
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        let child = |kind: &str| children.iter().find(|child| child.kind() == kind).copied();
        let (Some(start), Some(end)) = (child("heredoc_start"), child("heredoc_end")) else {
            return self.not_understood(source(node, text), "it cannot be understood");
        };
        let dashed = children.iter().any(|child| child.kind() == "<<-");
        let Some(body) = heredoc::body(text, source(start, text), start.end_byte(), dashed) else {
            return self.not_understood(source(node, text), "it cannot be understood");
        };
        // Where bash ends it, the tree must too: or one of them would see commands where the other sees text.
        let line_end = body.end + text.get(body.end..).and_then(|rest| rest.find('\n')).unwrap_or(text.len());
        if end.start_byte() < body.end || end.start_byte() > line_end {
            return self.not_understood(text, "it cannot be understood");
        }
        self.seen.whole(body.clone());
        let body = text.get(body).unwrap_or_default();
        io.input = Some(body.to_owned());
        if !heredoc::is_quoted(source(start, text)) {
            self.heredoc_substitutions(body);
        }
    }

    /// What an unquoted here-document substitutes; the tree does not see all of it.
    fn heredoc_substitutions(&mut self, body: &str) {
        let flow = Flow::new().substituted();
        match heredoc::substitutions(body) {
            Some(inner) => inner.iter().for_each(|code| self.apart(|run| run.nested(code, &flow))),
            None => self.not_understood(body, "it cannot be understood"),
        }
        if body.contains("@P}") {
            self.found(body, Vec::new(), 0, Judgement::risky("runs what a variable holds"));
        }
    }

    fn file_redirect(&mut self, node: Node<'_>, text: &str, io: &mut Io, words: &mut Vec<Word>) -> Judgement {
        let mut cursor = node.walk();
        let operator = node
            .children(&mut cursor)
            .find(|child| !child.is_named())
            .map_or("", |child| source(child, text))
            .to_owned();
        let mut cursor = node.walk();
        let targets: Vec<Node<'_>> = node.children_by_field_name("destination", &mut cursor).collect();
        let mut targets = targets.into_iter();
        let Some(first) = targets.next() else { return Judgement::Safe };
        let Expanded { words: target, odd, flood } = self.word(first, text);
        if first.kind() == "process_substitution" && operator.ends_with('<') {
            io.input = self.spelled_output(first, text).or(io.input.take());
            io.piped = true;
        }
        for rest in targets {
            words.extend(self.word(rest, text).words);
        }
        let mut judgement = match target.as_slice() {
            [] => Judgement::risky("writes to a place that only running it would tell"),
            _ => Judgement::Safe,
        };
        for target in target {
            judgement = judgement.worst(self.redirect(&Redirect { operator: operator.clone(), target }, io));
        }
        if odd || flood { judgement.worst(Judgement::risky("it cannot be understood")) } else { judgement }
    }

    /// The flow inside something that redirections hang on as a whole.
    pub(super) fn around(&mut self, tail: &Tail<'_>, text: &str, flow: &Flow) -> Flow {
        let mut io = Io::default();
        let mut words = Vec::new();
        let mut floor = self.redirects(tail, text, &mut io, &mut words);
        if !words.is_empty() {
            floor = floor.worst(Judgement::risky("it cannot be understood"));
        }
        // Whatever is inside, and if nothing is: the redirection itself is done.
        match (&floor, tail.first()) {
            (Judgement::Risky(_) | Judgement::Forbidden(_), Some(first)) => {
                self.found(source(*first, text), Vec::new(), 0, floor.clone());
            }
            (Judgement::Plain, _) => self.unproved = true,
            _ => {}
        }
        let reads = io.file || io.input.is_some();
        let feed = io.input.or_else(|| flow.feed.clone());
        let bare = flow.bare && !io.elsewhere;
        let floor = floor.worst(flow.floor.clone());
        Flow { floor, feed, piped: flow.piped || reads, forked: flow.forked, bare }
    }
}
