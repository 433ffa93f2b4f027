//! Variables: what they may hold, and which of them make programs run something else.

use super::Judgement;
use super::args::listed;
use super::parse::source;
use super::run::{Flow, Run};
use super::scope::Scope;
use super::word::Word;
use std::path::Path;
use tree_sitter::Node;

/// Variables that make programs run something else.
const HIJACKING: &str = "PATH IFS ENV BASH_ENV SHELLOPTS BASHOPTS PS0 PS1 PS4 PROMPT_COMMAND PAGER MANPAGER EDITOR VISUAL \
    FCEDIT BROWSER LESSOPEN LESSCLOSE LESS MORE MANOPT TAR_OPTIONS RSYNC_RSH RSYNC_CONNECT_PROG \
    PYTHONSTARTUP PYTHONPATH PYTHONHOME PYTHONINSPECT PYTHONBREAKPOINT PYTHONWARNINGS NODE_OPTIONS \
    NODE_PATH PERL5OPT PERL5LIB PERLLIB PERL5DB RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS _JAVA_OPTIONS \
    JDK_JAVA_OPTIONS CLASSPATH LUA_INIT LUA_PATH LUA_CPATH PHP_INI_SCAN_DIR PHPRC R_PROFILE \
    R_PROFILE_USER GCONV_PATH HOSTALIASES LOCPATH NLSPATH HOME SHELL CDPATH FPATH ZDOTDIR INPUTRC \
    RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTC RUSTDOC CARGO_HOME GOFLAGS MAKEFLAGS MAKEFILES \
    GNUMAKEFLAGS SSH_ASKPASS SUDO_ASKPASS SUDO_EDITOR SVN_SSH SVN_EDITOR HGEDITOR CVS_RSH \
    XDG_CONFIG_HOME OPENSSL_CONF TERMINFO DOCKER_HOST GREP_OPTIONS RIPGREP_CONFIG_PATH WGETRC \
    CURL_HOME NPM_CONFIG_SCRIPT_SHELL npm_config_script_shell GIT_SSH_COMMAND COMP_WORDBREAKS \
    HISTFILE EXECIGNORE GLOBIGNORE POSIXLY_CORRECT PIP_INDEX_URL";

/// How such names may begin.
const HIJACKING_STARTS: &[&str] = &["LD_", "DYLD_", "BASH_FUNC_", "MALLOC_", "PIP_CONFIG", "npm_config_"];

/// How such names may end.
const HIJACKING_ENDS: &[&str] = &["_RUNNER", "_LINKER", "_ASKPASS", "_RUSTC_WRAPPER"];

/// Options for node that only set limits or silence it.
const NODE_HARMLESS: &[&str] = &[
    "--max-old-space-size",
    "--max_old_space_size",
    "--no-warnings",
    "--experimental-vm-modules",
    "--trace-warnings",
];

/// Variables of git that only say who and when, or how to print.
const GIT_HARMLESS: &str = "GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL \
    GIT_COMMITTER_DATE GIT_TERMINAL_PROMPT GIT_TRACE GIT_OPTIONAL_LOCKS GIT_MERGE_AUTOEDIT \
    GIT_CURL_VERBOSE";

/// What stands for a file or directory that `mktemp` makes.
pub(super) const MKTEMP: &str = "/tmp/mktemp";

/// Values that turn a pager or an editor off.
const TURNED_OFF: &[&str] = &["", "cat", "true", ":", "/bin/true", "/bin/cat"];

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
    // A project's own modules may be named: its code runs anyway.
    let own = |path: &str| !path.is_empty() && !path.starts_with(['/', '~']) && !path.contains("..");
    if let Some(value) = value
        && (matches!(name, "PYTHONPATH" | "NODE_PATH" | "RUBYLIB" | "PERL5LIB") && value.split(':').all(own)
            || name == "NODE_OPTIONS"
                && value
                    .split_whitespace()
                    .all(|word| NODE_HARMLESS.contains(&word.split('=').next().unwrap_or(word))))
    {
        return value.is_empty();
    }
    HIJACKING_ENDS.iter().any(|end| name.ends_with(end))
        || listed(HIJACKING, name)
        || HIJACKING_STARTS.iter().any(|start| name.starts_with(start))
        || (name.starts_with("GIT_") && !listed(GIT_HARMLESS, name))
        || pager
}

