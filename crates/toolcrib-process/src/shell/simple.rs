//! One simple command: its assignments, its redirections, and who is asked about its program.

use super::args::{Args, listed};
use super::parse::lookalike;
use super::paths::{Place, is_secret, normalise, place};
use super::run::{Flow, Run};
use super::word::{HOLE, Word};
use super::{Judgement, code, prefix, programs, safe, shells, wrappers};
use std::path::{Path, PathBuf};

/// Words that bash takes for syntax where a program's name would stand.
const RESERVED: &str =
    "} { then do done fi esac else elif in if while until for case select function ! [[ ]] ((";

/// Where a command's input comes from.
#[derive(Clone, Debug, Default)]
pub(super) struct Io {
    /// Another program writes it.
    pub(super) piped: bool,
    /// The input, as far as it is spelled out.
    pub(super) input: Option<String>,
    /// A file is its input.
    pub(super) file: bool,
    /// What a process substitution among its words gives, as far as it is spelled out.
    pub(super) given: Option<String>,
    /// Something is redirected that is neither nowhere, a descriptor, nor a plain file inside the roots.
    pub(super) elsewhere: bool,
}

/// One redirection to or from a file.
pub(super) struct Redirect {
    pub(super) operator: String,
    pub(super) target: Word,
}

impl Run<'_> {
    /// Where a redirection goes, and whether it may.
    pub(super) fn redirect(&mut self, redirect: &Redirect, io: &mut Io) -> Judgement {
        let operator = redirect.operator.trim_start_matches(|c: char| c.is_ascii_digit());
        let target = &redirect.target;
        let digits =
            |text: &str| text == "-" || text.trim_end_matches('-').chars().all(|c| c.is_ascii_digit());
        if operator.ends_with('&') && operator != "&" && digits(&target.text) {
            return Judgement::Safe;
        }
        let paths = self.scope.paths(target);
        let plain = |path: &PathBuf| path == Path::new("/dev/null") || place(path, self.at) == Place::Inside;
        io.elsewhere |= paths.is_empty() || target.glob || !paths.iter().all(plain);
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
            self.written.push(path.clone());
            let judgement = match place(&path, self.at) {
                Place::Nowhere if path == Path::new("/dev/null") => Judgement::Safe,
                Place::Temporary if self.climbs_out(word, &path) => {
                    Judgement::risky("writes outside the workspace")
                }
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

    /// Whether a relative path leads out of the workspace from inside it.
    pub(super) fn climbs_out(&self, word: &Word, path: &Path) -> bool {
        let inside = |path: &Path| self.at.roots.iter().any(|root| path.starts_with(root));
        !word.text.starts_with('/') && !inside(path) && self.scope.cwds.iter().any(|cwd| inside(cwd))
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
        if listed(RESERVED, &name) && program.literal && program.source == name {
            return self.not_understood(text, "it cannot be understood");
        }
        if self.own_name(&name, rest, io, flow) {
            return;
        }
        if wrappers::unwrap(self, &words, io, text, flow) {
            return;
        }
        let mut judgement = programs::judge(self, &words, io).worst(flow.floor.clone());
        judgement = judgement.worst(self.general(&name, &words));
        if name.contains('/') && self.fetched(program) {
            judgement = judgement.worst(Judgement::risky("runs what it has just fetched"));
        }
        if judgement == Judgement::Safe && !safe::is_safe(self, &words) {
            judgement = Judgement::Plain;
        }
        let (shown, prefix) = named(&words, &judgement);
        let bare = self.is_bare(&words, io, flow) && !shown.is_empty();
        self.noted(text, shown, prefix, judgement, bare);
    }

    /// Whether the words are all there is to a command.
    pub(super) fn is_bare(&self, words: &[Word], io: &Io, flow: &Flow) -> bool {
        let start = normalise(&self.at.cwd);
        let here = !self.scope.cwds.is_empty() && self.scope.cwds.iter().all(|cwd| cwd.starts_with(&start));
        let name = words.first().map_or("", |word| programs::base(&word.text)).to_ascii_lowercase();
        let args = Args(words.get(1..).unwrap_or_default());
        let fed = io.piped || io.file || io.input.is_some();
        let runs_input = (code::is_interpreter(&name) || shells::is_shell(&name))
            && (args.operands().is_empty()
                || args.short("s")
                || args.any(&["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"]))
            || args.any(&["-f-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"]);
        flow.bare && !io.elsewhere && here && !(fed && runs_input)
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
            self.scope.bind_arguments(rest);
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
        let args = Args(words.get(1..).unwrap_or_default());
        let name = programs::base(name);
        let homes = |path: &PathBuf| self.home().is_some_and(|home| home.starts_with(path));
        let below = programs::reads_below(name, args)
            && args.operands().iter().any(|word| self.scope.paths(word).iter().any(homes));
        if below
            || programs::reads_its_words(name, args) && self.names_secret(&programs::read_words(name, args))
        {
            worst = worst.worst(Judgement::risky("reads secrets"));
        }
        worst
    }

    fn names_secret(&self, words: &[Word]) -> bool {
        words.iter().any(|word| {
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
