//! One simple command: its assignments, its redirections, and who is asked about its program.

use super::args::Args;
use super::parse::{lookalike, source};
use super::paths::{Place, is_secret, place};
use super::run::{Flow, Run};
use super::scope::Scope;
use super::word::{HOLE, Word};
use super::{Judgement, prefix, programs, safe, wrappers};
use std::path::Path;
use tree_sitter::Node;

/// Variables that make programs run something else.
const HIJACKING: &[&str] = &[
    "PATH",
    "IFS",
    "ENV",
    "BASH_ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PS0",
    "PS1",
    "PS4",
    "PROMPT_COMMAND",
    "PAGER",
    "MANPAGER",
    "EDITOR",
    "VISUAL",
    "FCEDIT",
    "BROWSER",
    "LESSOPEN",
    "LESSCLOSE",
    "LESS",
    "MORE",
    "MANOPT",
    "TAR_OPTIONS",
    "RSYNC_RSH",
    "RSYNC_CONNECT_PROG",
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONBREAKPOINT",
    "PYTHONWARNINGS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERL5OPT",
    "PERL5LIB",
    "PERLLIB",
    "PERL5DB",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "CLASSPATH",
    "LUA_INIT",
    "LUA_PATH",
    "LUA_CPATH",
    "PHP_INI_SCAN_DIR",
    "PHPRC",
    "R_PROFILE",
    "R_PROFILE_USER",
    "GCONV_PATH",
    "HOSTALIASES",
    "LOCPATH",
    "NLSPATH",
    "HOME",
    "SHELL",
    "CDPATH",
    "FPATH",
    "ZDOTDIR",
    "INPUTRC",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC",
    "RUSTDOC",
    "CARGO_HOME",
    "GOFLAGS",
    "MAKEFLAGS",
    "MAKEFILES",
    "GNUMAKEFLAGS",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "SUDO_EDITOR",
    "SVN_SSH",
    "SVN_EDITOR",
    "HGEDITOR",
    "CVS_RSH",
    "XDG_CONFIG_HOME",
    "OPENSSL_CONF",
    "TERMINFO",
    "DOCKER_HOST",
    "GREP_OPTIONS",
    "RIPGREP_CONFIG_PATH",
    "WGETRC",
    "CURL_HOME",
    "NPM_CONFIG_SCRIPT_SHELL",
    "npm_config_script_shell",
    "GIT_SSH_COMMAND",
    "COMP_WORDBREAKS",
    "HISTFILE",
    "EXECIGNORE",
    "GLOBIGNORE",
    "POSIXLY_CORRECT",
    "PIP_INDEX_URL",
];

/// How such names may begin.
const HIJACKING_STARTS: &[&str] =
    &["LD_", "DYLD_", "BASH_FUNC_", "MALLOC_", "CARGO_TARGET_", "PIP_CONFIG", "npm_config_"];

/// Variables of git that only say who and when, or how to print.
const GIT_HARMLESS: &[&str] = &[
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE",
    "GIT_TERMINAL_PROMPT",
    "GIT_TRACE",
    "GIT_OPTIONAL_LOCKS",
    "GIT_MERGE_AUTOEDIT",
    "GIT_CURL_VERBOSE",
];

/// Values that turn a pager or an editor off.
const TURNED_OFF: &[&str] = &["", "cat", "true", ":", "/bin/true", "/bin/cat"];

/// Where a command's input comes from.
#[derive(Clone, Debug, Default)]
pub(super) struct Io {
    /// Another program writes it.
    pub(super) piped: bool,
    /// The input, as far as it is spelled out.
    pub(super) input: Option<String>,
    /// A file is its input.
    pub(super) file: bool,
}

/// One redirection to or from a file.
pub(super) struct Redirect {
    pub(super) operator: String,
    pub(super) target: Word,
}

