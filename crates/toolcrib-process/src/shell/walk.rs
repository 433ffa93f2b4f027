//! Reads the syntax tree from top to bottom, as bash would run it.
//!
//! The grammar hangs redirections on whole lists, and words that follow a redirection on the redirection; both are put back
//! where bash has them. Whatever is not named here is only searched for substitutions, and keeps a text from being safe.

use super::Judgement;
use super::parse::{gaps_agree, source};
use super::redirects::{Tail, redirections};
use super::run::{Flow, Run};
use super::scope::Scope;
use super::simple::Io;
use super::word::{Expanded, Gap, Word, expand};
use tree_sitter::Node;

impl Run<'_> {
    /// Looks at a statement and all it holds.
    pub(super) fn walk(&mut self, node: Node<'_>, text: &str, flow: &Flow) {
        self.statement(node, text, flow, &Vec::new());
    }

    fn statement(&mut self, node: Node<'_>, text: &str, flow: &Flow, tail: &Tail<'_>) {
        if !self.burn() {
            return;
        }
        self.deeper(source(node, text), |run| run.statement_inner(node, text, flow, tail));
    }

    fn statement_inner(&mut self, node: Node<'_>, text: &str, flow: &Flow, tail: &Tail<'_>) {
        let flow = &self.hung(node, text, flow, tail);
        match node.kind() {
            "program" => self.sequence(node, text, flow),
            "list" => self.list(node, text, flow, tail),
            "pipeline" => self.pipeline(node, text, flow, tail),
            "redirected_statement" => self.redirected(node, text, flow, tail),
            "command" => self.simple_command(node, text, flow, tail),
            "negated_command" => self.each_child(node, text, flow, tail),
            "test_command" => self.test(node, text, flow),
            "variable_assignment" | "variable_assignments" => self.assignments(node, text),
            "declaration_command" | "unset_command" => self.declaration(node, text, flow),
            "comment" => {}
            "subshell" => {
                let flow = self.around(tail, text, flow);
                self.apart(|run| run.sequence(node, text, &flow));
            }
            "function_definition" => self.function(node, text, flow),
            "for_statement" => self.for_loop(node, text, &flow.plain(), tail),
            "compound_statement"
            | "do_group"
            | "if_statement"
            | "elif_clause"
            | "else_clause"
            | "while_statement"
            | "case_statement"
            | "case_item"
            | "c_style_for_statement" => self.control(node, text, flow, tail),
            _ => self.substitutions(node, text, flow),
        }
    }

    /// Statements one after the other; `&` sends the one before it to the background.
    fn sequence(&mut self, node: Node<'_>, text: &str, flow: &Flow) {
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        let mut next = children.iter().skip(1);
        if node.kind() != "case_item" && children.iter().any(|child| child.kind().starts_with(";;")) {
            self.not_understood(source(node, text), "it cannot be understood");
        }
        for child in &children {
            let after = next.next().map(|node| node.kind());
            if !child.is_named() {
                continue;
            }
            if after == Some("&") {
                let flow = Flow { forked: true, ..flow.plain() };
                self.apart(|run| run.walk(*child, text, &flow));
            } else {
                self.walk(*child, text, flow);
                self.scope.either_way();
            }
        }
    }

    /// Does something whose changes to directory and variables do not last.
    pub(super) fn apart(&mut self, what: impl FnOnce(&mut Self)) {
        let kept: Scope = self.scope.clone();
        what(self);
        self.scope = kept;
    }

    /// `a && b || c`: nested to the left as deep as it is long, so taken apart in a loop.
    fn list(&mut self, node: Node<'_>, text: &str, flow: &Flow, tail: &Tail<'_>) {
        let mut parts: Vec<(&str, Node<'_>)> = Vec::new();
        let mut left = node;
        loop {
            let mut cursor = left.walk();
            let children: Vec<Node<'_>> =
                left.children(&mut cursor).filter(|c| c.kind() != "comment").collect();
            let [first, middle @ .., last] = children.as_slice() else { break };
            let operator =
                middle.iter().map(Node::kind).find(|kind| *kind == "&&" || *kind == "||").unwrap_or("||");
            parts.push((operator, *last));
            if first.kind() != "list" {
                parts.push(("", *first));
                break;
            }
            left = *first;
        }
        let none = Tail::new();
        let count = parts.len();
        for (nth, (operator, part)) in parts.into_iter().rev().enumerate() {
            let tail = if nth + 1 == count { tail } else { &none };
            if operator == "||" {
                self.otherwise(part, text, flow, tail);
            } else {
                self.statement(part, text, flow, tail);
            }
        }
    }

    /// What runs if the statement before it failed.
    fn otherwise(&mut self, part: Node<'_>, text: &str, flow: &Flow, tail: &Tail<'_>) {
        let words = source(part, text);
        let leaves = words.starts_with("exit")
            || words.starts_with("return")
            || words.starts_with(['{', '(']) && (words.contains("exit") || words.contains("return"));
        if leaves {
            // Going on means that it did not fail.
            self.apart(|run| run.statement(part, text, flow, tail));
            self.scope.before_cd = None;
        } else {
            self.scope.either_way();
            let maybe = std::mem::replace(&mut self.scope.maybe, true);
            self.statement(part, text, flow, tail);
            self.scope.maybe = maybe;
        }
    }

    fn pipeline(&mut self, node: Node<'_>, text: &str, flow: &Flow, tail: &Tail<'_>) {
        let mut cursor = node.walk();
        let stages: Vec<Node<'_>> =
            node.named_children(&mut cursor).filter(|c| c.kind() != "comment").collect();
        let none = Tail::new();
        let mut flow = Flow { forked: true, ..flow.clone() };
        for (nth, stage) in stages.iter().enumerate() {
            let tail = if nth + 1 == stages.len() { tail } else { &none };
            self.apart(|run| run.statement(*stage, text, &flow, tail));
            flow.piped = true;
            flow.feed = self.spelled_output(*stage, text).or(flow.feed);
        }
    }

    /// What a stage of a pipe writes, if it is spelled out: `echo text`, a here-document.
    pub(super) fn spelled_output(&mut self, node: Node<'_>, text: &str) -> Option<String> {
        let mut out = String::new();
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            match node.kind() {
                "heredoc_body" => out.push_str(source(node, text)),
                "herestring_redirect" => {
                    let value =
                        node.named_child(0).map(|child| self.word(child, text).words).unwrap_or_default();
                    out.extend(value.into_iter().map(|word| word.text + "\n"));
                }
                "command" => {
                    let words = self.command_words(node, text);
                    let (name, rest) = words.split_first()?;
                    if matches!(name.text.as_str(), "echo" | "printf") {
                        let rest =
                            rest.iter().filter(|word| !matches!(word.text.as_str(), "-n" | "-e" | "-ne"));
                        out.push_str(&rest.map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "));
                        out.push('\n');
                    }
                }
                _ => {}
            }
            if self.burn() {
                let mut cursor = node.walk();
                stack.extend(node.named_children(&mut cursor));
            }
        }
        (!out.is_empty()).then_some(out)
    }

    fn command_words(&mut self, node: Node<'_>, text: &str) -> Vec<Word> {
        let mut cursor = node.walk();
        let mut words = Vec::new();
        for child in node.named_children(&mut cursor) {
            if !matches!(child.kind(), "variable_assignment" | "file_redirect" | "herestring_redirect") {
                words.extend(self.word(child, text).words);
            }
        }
        words
    }

    fn redirected(&mut self, node: Node<'_>, text: &str, flow: &Flow, tail: &Tail<'_>) {
        let mut all = redirections(node);
        all.extend(tail.iter().copied());
        match node.child_by_field_name("body") {
            Some(body) => self.statement(body, text, flow, &all),
            None => self.bare_redirects(node, text, flow, &all),
        }
        for redirect in &all {
            self.after_heredoc(*redirect, text, flow);
        }
    }

    fn simple_command(&mut self, node: Node<'_>, text: &str, flow: &Flow, tail: &Tail<'_>) {
        self.seen.node(node);
        let mut flow = flow.clone();
        let mut io = Io { piped: flow.piped, input: flow.feed.clone(), ..Io::default() };
        let mut words = Vec::new();
        let mut worst = Judgement::Safe;
        let mut assigned = false;
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        let simple_read = children.iter().any(|c| c.kind() == "command_name" && source(*c, text) == "read");
        for child in children {
            match child.kind() {
                "variable_assignment" => {
                    assigned = true;
                    let judgement = self.assignment(child, text, true);
                    let separator = simple_read && source(child, text).starts_with("IFS=");
                    worst = worst.worst(if separator { Judgement::Plain } else { judgement });
                }
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                    worst = worst.worst(self.redirects(&vec![child], text, &mut io, &mut words));
                }
                // `0<x`: the grammar takes some descriptors for words.
                _ if is_descriptor(child, text) => {}
                "subshell" | "compound_statement" => self.walk(child, text, &flow.plain()),
                "comment" => {}
                _ => {
                    let Expanded { words: mut more, odd, flood } = self.word(child, text);
                    if child.kind() == "command_name" && source(child, text).contains(['(', '`', '[']) {
                        // A program's name that is computed, or one of an array, is followed only to what is spelled out.
                        worst =
                            worst.worst(Judgement::risky("which program runs is only known by running it"));
                        if more.first().is_none_or(|word| !word.known) {
                            more = vec![Word::unknown(source(child, text))];
                        }
                    }
                    words.extend(more);
                    if child.kind() == "process_substitution" {
                        io.given = self.spelled_output(child, text).or(io.given);
                    }
                    self.substitutions(child, text, &flow);
                    if odd {
                        worst = worst.worst(Judgement::risky("it cannot be understood"));
                    } else if flood {
                        worst = worst.worst(Judgement::risky("expands to very many words"));
                    }
                }
            }
        }
        worst = worst.worst(self.redirects(tail, text, &mut io, &mut words));
        if assigned {
            worst = worst.worst(Judgement::Plain);
            flow.bare = false;
        }
        flow.bare &= !io.elsewhere;
        flow.floor = worst.worst(flow.floor);
        self.command(words, &io, source(node, text), &flow);
    }

    fn control(&mut self, node: Node<'_>, text: &str, flow: &Flow, tail: &Tail<'_>) {
        // Groups and choices add nothing to what is in them; loops and patterns may, by what they expand.
        let adds = !matches!(
            node.kind(),
            "compound_statement" | "do_group" | "if_statement" | "elif_clause" | "else_clause" | "case_item"
        );
        let flow = self.around(tail, text, &if adds { flow.plain() } else { flow.clone() });
        if source(node, text).starts_with("((") {
            self.unproved = true;
            return self.substitutions(node, text, &flow);
        }
        let endless = node.kind() == "while_statement" && self.runs_forever(node, text);
        let repeats = matches!(node.kind(), "while_statement" | "c_style_for_statement");
        if repeats {
            self.forget_assigned(node, text);
        }
        let flow = if endless {
            Flow { floor: flow.floor.worst(Judgement::risky("starts programs without end")), ..flow }
        } else {
            flow
        };
        let certain = node.kind() == "compound_statement";
        let maybe = self.scope.maybe;
        self.scope.maybe |= !certain;
        self.sequence(node, text, &flow);
        self.scope.maybe = maybe;
    }

    /// `while true; do x & done`: each round leaves one more behind.
    fn runs_forever(&self, node: Node<'_>, text: &str) -> bool {
        let mut cursor = node.walk();
        let condition: Vec<&str> =
            node.children_by_field_name("condition", &mut cursor).map(|part| source(part, text)).collect();
        let always = condition
            .first()
            .is_some_and(|word| matches!(*word, "true" | ":" | "[ 1 ]" | "((1))" | "(( 1 ))"));
        let Some(body) = node.child_by_field_name("body") else { return false };
        let mut cursor = body.walk();
        let children: Vec<Node<'_>> = body.children(&mut cursor).collect();
        let pauses = |child: &Node<'_>| {
            ["sleep", "wait", "read"].iter().any(|word| source(*child, text).starts_with(word))
        };
        always && children.iter().any(|child| child.kind() == "&") && !children.iter().any(pauses)
    }

    fn for_loop(&mut self, node: Node<'_>, text: &str, flow: &Flow, tail: &Tail<'_>) {
        let flow = self.around(tail, text, flow);
        let mut cursor = node.walk();
        let mut values = Vec::new();
        for child in node.children_by_field_name("value", &mut cursor) {
            self.substitutions(child, text, &flow);
            values.extend(self.word(child, text).words);
        }
        self.forget_assigned(node, text);
        if let Some(variable) = node.child_by_field_name("variable") {
            self.scope.bind(source(variable, text), &values);
        }
        if let Some(body) = node.child_by_field_name("body") {
            let maybe = std::mem::replace(&mut self.scope.maybe, true);
            self.walk(body, text, &flow);
            self.scope.maybe = maybe;
        }
    }

    /// Before a loop: what it assigns may already be anything.
    fn forget_assigned(&mut self, node: Node<'_>, text: &str) {
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            if !self.burn() {
                return;
            }
            if node.kind() == "variable_assignment"
                && let Some(name) = node.child_by_field_name("name")
            {
                self.scope.forget(source(name, text));
            }
            let mut cursor = node.walk();
            stack.extend(node.named_children(&mut cursor));
        }
    }

    fn function(&mut self, node: Node<'_>, text: &str, flow: &Flow) {
        self.unproved = true;
        let (Some(name), Some(body)) = (node.child_by_field_name("name"), node.child_by_field_name("body"))
        else {
            return self.not_understood(source(node, text), "it cannot be understood");
        };
        let name = source(name, text).to_owned();
        let tail = redirections(node);
        self.scope.functions.insert(name.clone(), source(body, text).to_owned());
        let flow = Flow { forked: false, piped: false, feed: None, ..flow.plain() };
        self.apart(|run| {
            run.scope.reading.push(name);
            run.scope.maybe = true;
            run.statement(body, text, &flow, &tail);
        });
    }

    fn each_child(&mut self, node: Node<'_>, text: &str, flow: &Flow, tail: &Tail<'_>) {
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for child in children {
            self.statement(child, text, flow, tail);
        }
    }

    /// `[ … ]` and `[[ … ]]`. Arithmetic in them runs what an index substitutes, even in quotes.
    fn test(&mut self, node: Node<'_>, text: &str, flow: &Flow) {
        let shown = source(node, text);
        self.substitutions(node, text, flow);
        let judgement = if shown.contains("'") && (shown.contains("$(") || shown.contains('`')) {
            Judgement::risky("tests what it would have to run")
        } else if shown.contains(['$', '`', '<', '>']) {
            Judgement::Plain
        } else {
            Judgement::Safe
        };
        let judgement = judgement.worst(flow.floor.clone());
        let bare = flow.bare && judgement.rank() < 2;
        self.noted(shown, vec!["[".to_owned()], 1, judgement, bare);
    }

    /// Looks into every substitution below a node.
    pub(super) fn substitutions(&mut self, node: Node<'_>, text: &str, flow: &Flow) {
        let mut stack = vec![node];
        let inner = flow.substituted();
        while let Some(node) = stack.pop() {
            if !self.burn() {
                return;
            }
            match node.kind() {
                "command_substitution" | "process_substitution" => {
                    if !gaps_agree(node, text) {
                        self.not_understood(source(node, text), "it cannot be understood");
                    }
                    self.substitution(node, text, &inner);
                    continue;
                }
                "expansion" if source(node, text).contains("@P") => {
                    let judgement = Judgement::risky("runs what a variable holds");
                    self.found(source(node, text), Vec::new(), 0, judgement);
                }
                _ => {}
            }
            let mut cursor = node.walk();
            stack.extend(node.named_children(&mut cursor));
        }
    }

    fn substitution(&mut self, node: Node<'_>, text: &str, flow: &Flow) {
        let tail = redirections(node);
        let shown = source(node, text);
        self.seen.substitution(node);
        self.deeper(shown, |run| {
            run.apart(|run| {
                if !tail.is_empty() {
                    run.bare_redirects(node, text, flow, &tail);
                } else if shown.starts_with('`') && shown.contains('\\') {
                    // Inside backticks a backslash is undone before anything else is.
                    run.seen.whole(node.byte_range());
                    let inner =
                        shown.trim_matches('`').replace("\\`", "`").replace("\\\\", "\\").replace("\\$", "$");
                    run.nested(&inner, flow);
                } else {
                    run.sequence(node, text, flow);
                }
            });
        });
    }

    /// Reads one word.
    pub(super) fn word(&mut self, node: Node<'_>, text: &str) -> Expanded {
        if let Some(words) = self.whole_array(source(node, text)) {
            return Expanded { words, odd: false, flood: false };
        }
        let mut gaps = Vec::new();
        let mut stack = vec![node];
        while let Some(inner) = stack.pop() {
            let values = match inner.kind() {
                "simple_expansion" | "expansion" => self.variable(source(inner, text)),
                "command_substitution" => self.known_output(source(inner, text)),
                "process_substitution" => vec![Some("/dev/fd/63".to_owned())],
                "arithmetic_expansion" => vec![None],
                _ => {
                    if self.burn() {
                        let mut cursor = inner.walk();
                        stack.extend(inner.named_children(&mut cursor));
                    }
                    continue;
                }
            };
            let start = inner.start_byte().saturating_sub(node.start_byte());
            let end = inner.end_byte().saturating_sub(node.start_byte());
            gaps.push(Gap { range: start..end, values });
        }
        let scope = &self.scope;
        let home = self.at.home.as_deref();
        expand(source(node, text), &gaps, &|name| super::variables::tilde(name, home, scope))
    }
}

/// Whether digits stand right before a redirection.
fn is_descriptor(node: Node<'_>, text: &str) -> bool {
    let digits = source(node, text).bytes().all(|c| c.is_ascii_digit());
    digits && text.get(node.end_byte()..).is_some_and(|rest| rest.starts_with(['<', '>']))
}