/// What `printf` and `echo` print, where that is spelled out, quotes and all.
fn printed(command: &str) -> Option<String> {
    let (program, rest) = command.split_once(' ')?;
    let rest = rest.trim();
    if !matches!(program, "echo" | "printf") || rest.contains(|c| "$`\\;|&<>(){}*?[]~#\n".contains(c)) {
        return None;
    }
    let quotes = |quote: char| rest.matches(quote).count();
    if program == "echo" && quotes('"') + quotes('\'') == 0 {
        return None;
    }
    let plain = (quotes('"') == 0 || quotes('\'') == 0) && quotes('"') % 2 == 0 && quotes('\'') % 2 == 0;
    let text = plain.then(|| rest.replace(['"', '\''], ""))?;
    if program == "echo" {
        return Some(text.strip_prefix("-n ").unwrap_or(&text).to_owned());
    }
    let text = text.strip_prefix("-- ").unwrap_or(&text);
    let text = text.strip_prefix("%s ").or_else(|| text.strip_prefix("%b ")).unwrap_or(text);
    (!text.contains('%')).then(|| text.to_owned())
}

impl Run<'_> {
    /// What a variable written like this may be.
    pub(super) fn variable(&self, written: &str) -> Vec<Option<String>> {
        let inner = written.trim_start_matches('$').trim_start_matches('{').trim_end_matches('}');
        if matches!(inner, "@" | "*") {
            return self.scope.get(inner);
        }
        let length = inner.chars().take_while(|c| c.is_alphanumeric() || *c == '_').map(char::len_utf8).sum();
        let (name, operator) = inner.split_at_checked(length).unwrap_or((inner, ""));
        let mut values = if name.is_empty() { vec![None] } else { self.scope.get(name) };
        if operator.is_empty() || operator == ":?" {
            return values;
        }
        if let Some(nth) = operator.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'))
            && let (Some(array), Ok(nth)) = (self.scope.array(name), nth.parse::<usize>())
        {
            return vec![array.get(nth).cloned(), None];
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
            "mktemp" | "mktemp -d" | "mktemp -q" => vec![Some(MKTEMP.to_owned())],
            _ if printed(inner).is_some() => vec![printed(inner)],
            _ if inner.starts_with("echo ") && !inner.contains(|c| "$`\"'\\;|&<>(){}*?[]\n".contains(c)) => {
                let words = inner.trim_start_matches("echo ").trim();
                let home = self.home().map(|home| home.to_string_lossy().into_owned());
                let expanded =
                    words.strip_prefix("~/").and_then(|rest| Some(format!("{}/{rest}", home.as_deref()?)));
                vec![Some(expanded.or(home.filter(|_| words == "~")).unwrap_or_else(|| words.to_owned()))]
            }
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
        let value = if appends { self.appended(&written, value) } else { value };
        if let Some(array) = node.child_by_field_name("value").filter(|value| value.kind() == "array") {
            let words = self.elements(array, text).filter(|_| !self.scope.maybe);
            self.scope.set_array(&written, words, appends);
        } else if indexed || appends {
            self.scope.set_array(written.split('[').next().unwrap_or(&written), None, false);
        }
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

    /// What a variable holds when this is put behind it.
    fn appended(&self, name: &str, value: Option<String>) -> Option<String> {
        match self.scope.get(name).as_slice() {
            [Some(before)] if before.len() < 4096 => value.map(|value| format!("{before}{value}")),
            _ => None,
        }
    }

    /// The elements of an array that is spelled out.
    fn elements(&mut self, array: Node<'_>, text: &str) -> Option<Vec<String>> {
        let mut cursor = array.walk();
        let children: Vec<Node<'_>> = array.named_children(&mut cursor).collect();
        let mut out = Vec::new();
        for child in children {
            if source(child, text).starts_with('[') {
                return None;
            }
            for word in self.word(child, text).words {
                out.push(word.value()?.to_owned());
            }
        }
        Some(out)
    }

    /// The elements that a word such as `"${a[@]}"` stands for.
    pub(super) fn whole_array(&self, written: &str) -> Option<Vec<Word>> {
        let inner = written.trim_matches('"').strip_prefix("${")?.strip_suffix('}')?;
        let name = inner.strip_suffix("[@]").or_else(|| inner.strip_suffix("[*]"))?;
        let known = |text: &String| Word { literal: false, source: written.to_owned(), ..Word::exact(text) };
        // It may have been changed in ways that are not followed: then it is something else.
        Some(self.scope.array(name)?.iter().map(known).chain([Word::unknown(written)]).collect())
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
}