/// The directory that a tilde and a name stand for.
pub(super) fn tilde(name: &str, home: Option<&Path>, scope: &Scope) -> Option<String> {
    match name {
        "" => Some(home.map_or_else(|| "/home/~".to_owned(), |home| home.to_string_lossy().into_owned())),
        "+" => scope.here().into_iter().next().flatten(),
        "-" => None,
        "root" => Some("/root".to_owned()),
        name => {
            name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c)).then(|| format!("/home/{name}"))
        }
    }
}

/// Whether setting a variable makes programs run something else.
pub(super) fn hijacks(name: &str, value: Option<&str>) -> bool {
    let off = value.is_some_and(|value| TURNED_OFF.contains(&value));
    let pager = name.ends_with("PAGER") || name.ends_with("EDITOR") || name == "VISUAL";
    if off && (pager || name == "GIT_ASKPASS" || name == "RUSTC_WRAPPER") {
        return value == Some("");
    }
    HIJACKING.contains(&name)
        || HIJACKING_STARTS.iter().any(|start| name.starts_with(start))
        || (name.starts_with("GIT_") && !GIT_HARMLESS.contains(&name))
        || pager
}

impl Run<'_> {
    /// What a variable written like this may be.
    pub(super) fn variable(&self, written: &str) -> Vec<Option<String>> {
        let inner = written.trim_start_matches('$').trim_start_matches('{').trim_end_matches('}');
        let length = inner.chars().take_while(|c| c.is_alphanumeric() || *c == '_').map(char::len_utf8).sum();
        let (name, operator) = inner.split_at_checked(length).unwrap_or((inner, ""));
        let mut values = if name.is_empty() { vec![None] } else { self.scope.get(name) };
        if operator.is_empty() || operator == ":?" {
            return values;
        }
        // An operator makes something else of it; its default, if it has one, is in plain sight.
        for start in [":-", ":=", ":+", "-", "=", "+"] {
            if let Some(default) = operator.strip_prefix(start) {
                let default = default.trim_matches(['"', '\'']);
                let home = self.home().map(|home| home.to_string_lossy().into_owned()).unwrap_or_default();
                let plain = !default.contains(['$', '`']) || default == "$HOME";
                values.push(plain.then(|| default.replace("$HOME", &home)));
                break;
            }
        }
        values.push(None);
        values
    }

    /// What a substitution gives, where that is known without running it.
    pub(super) fn known_output(&self, written: &str) -> Vec<Option<String>> {
        let inner = written.trim_start_matches("$(").trim_end_matches(')').trim_matches('`').trim();
        match inner {
            "pwd" | "pwd -P" | "realpath ." | "readlink -f ." => self.scope.here(),
            "git rev-parse --show-toplevel" => {
                let cwd = self.scope.cwds.first();
                let root = self.at.roots.iter().find(|root| cwd.is_some_and(|cwd| cwd.starts_with(root)));
                vec![root.map(|root| root.to_string_lossy().into_owned())]
            }
            _ if inner == "mktemp"
                || (inner.starts_with("mktemp -d") && !inner.contains(['/', ';', '&', '|', '-', 'p'])) =>
            {
                vec![Some("/tmp/mktemp".to_owned())]
            }
            "mktemp -d" => vec![Some("/tmp/mktemp".to_owned())],
            _ => vec![None],
        }
    }

    /// A statement that only assigns.
    pub(super) fn assignments(&mut self, node: Node<'_>, text: &str) {
        self.unproved = true;
        let mut nodes = vec![node];
        if node.kind() == "variable_assignments" {
            let mut cursor = node.walk();
            nodes = node.named_children(&mut cursor).collect();
        }
        for one in nodes {
            let judgement = self.assignment(one, text, false);
            if judgement != Judgement::Plain {
                self.found(source(one, text), Vec::new(), 0, judgement);
            }
        }
    }

    /// One assignment; what it substitutes is looked at too.
    pub(super) fn assignment(&mut self, node: Node<'_>, text: &str, passing: bool) -> Judgement {
        self.substitutions(node, text, &Flow::new());
        let (Some(name), value) = (node.child_by_field_name("name"), node.child_by_field_name("value"))
        else {
            return Judgement::risky("it cannot be understood");
        };
        let indexed = name.kind() == "subscript";
        let written = source(name, text).to_owned();
        let words = value
            .map(|value| if value.kind() == "array" { Vec::new() } else { self.word(value, text).words });
        let value = match words.as_deref() {
            None => Some(String::new()),
            Some([]) if node.child_by_field_name("value").is_some_and(|value| value.kind() != "array") => {
                Some(String::new())
            }
            Some([word]) => word.value().map(str::to_owned),
            Some(_) => None,
        };
        let appends = source(node, text).get(written.len()..).is_some_and(|rest| rest.starts_with("+="));
        let value = value.filter(|_| !appends);
        if indexed {
            let risky = source(name, text).contains("$(") || source(name, text).contains('`');
            let judgement = Judgement::risky("an index that runs something");
            return if risky { judgement } else { Judgement::Plain };
        }
        let judgement = self.variable_set(&written, value.as_deref());
        if !passing {
            self.scope.set(&written, value);
        }
        judgement
    }

    pub(super) fn variable_set(&self, name: &str, value: Option<&str>) -> Judgement {
        if hijacks(name, value) {
            return Judgement::risky(format!("sets {name}, which changes what programs run"));
        }
        Judgement::Plain
    }

    /// `export A=1`, `declare`, `local`, `readonly`, `unset`.
    pub(super) fn declaration(&mut self, node: Node<'_>, text: &str, flow: &Flow) {
        self.unproved = true;
        let mut worst = flow.floor.clone().worst(Judgement::Plain);
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        let keyword = children.first().map_or("", |first| source(*first, text));
        for child in &children {
            if child.kind() == "variable_assignment" {
                worst = worst.worst(self.assignment(*child, text, false));
                continue;
            }
            if !child.is_named() {
                continue;
            }
            self.substitutions(*child, text, flow);
            for word in self.word(*child, text).words {
                worst = worst.worst(self.declared(keyword, &word));
            }
        }
        self.found(source(node, text), vec![keyword.to_owned()], 0, worst);
    }

    /// A word of `export` and the like that the grammar did not take for an assignment.
    fn declared(&mut self, keyword: &str, word: &Word) -> Judgement {
        if word.text.contains("$(") || word.text.contains('`') {
            return Judgement::risky("an index that runs something");
        }
        if let Some((name, value)) = word.text.split_once('=') {
            self.scope.set(name, word.known.then(|| value.to_owned()));
            return self.variable_set(name, word.known.then_some(value));
        }
        if !word.known {
            return Judgement::risky("sets a variable that only running it would tell");
        }
        if keyword.starts_with("unset") {
            self.scope.forget(&word.text);
            return self.variable_set(&word.text, None);
        }
        Judgement::Plain
    }

    /// Where a redirection goes, and whether it may.
    pub(super) fn redirect(&mut self, redirect: &Redirect, io: &mut Io) -> Judgement {
        let operator = redirect.operator.trim_start_matches(|c: char| c.is_ascii_digit());
        let target = &redirect.target;
        let digits =
            |text: &str| text == "-" || text.trim_end_matches('-').chars().all(|c| c.is_ascii_digit());
        if operator.ends_with('&') && operator != "&" && digits(&target.text) {
            return Judgement::Safe;
        }
        if operator == "<" || operator == "<&" {
            io.file = true;
            return self.reads(target);
        }
        self.writes(target)
    }

    /// Notes that a file is read.
    pub(super) fn reads(&mut self, word: &Word) -> Judgement {
        if word.text.starts_with("/dev/tcp/") || word.text.starts_with("/dev/udp/") {
            self.out.network = true;
            return Judgement::risky("opens a network connection");
        }
        let paths = self.scope.paths(word);
        if paths.iter().any(|path| is_secret(path)) {
            return Judgement::risky("reads secrets");
        }
        let inside = paths.iter().all(|path| self.at.roots.iter().any(|root| path.starts_with(root)));
        let safe = word.literal && !word.glob && !paths.is_empty() && (inside || word.text == "/dev/null");
        self.out.reads.extend(paths.into_iter().filter(|path| *path != Path::new("/dev/null")));
        if safe { Judgement::Safe } else { Judgement::Plain }
    }

    /// Notes that a file is written, and says whether it may be.
    pub(super) fn writes(&mut self, word: &Word) -> Judgement {
        if word.known && word.text.is_empty() {
            return Judgement::Plain;
        }
        let paths = self.scope.paths(word);
        if paths.is_empty() {
            return self.writes_somewhere(word);
        }
        let mut worst = Judgement::Safe;
        for path in paths {
            let judgement = match place(&path, self.at) {
                Place::Nowhere if path == Path::new("/dev/null") => Judgement::Safe,
                Place::Nowhere | Place::Temporary => Judgement::Plain,
                Place::Inside => {
                    if !word.glob {
                        self.out.writes.push(path);
                    }
                    Judgement::Plain
                }
                Place::Git => {
                    self.out.writes.push(path);
                    Judgement::risky("changes the repository's inner files")
                }
                Place::Device => Judgement::forbidden("writes to a raw device"),
                Place::Accounts => Judgement::forbidden("changes the machine's accounts or rights"),
                Place::Network => {
                    self.out.network = true;
                    Judgement::risky("opens a network connection")
                }
                Place::HomeSettings => Judgement::risky("changes settings in the home directory"),
                Place::Outside => Judgement::risky("writes outside the workspace"),
            };
            worst = worst.worst(judgement);
        }
        worst
    }

    /// A write to a place that is known only in part.
    fn writes_somewhere(&mut self, word: &Word) -> Judgement {
        if word.text.starts_with("/dev/tcp") || word.text.starts_with("/dev/udp") {
            self.out.network = true;
            return Judgement::risky("opens a network connection");
        }
        let known = self.scope.known_parent(word).map(|parent| place(&parent.join("x"), self.at));
        match known {
            Some(Place::Inside | Place::Temporary) if word.text.starts_with(|c| c != HOLE) => {
                Judgement::Plain
            }
            _ => Judgement::risky("writes to a place that only running it would tell"),
        }
    }

    /// One program with its arguments: wrappers are taken off, what is inside is looked at.
    pub(super) fn command(&mut self, words: Vec<Word>, io: &Io, text: &str, flow: &Flow) {
        self.deeper(text, |run| run.command_inner(words, io, text, flow));
    }

    fn command_inner(&mut self, words: Vec<Word>, io: &Io, text: &str, flow: &Flow) {
        if !self.burn() {
            return;
        }
        let Some((program, rest)) = words.split_first() else {
            if flow.floor != Judgement::Safe {
                self.found(text, Vec::new(), 0, flow.floor.clone());
            }
            return;
        };
        let Some(name) = program.value().map(str::to_owned) else {
            let judgement = Judgement::risky("which program runs is only known by running it");
            return self.found(text, Vec::new(), 0, flow.floor.clone().worst(judgement));
        };
        if !name.chars().all(|c| c.is_ascii_graphic() || c == ' ') || name.is_empty() || program.glob {
            let judgement = Judgement::risky("the name of the program is not what it seems");
            return self.found(text, Vec::new(), 0, flow.floor.clone().worst(judgement));
        }
        if self.own_name(&name, rest, io, flow) {
            return;
        }
        if wrappers::unwrap(self, &words, io, text, flow) {
            return;
        }
        let mut judgement = programs::judge(self, &words, io).worst(flow.floor.clone());
        judgement = judgement.worst(self.general(&name, &words));
        if judgement == Judgement::Safe && !safe::is_safe(self, &words) {
            judgement = Judgement::Plain;
        }
        let (shown, prefix) = named(&words, &judgement);
        self.found(text, shown, prefix, judgement);
    }

    /// Functions and aliases that the same text defines.
    fn own_name(&mut self, name: &str, rest: &[Word], io: &Io, flow: &Flow) -> bool {
        if self.scope.reading.iter().any(|reading| reading == name) {
            let judgement = if flow.forked {
                Judgement::forbidden("starts itself over and over")
            } else {
                Judgement::Plain
            };
            self.found(name, Vec::new(), 0, judgement.worst(flow.floor.clone()));
            return true;
        }
        let flow = Flow { piped: io.piped, feed: io.input.clone(), ..flow.plain() };
        if let Some(body) = self.scope.functions.get(name).cloned() {
            let kept = self.scope.clone();
            for (nth, word) in rest.iter().take(9).enumerate() {
                self.scope.bind(&(nth + 1).to_string(), std::slice::from_ref(word));
            }
            self.scope.reading.push(name.to_owned());
            self.nested(&body, &flow);
            self.scope = kept;
            return true;
        }
        if let Some(value) = self.scope.aliases.remove(name) {
            let rest: Vec<String> = rest.iter().map(|word| word.source.clone()).collect();
            self.nested(&format!("{value} {}", rest.join(" ")), &flow);
            self.scope.aliases.insert(name.to_owned(), value);
            return true;
        }
        false
    }

    /// What is true of every program's words.
    fn general(&mut self, name: &str, words: &[Word]) -> Judgement {
        let mut worst = Judgement::Safe;
        for word in words {
            if word.literal && word.source == word.text && lookalike(&word.text) {
                worst = worst.worst(Judgement::risky("a word is not what it seems"));
            }
            if word.text.contains("/dev/tcp/") || word.text.contains("/dev/udp/") {
                self.out.network = true;
                worst = worst.worst(Judgement::risky("opens a network connection"));
            }
        }
        if programs::reads_its_words(programs::base(name))
            && self.names_secret(Args(words.get(1..).unwrap_or_default()))
        {
            worst = worst.worst(Judgement::risky("reads secrets"));
        }
        worst
    }

    fn names_secret(&self, args: Args<'_>) -> bool {
        args.0.iter().any(|word| {
            let mut texts: Vec<&str> = vec![word.text.as_str()];
            texts.extend(word.text.split_once('=').map(|(_, value)| value));
            texts.extend(word.text.split_once('@').map(|(_, value)| value));
            texts.extend(word.text.split_once("file://").map(|(_, value)| value));
            texts.extend(word.text.split_once(':').map(|(_, value)| value));
            texts.iter().any(|text| {
                let text = text.trim_start_matches(['@', '<']);
                let from_home = text.strip_prefix('~').and_then(|rest| Some((self.home()?, rest)));
                match from_home {
                    Some((home, rest)) => is_secret(&home.join(rest.trim_start_matches('/'))),
                    None if word.text.contains(HOLE) => {
                        text.split(HOLE).any(|part| is_secret(Path::new(part)))
                    }
                    None => {
                        !text.contains([' ', '\n'])
                            && self.scope.paths_of(text).iter().any(|path| is_secret(path))
                    }
                }
            })
        })
    }
}

/// The words shown for a program, and how many of them name what is done.
fn named(words: &[Word], judgement: &Judgement) -> (Vec<String>, usize) {
    let count = match judgement {
        Judgement::Safe | Judgement::Plain => prefix::count(words),
        Judgement::Risky(_) | Judgement::Forbidden(_) => 0,
    };
    let all_known = words.iter().all(|word| word.known);
    let prefix_known = count > 0 && words.iter().take(count).all(|word| word.known);
    if !all_known && !prefix_known {
        return (Vec::new(), 0);
    }
    let shown =
        words.iter().map(|word| word.value().map_or_else(|| word.source.clone(), str::to_owned)).collect();
    (shown, count)
}
