//! The policy: each part of a call is judged by the floor, the rules, the mode and the grants, and the strictest
//! answer holds for the whole call.

use std::cell::OnceCell;
use std::sync::{Arc, PoisonError, RwLock};

use super::book::{RuleBook, RuleFile, Scope};
use super::mode::{Contained, Containment, Part, Why, parts, question, shown};
use super::rules::{Candidate, Rule};
use super::words::refuses;
use super::{Decision, Policy, PolicyMode, PolicyRequest, Verdict};
use crate::effects::{CommandEffect, Judgement};

/// Decides by a mode, by rules, and by what people granted.
pub struct RulePolicy {
    mode: PolicyMode,
    containment: Arc<dyn Containment>,
    book: RwLock<Arc<RuleBook>>,
}

impl RulePolicy {
    /// The policy of a mode alone. Nothing is known of a sandbox, so commands that change things are asked for.
    pub fn new(mode: PolicyMode) -> Self {
        Self { mode, containment: Arc::new(Contained::No), book: RwLock::default() }
    }

    /// The same policy, with these rules.
    #[must_use]
    pub fn rules(self, book: RuleBook) -> Self {
        self.set_rules(book);
        self
    }

    /// The same policy, which asks `containment` whether commands are contained.
    #[must_use]
    pub fn containment(mut self, containment: Arc<dyn Containment>) -> Self {
        self.containment = containment;
        self
    }

    /// Puts other rules in force.
    pub fn set_rules(&self, book: RuleBook) {
        *self.book.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(book);
    }

