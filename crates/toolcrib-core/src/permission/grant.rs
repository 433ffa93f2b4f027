//! What people said when they were asked, and how far it reaches.

use serde::{Deserialize, Serialize};

use super::mode::Part;
use super::rules::{RuleText, WordText, WordsText};
use super::words::{base_name, permits};
use super::{Decision, PolicyRequest};
use crate::effects::{CommandEffect, Judgement};
use crate::sanitize;

/// How far an approval reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GrantScope {
    /// This call.
    Once,
    /// The rest of the session.
    Session,
    /// This workspace, from now on.
    Project,
}

/// Keeps grants for the project. What is kept counts at once.
pub trait GrantStore: Send + Sync {
    /// Keeps a grant; the error says why it could not.
    fn keep(&self, grant: &Grant) -> Result<(), String>;
}

/// A standing approval.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The tool.
    pub tool: String,
    /// The paths that may be written: these exactly, or any ordinary path of the workspace if neither paths nor
    /// commands nor hosts are named.
    #[serde(default)]
    pub paths: Vec<String>,
    /// The commands that may be run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<GrantedCommand>,
    /// Whether these commands may reach the network.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
    /// The hosts that the tool itself may reach.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
}

/// A command of a grant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantedCommand {
    /// Its first words, or all of them.
    pub words: Vec<String>,
    /// Whether nothing may follow them.
    #[serde(default)]
    pub whole: bool,
}

/// Programs that do whatever their arguments say: a name alone would grant everything.
const DO_ANYTHING: &str = "awk bash bun busybox chroot command csh curl dash dd deno doas docker ed emacs env eval ex \
    exec expect fetch find fish ftp gawk gdb java jshell kill ksh lftp links lldb lua lynx make mawk mv nawk nc ncat \
    netcat nice node nohup npx nsenter nvim openssl osascript parallel perl php pip podman powershell pwsh python \
    rclone rm rsync ruby scp screen sed setsid sftp sh socat source ssh sshpass stdbuf strace su sudo tclsh tcsh tee \
    telnet time timeout tmux unshare uvx vi vim w3m watch wget xargs zsh";

/// Programs that act elsewhere, with the person's keys: which command it is says too little, whatever it is called.
const REACH_ANYWHERE: &str = "ansible ansible-playbook aria2c aws az bq curlie doctl flyctl gcloud gpg gsutil helm heroku \
    http httpie https httpx kubectl linode-cli mariadb mongo mongodump mongosh mysql mysqladmin mysqldump oc pg_dump \
    pg_restore psql pulumi redis-cli s3cmd sqlite sqlcmd terraform terragrunt tofu vault wrangler xh xhs";

fn listed(list: &str, program: &str) -> bool {
    list.split_whitespace().any(|name| name == program)
}

impl GrantedCommand {
    /// What a standing yes to this command covers; nothing where only running it would tell what it is, or where it is
    /// more than its words.
    fn of(command: &CommandEffect) -> Option<Self> {
        if !command.bare {
            return None;
        }
        let program = base_name(command.words.first()?);
        // `python3.12` is Python.
        let program = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let open = (command.prefix == 1 && listed(DO_ANYTHING, program)) || listed(REACH_ANYWHERE, program);
        let risky = matches!(command.judgement, Judgement::Risky(_));
        let whole = command.prefix == 0 || risky || open;
        let words = if whole { command.words.len() } else { command.prefix };
        Some(Self { words: command.words.iter().take(words).cloned().collect(), whole })
    }

    fn covers(&self, command: &CommandEffect) -> bool {
        let pattern = self.words.iter().map(|word| vec![word.clone()]).collect();
        let risky = matches!(command.judgement, Judgement::Risky(_));
        command.bare && permits(&pattern, &command.words, self.whole || risky)
    }

    fn line(&self) -> String {
        let one = |word: &String| WordText::One(word.clone()).to_string();
        self.words.iter().map(one).collect::<Vec<_>>().join(" ")
    }
}

