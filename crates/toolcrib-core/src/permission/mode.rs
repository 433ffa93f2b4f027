//! What may happen without a question, when no rule and no person has said more.

use std::borrow::Cow;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Decision, PolicyRequest};
use crate::effects::{CommandEffect, Judgement};
use crate::sanitize;

/// How much may happen without a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PolicyMode {
    /// Only reading.
    Plan,
    /// Reading; everything else is asked.
    #[default]
    Ask,
    /// Reading, ordinary writes in the workspace and ordinary commands in a sandbox; the rest is asked.
    Auto,
    /// Everything but what is never done; without a sandbox commands are still asked.
    Full,
}

impl PolicyMode {
    /// The name in lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Ask => "ask",
            Self::Auto => "auto",
            Self::Full => "full",
        }
    }
}

impl FromStr for PolicyMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "plan" => Ok(Self::Plan),
            "ask" => Ok(Self::Ask),
            "auto" => Ok(Self::Auto),
            "full" => Ok(Self::Full),
            other => Err(format!("unknown policy {other:?}: use plan, ask, auto or full")),
        }
    }
}

/// Whether the kernel keeps commands in their place here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contained {
    /// It does.
    Yes,
    /// It does not, so a command that changes things is asked for in every mode.
    No,
    /// It does not, and a person chose to run commands all the same.
    Accepted,
}

/// Says whether commands are contained. Finding out takes milliseconds, so it is asked only when it matters.
pub trait Containment: Send + Sync {
    /// Whether the kernel keeps commands in their place here.
    fn contained(&self) -> Contained;

    /// Why no command can be run at all: the settings of the sandbox do not load. That is not the same as no sandbox.
    fn broken(&self) -> Option<String> {
        None
    }
}

impl Containment for Contained {
    fn contained(&self) -> Contained {
        *self
    }
}

/// One thing that a call does. Each is judged by itself.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part<'a> {
    Read(&'a str),
    /// A path, and why writing it is worth a question.
    Write(&'a str, Option<&'a str>),
    /// It will be known only while it runs what is written.
    WriteAnything,
    Command(&'a CommandEffect),
    Host(&'a str),
}

impl Part<'_> {
    /// Whether it is known to change nothing and to reach nobody.
    pub(super) fn only_looks(self) -> bool {
        match self {
            Self::Read(_) => true,
            Self::Command(command) => command.judgement == Judgement::Safe,
            _ => false,
        }
    }
}

/// All that a call does.
pub(super) fn parts<'a>(request: &PolicyRequest<'a>) -> Vec<Part<'a>> {
    let effects = request.effects;
    let (sensitive, commands) = (request.sensitive, &effects.commands);
    let written = |path: &'a String| {
        let why = sensitive.iter().find(|(known, _)| known == path).map(|(_, why)| why.as_str());
        Part::Write(path, why)
    };
    // What a command may write is judged as the command.
    let anything = effects.writes_anything && commands.is_empty();
    let mut parts: Vec<Part<'a>> = effects.reads.iter().map(|path| Part::Read(path)).collect();
    parts.extend(commands.iter().map(Part::Command));
    parts.extend(effects.writes.iter().map(written));
    parts.extend(anything.then_some(Part::WriteAnything));
    parts.extend(effects.hosts.iter().map(|host| Part::Host(host)));
    parts
}

/// A reason, and what it is said of: the same reason is given once for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Why {
    pub(super) lead: &'static str,
    pub(super) what: String,
}

impl Why {
    fn of(lead: &'static str, what: impl Into<String>) -> Self {
        Self { lead, what: what.into() }
    }

    pub(super) fn plain(what: impl Into<String>) -> Self {
        Self::of("", what)
    }
}

/// What a mode says about a part: nothing, a question or a refusal, with the reason.
pub(super) fn question(
    mode: PolicyMode,
    part: Part<'_>,
    contained: &dyn Fn() -> Contained,
) -> Option<(Decision, Why)> {
    if part.only_looks() {
        return None;
    }
    if mode == PolicyMode::Plan {
        let why = Why::plain("the policy is `plan`: nothing may be changed, run or fetched");
        return Some((Decision::Deny, why));
    }
    let why = match (part, mode) {
        (Part::Command(command), _) => return command_question(mode, command, contained),
        (_, PolicyMode::Full) => return None,
        (Part::Host(_), _) => Why::plain("it reaches the network"),
        (Part::Write(path, Some(why)), _) => Why::plain(format!("{}: {why}", sanitize::visible_path(path))),
        (_, PolicyMode::Auto) => return None,
        (Part::Write(path, None), _) => Why::of("writes ", sanitize::visible_path(path)),
        _ => Why::plain("writes what is known only while it runs"),
    };
    Some((Decision::Ask, why))
}

fn command_question(
    mode: PolicyMode,
    command: &CommandEffect,
    contained: &dyn Fn() -> Contained,
) -> Option<(Decision, Why)> {
    let text = shown(command);
    let risk = match &command.judgement {
        Judgement::Risky(why) => Some(why),
        _ => None,
    };
    let why = match (mode, risk) {
        (PolicyMode::Full | PolicyMode::Auto, _) if contained() == Contained::No => {
            Why::of("there is no sandbox here, so it is asked for: ", format!("`{text}`"))
        }
        (PolicyMode::Full, _) => return None,
        (_, Some(why)) => Why::plain(format!("`{text}`: {why}")),
        (PolicyMode::Auto, None) if contained() == Contained::Yes => return None,
        (PolicyMode::Auto, None) => Why::of("would run without a sandbox: ", format!("`{text}`")),
        _ => Why::of("not proved to read only: ", format!("`{text}`")),
    };
    Some((Decision::Ask, why))
}

/// A command as it is named in a reason: long ones are cut.
pub(super) fn shown(command: &CommandEffect) -> Cow<'_, str> {
    sanitize::visible_field(&command.text, 200)
}