    /// The rules in force.
    pub fn book(&self) -> Arc<RuleBook> {
        Arc::clone(&self.book.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Policy for RulePolicy {
    fn decide(&self, request: &PolicyRequest<'_>) -> Verdict {
        let book = self.book();
        if book.files.is_empty() && request.effects.is_read_only() {
            return only_reads();
        }
        let unusable = || self.containment.broken().filter(|_| !request.effects.commands.is_empty());
        let contained = OnceCell::new();
        let bench = Bench {
            mode: self.mode,
            contained: &|| *contained.get_or_init(|| self.containment.contained()),
            unusable: &unusable,
            book: &book,
            request,
        };
        bench.decide()
    }

    fn mode(&self) -> PolicyMode {
        self.mode
    }
}

fn only_reads() -> Verdict {
    Verdict::new(Decision::Allow, "it only reads")
}

/// One request and what it is judged by.
struct Bench<'a> {
    mode: PolicyMode,
    contained: &'a dyn Fn() -> Contained,
    unusable: &'a dyn Fn() -> Option<String>,
    book: &'a RuleBook,
    request: &'a PolicyRequest<'a>,
}

impl Bench<'_> {
    fn decide(&self) -> Verdict {
        let candidates: Vec<Candidate<'_>> = parts(self.request).into_iter().map(Candidate::new).collect();
        if let Some(verdict) = candidates.iter().find_map(floor) {
            return verdict;
        }
        let looks = candidates.iter().all(|candidate| candidate.part.only_looks())
            && !self.request.effects.writes_anything;
        if let Some((scope, why)) = self.book.problem().filter(|_| !looks) {
            return broken(scope, why);
        }
        if let Some(why) = (self.unusable)() {
            return without_settings(&why);
        }
        let mut said: Vec<Said> = self.tool_rule().into_iter().map(Said::from).collect();
        said.extend(candidates.iter().filter_map(|candidate| self.judge(candidate)));
        let mut verdict = strictest(said).unwrap_or_else(only_reads);
        // Said once, and only where nothing but the mode is behind the question.
        if verdict.decision == Decision::Ask && verdict.grantable && self.mode == PolicyMode::Ask {
            verdict.reason = format!("the policy is `ask`; {}", verdict.reason);
        }
        verdict
    }

    /// A rule about the tool as a whole.
    fn tool_rule(&self) -> Option<Verdict> {
        self.refusal(|rule| rule.refuses_tool(self.request.tool))
    }

    /// What is to be said about a part; nothing if it goes without saying.
    fn judge(&self, candidate: &Candidate<'_>) -> Option<Said> {
        let by_rule = self.refusal(|rule| rule.refuses(self.request.tool, candidate));
        if by_rule.as_ref().is_some_and(|verdict| verdict.decision == Decision::Deny) {
            return by_rule.map(Said::from);
        }
        let by_mode = |decision, why| Said { decision, why, rule: self.mode_name(), grantable: true };
        let asked = question(self.mode, candidate.part, self.contained);
        match (asked, by_rule) {
            (Some((Decision::Deny, why)), _) => Some(by_mode(Decision::Deny, why)),
            (_, Some(verdict)) => Some(verdict.into()),
            (Some((decision, mut why)), None) => {
                if let Some(verdict) = self.lifted(candidate.part) {
                    return Some(verdict.into());
                }
                why.what.push_str(self.out_of_reach(candidate.part));
                Some(by_mode(decision, why))
            }
            (None, None) if candidate.part.only_looks() => None,
            (None, None) => Some(by_mode(Decision::Allow, Why::plain("the policy allows it"))),
        }
    }

    fn mode_name(&self) -> Option<String> {
        Some(format!("mode {}", self.mode.as_str()))
    }

    /// The strictest rule of those that do not allow.
    fn refusal(&self, matches: impl Fn(&Rule) -> bool) -> Option<Verdict> {
        let refusing =
            self.book.rules().filter(|(_, _, rule)| rule.decision != Decision::Allow && matches(rule));
        // The first of the strictest.
        let strictest = refusing.reduce(|a, b| if b.2.decision > a.2.decision { b } else { a });
        strictest.map(|(file, at, rule)| by_rule(file, at, rule))
    }

    /// What answers the mode's question about a part.
    fn lifted(&self, part: Part<'_>) -> Option<Verdict> {
        let (tool, grants) = (self.request.tool, self.request.grants);
        let allowing = || self.book.rules().filter(|(_, _, rule)| rule.decision == Decision::Allow);
        if let Some((file, at, rule)) = allowing().find(|(_, _, rule)| rule.lifts(tool, part)) {
            return Some(by_rule(file, at, rule));
        }
        let granted = || Verdict::new(Decision::Allow, "granted for this session").by("session");
        if grants.iter().any(|grant| grant.lifts(tool, part)) {
            return Some(granted());
        }
        if !matches!(part, Part::Host(_)) {
            return None;
        }
        // The network of a command is allowed with the command: then all of them must be.
        let commands = &self.request.effects.commands;
        let rule = |command: &CommandEffect| {
            allowing().find(|(_, _, rule)| rule.network && rule.lifts(tool, Part::Command(command)))
        };
        let connected = |command: &CommandEffect| {
            rule(command).is_some() || grants.iter().any(|grant| grant.connects(command))
        };
        let all = commands.iter().all(|command| command.judgement == Judgement::Safe || connected(command));
        if !all || !commands.iter().any(connected) {
            return None;
        }
        let found = commands.iter().find_map(rule);
        Some(found.map_or_else(granted, |(file, at, rule)| by_rule(file, at, rule)))
    }

    /// Why a command is asked for although its words are allowed.
    fn out_of_reach(&self, part: Part<'_>) -> &'static str {
        let Part::Command(command) = part else { return "" };
        let words = || CommandEffect { bare: true, ..command.clone() };
        if command.bare || self.lifted(Part::Command(&words())).is_none() {
            return "";
        }
        " (no rule or grant reaches it: there is more to it than its words, such as a redirection, a variable or another \
         directory)"
    }
}

/// What is refused whatever mode, rules and people say.
fn floor(candidate: &Candidate<'_>) -> Option<Verdict> {
    let Part::Command(command) = candidate.part else { return None };
    let text = shown(command);
    let why = match &command.judgement {
        Judgement::Forbidden(why) => format!("`{text}` is never run: {why}"),
        Judgement::Safe => return None,
        _ if changes_policy(candidate, command) => {
            format!("`{text}` is never run: what is permitted is for a person to say, not for a tool")
        }
        _ => return None,
    };
    Some(Verdict::new(Decision::Deny, why).by("floor"))
}

/// Whether a command is the one by which people say what is permitted.
fn changes_policy(candidate: &Candidate<'_>, command: &CommandEffect) -> bool {
    let one_of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    // The rest is worked out only if the name is there at all.
    let named =
        command.text.contains("toolcrib") || command.words.iter().any(|word| word.contains("toolcrib"));
    named && {
        let pattern =
            vec![one_of(&["toolcrib"]), one_of(&["permissions"]), one_of(&["add", "remove", "trust"])];
        refuses(&pattern, candidate.readings(command), false)
    }
}

fn broken(scope: Scope, why: &str) -> Verdict {
    let reason = format!(
        "the rules do not load ({why}), so nothing but reading is permitted until a person corrects them"
    );
    Verdict::new(Decision::Deny, reason).by(scope.as_str())
}

fn without_settings(why: &str) -> Verdict {
    let reason = format!(
        "the settings of the sandbox do not load ({why}), so no command is run until a person corrects them"
    );
    Verdict::new(Decision::Deny, reason).by(Scope::User.as_str())
}

fn by_rule(file: &RuleFile, at: usize, rule: &Rule) -> Verdict {
    let id = file.id(at);
    let verb = match rule.decision {
        Decision::Allow => "allows it",
        Decision::Ask => "wants it asked",
        Decision::Deny => "denies it",
    };
    let reason = match &rule.reason {
        Some(reason) => format!("{reason} (rule {id})"),
        None => format!("the rule {id} {verb}"),
    };
    Verdict { decision: rule.decision, reason, rule: Some(id), grantable: false }
}

/// What was said about one part.
struct Said {
    decision: Decision,
    why: Why,
    rule: Option<String>,
    grantable: bool,
}

impl From<Verdict> for Said {
    fn from(verdict: Verdict) -> Self {
        let Verdict { decision, reason, rule, grantable } = verdict;
        Self { decision, why: Why::plain(reason), rule, grantable }
    }
}

/// The strictest verdict, with the reasons of all that are as strict.
fn strictest(said: Vec<Said>) -> Option<Verdict> {
    // A question that cannot be answered for good outweighs one that can; among permissions, a rule says most.
    let weight = |said: &Said| (said.decision, !said.grantable);
    let heaviest = said.iter().map(weight).max()?;
    let all: Vec<Said> = said.into_iter().filter(|said| weight(said) == heaviest).collect();
    let named = if heaviest.0 == Decision::Allow { 1 } else { all.len() };
    let reason = reasons(all.iter().take(named).map(|said| &said.why));
    let first = all.into_iter().next()?;
    Some(Verdict { decision: first.decision, reason, rule: first.rule, grantable: first.grantable })
}

/// Reasons in their order, those that are the same but for what they are said of together.
fn reasons<'a>(all: impl Iterator<Item = &'a Why>) -> String {
    const NAMED: usize = 9;
    let mut different: Vec<&Why> = Vec::new();
    for why in all {
        if !different.contains(&why) {
            different.push(why);
        }
    }
    let more = different.len().saturating_sub(NAMED);
    different.truncate(NAMED);
    let mut said: Vec<(&'static str, String)> = Vec::new();
    for why in different {
        match said.iter_mut().find(|(lead, _)| !lead.is_empty() && *lead == why.lead) {
            Some((_, what)) => what.push_str(&format!(", {}", why.what)),
            None => said.push((why.lead, why.what.clone())),
        }
    }
    let mut said: Vec<String> = said.into_iter().map(|(lead, what)| format!("{lead}{what}")).collect();
    if more > 0 {
        said.push(format!("and {more} more"));
    }
    said.join("; ")
}