impl Grant {
    /// What a standing yes to this request would cover: commands by the words that say what is done, sensitive paths
    /// by name. `None` where nothing less than everything could be granted.
    pub fn for_request(request: &PolicyRequest<'_>) -> Option<Self> {
        let effects = request.effects;
        let mut grant = Self { tool: request.tool.to_owned(), ..Self::default() };
        if !request.sensitive.is_empty() || !effects.commands.is_empty() {
            grant.paths = effects.writes.clone();
        }
        if effects.commands.is_empty() {
            grant.hosts = effects.hosts.clone();
            return Some(grant);
        }
        grant.network = !effects.hosts.is_empty();
        let changing = effects.commands.iter().any(|command| command.judgement != Judgement::Safe);
        for command in &effects.commands {
            // Commands that only read are in question only for the network.
            if changing && command.judgement == Judgement::Safe {
                continue;
            }
            let granted = GrantedCommand::of(command)?;
            if !grant.commands.contains(&granted) {
                grant.commands.push(granted);
            }
        }
        Some(grant)
    }

    /// Whether this grant answers the question about a part of a call.
    pub(super) fn lifts(&self, tool: &str, part: Part<'_>) -> bool {
        let any_path = self.paths.is_empty() && self.commands.is_empty() && self.hosts.is_empty();
        match part {
            Part::Command(command) => self.commands.iter().any(|granted| granted.covers(command)),
            Part::Write(path, why) => {
                self.tool == tool
                    && ((any_path && why.is_none()) || self.paths.iter().any(|named| named == path))
            }
            Part::WriteAnything => self.tool == tool && any_path,
            Part::Host(host) => self.tool == tool && self.hosts.iter().any(|named| named == host),
            Part::Read(_) => false,
        }
    }

    /// Whether it lets this command reach the network.
    pub(super) fn connects(&self, command: &CommandEffect) -> bool {
        self.network && self.commands.iter().any(|granted| granted.covers(command))
    }

    /// What it covers, for the person who is to give it: one line, whatever is in it.
    pub fn describe(&self) -> String {
        let mut said: Vec<String> = Vec::new();
        for command in &self.commands {
            let more = if command.whole { "exactly as it stands" } else { "with any arguments after it" };
            said.push(format!("`{}` {more}", command.line()));
        }
        if self.network {
            said.push("with network".into());
        }
        if !self.hosts.is_empty() {
            said.push(format!("{} reaching {}", self.tool, self.hosts.join(", ")));
        }
        match (self.paths.as_slice(), said.is_empty()) {
            ([], true) => said.push(format!("{} on ordinary files of this workspace", self.tool)),
            ([], false) => {}
            (paths, true) => said.push(format!("{} on {}", self.tool, paths.join(", "))),
            (paths, false) => said.push(format!("writing {}", paths.join(", "))),
        }
        sanitize::visible_path(&said.join(", ")).into_owned()
    }

    /// The same as rules.
    pub fn to_rules(&self) -> Vec<RuleText> {
        let allow = || RuleText::new(Decision::Allow);
        let tool = || Some(self.tool.clone());
        let mut rules = Vec::new();
        for command in &self.commands {
            let words = command.words.iter().cloned().map(WordText::One).collect();
            rules.push(RuleText {
                command: Some(WordsText::List(words)),
                exact: command.whole.then_some(true),
                network: self.network.then_some(true),
                ..allow()
            });
        }
        rules.extend(self.hosts.iter().map(|host| RuleText {
            host: Some(host.clone()),
            tool: tool(),
            ..allow()
        }));
        let path = |path: &String| RuleText { path: Some(globset::escape(path)), tool: tool(), ..allow() };
        rules.extend(self.paths.iter().map(path));
        if rules.is_empty() {
            rules.push(RuleText { tool: tool(), ..allow() });
        }
        rules
    }

    /// The command line by which a person could grant it.
    pub fn command_line(&self) -> String {
        let quoted = |text: &str| WordText::One(text.to_owned()).to_string();
        let line = |rule: RuleText| {
            let mut line = "toolcrib permissions add --allow".to_owned();
            if let Some(WordsText::List(words)) = &rule.command {
                let words: Vec<String> = words.iter().map(ToString::to_string).collect();
                line.push_str(&format!(" --command {}", quoted(&words.join(" "))));
            }
            let named = [("tool", &rule.tool), ("path", &rule.path), ("host", &rule.host)];
            for (key, value) in named.iter().filter_map(|(key, value)| Some((key, value.as_ref()?))) {
                line.push_str(&format!(" --{key} {}", quoted(value)));
            }
            for (flag, set) in [("exact", rule.exact), ("network", rule.network)] {
                if set == Some(true) {
                    line.push_str(&format!(" --{flag}"));
                }
            }
            line
        };
        self.to_rules().into_iter().map(line).collect::<Vec<_>>().join(" && ")
    }
}
