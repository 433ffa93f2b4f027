//! One look at one command: what was found so far, and the limits that keep it short.

use super::guard::Seen;
use super::parse;
use super::scan;
use super::scope::Scope;
use super::word::Word;
use super::{Analysis, Judgement, Simple, Surroundings};
use std::path::{Path, PathBuf};

/// How many programs one command may run before it counts as not understood.
const MOST_COMMANDS: usize = 500;
/// How many syntax nodes are looked at.
const FUEL: usize = 100_000;
/// How deep texts within texts are followed.
const DEEPEST_TEXT: usize = 8;
/// How deep syntax is followed, over all texts.
const DEEPEST_WALK: usize = 120;
/// How many words are tried as the beginning of a command.
const PEEKS: usize = 64;
const PEEKS_IN_A_SCAN: usize = 3;
/// The longest text shown for one program, in characters.
const SHOWN: usize = 2000;

/// What flows into a command from around it.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    /// What it is judged at least.
    pub(super) floor: Judgement,
    /// Whether another program writes its input.
    pub(super) piped: bool,
    /// That input, as far as it is spelled out.
    pub(super) feed: Option<String>,
    /// Whether it runs beside what started it: in the background, in a pipe or in a substitution.
    pub(super) forked: bool,
    /// Whether nothing around it changes what its words mean.
    pub(super) bare: bool,
}

impl Flow {
    pub(super) fn new() -> Self {
        Self { floor: Judgement::Safe, piped: false, feed: None, forked: false, bare: true }
    }

    /// The same, where something else than the words has a say.
    pub(super) fn not_bare(&self) -> Self {
        Self { bare: false, ..self.clone() }
    }

    /// The same, judged at least as plain.
    pub(super) fn plain(&self) -> Self {
        Self { floor: self.floor.clone().worst(Judgement::Plain), ..self.clone() }
    }

    /// Inside a substitution.
    pub(super) fn substituted(&self) -> Self {
        Self { floor: Judgement::Plain, piped: false, feed: None, forked: true, bare: true }
    }
}

/// One look at one command.
pub(super) struct Run<'a> {
    pub(super) at: &'a Surroundings,
    pub(super) scope: Scope,
    pub(super) out: Analysis,
    /// Something was set that changes what later commands do, so that nothing is proved safe.
    pub(super) unproved: bool,
    /// Whether something was fetched from the network, and all files written so far.
    pub(super) fetches: bool,
    pub(super) written: Vec<PathBuf>,
    /// What was looked at of the text that is being read.
    pub(super) seen: Seen,
    fuel: usize,
    texts: usize,
    walks: usize,
    peeks: usize,
    exhausted: bool,
    /// Raw text is being searched: a text that is not understood is not searched again.
    scans: bool,
}

impl<'a> Run<'a> {
    pub(super) fn new(at: &'a Surroundings) -> Self {
        Self {
            at,
            scope: Scope::new(at),
            out: Analysis::default(),
            unproved: false,
            fetches: false,
            written: Vec::new(),
            seen: Seen::default(),
            fuel: FUEL,
            texts: 0,
            walks: 0,
            peeks: PEEKS,
            exhausted: false,
            scans: false,
        }
    }

    /// The same, for a search of raw text.
    pub(super) fn scanning(mut self) -> Self {
        self.scans = true;
        self.peeks = PEEKS_IN_A_SCAN;
        self
    }

    /// Whether raw text is being searched.
    pub(super) fn is_scanning(&self) -> bool {
        self.scans
    }

    /// What was found.
    pub(super) fn finish(mut self) -> Analysis {
        if self.unproved {
            for simple in &mut self.out.commands {
                simple.judgement =
                    std::mem::replace(&mut simple.judgement, Judgement::Safe).worst(Judgement::Plain);
            }
        }
        for paths in [&mut self.out.reads, &mut self.out.writes] {
            paths.sort();
            paths.dedup();
        }
        self.out
    }

    /// Looks at a text from outside.
    pub(super) fn text(&mut self, text: &str) {
        self.nested(text, &Flow::new());
        if self.out.commands.is_empty() && self.unproved {
            self.found(text, Vec::new(), 0, Judgement::Plain);
        }
    }

    /// Looks at exact words from outside.
    pub(super) fn argv(&mut self, argv: &[String]) {
        let text = argv.iter().map(|word| scan::shown_word(word)).collect::<Vec<_>>().join(" ");
        if argv.iter().any(|word| word.contains('\0')) {
            return self.found(&text, Vec::new(), 0, Judgement::risky("a word has a zero byte in it"));
        }
        let words = argv.iter().map(|word| Word::exact(word)).collect();
        self.command(words, &super::simple::Io::default(), &text, &Flow::new());
    }

    /// Looks at a text inside another: the argument of `sh -c`, a function's body, a substitution's.
    pub(super) fn nested(&mut self, text: &str, flow: &Flow) {
        if self.texts >= DEEPEST_TEXT || !self.burn() {
            return self.found(
                text,
                Vec::new(),
                0,
                Judgement::risky("it is nested too deeply to be understood"),
            );
        }
        self.texts += 1;
        self.one_text(text, flow);
        if let Some(joined) = parse::joined(text) {
            self.one_text(&joined, flow);
        }
        self.texts -= 1;
    }

    fn one_text(&mut self, text: &str, flow: &Flow) {
        if let Some(why) = parse::unreadable(text) {
            return self.not_understood(text, why);
        }
        let Some(tree) = parse::parse(text) else {
            return self.not_understood(text, "it takes too long to be understood");
        };
        if tree.root_node().has_error() || !parse::gaps_agree(tree.root_node(), text) {
            return self.not_understood(text, "it cannot be understood");
        }
        let outer = std::mem::take(&mut self.seen);
        self.walk(tree.root_node(), text, flow);
        self.unseen(tree.root_node(), text);
        self.seen = outer;
    }

    /// A text that is not understood is risky, and forbidden if something forbidden is in plain sight.
    pub(super) fn not_understood(&mut self, text: &str, why: &str) {
        let cwd = self.scope.cwds.first().map(PathBuf::as_path);
        let found = if self.scans { None } else { scan::forbidden(text, self.at, cwd) };
        let judgement = match found {
            Some(reason) => Judgement::Forbidden(reason),
            None => Judgement::risky(why),
        };
        self.found(text, Vec::new(), 0, judgement);
    }

    /// Notes a program that is more than its words.
    pub(super) fn found(&mut self, text: &str, words: Vec<String>, prefix: usize, judgement: Judgement) {
        self.noted(text, words, prefix, judgement, false);
    }

    /// Notes a program.
    pub(super) fn noted(
        &mut self,
        text: &str,
        words: Vec<String>,
        prefix: usize,
        judgement: Judgement,
        bare: bool,
    ) {
        if self.out.commands.len() >= MOST_COMMANDS {
            return self.exhaust();
        }
        self.out.commands.push(Simple { text: shown(text), words, prefix, judgement, bare });
    }

    /// Notes, once, that there is more than is looked at.
    fn exhaust(&mut self) {
        self.fuel = 0;
        if !std::mem::replace(&mut self.exhausted, true) {
            let judgement = Judgement::risky("it does more than can be looked at");
            let text = "…".to_owned();
            self.out.commands.push(Simple { text, words: Vec::new(), prefix: 0, judgement, bare: false });
        }
    }

    /// Takes one look at what may be a command; false when there were too many.
    pub(super) fn peeks(&mut self) -> bool {
        self.peeks = self.peeks.saturating_sub(1);
        self.peeks > 0
    }

    /// Whether there is more than is looked at.
    pub(super) fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    /// Takes one step; false when there were too many.
    pub(super) fn burn(&mut self) -> bool {
        self.fuel = self.fuel.saturating_sub(1);
        if self.fuel == 0 {
            self.exhaust();
        }
        self.fuel > 0
    }

    /// Does something one level deeper, unless that is too deep.
    pub(super) fn deeper(&mut self, text: &str, what: impl FnOnce(&mut Self)) {
        if self.walks >= DEEPEST_WALK {
            return self.found(
                text,
                Vec::new(),
                0,
                Judgement::risky("it is nested too deeply to be understood"),
            );
        }
        self.walks += 1;
        what(self);
        self.walks -= 1;
    }

    /// Whether a file may be one that the same text fetched from the network.
    pub(super) fn fetched(&self, file: &Word) -> bool {
        self.fetches && self.scope.paths(file).iter().any(|path| self.written.contains(path))
    }

    /// The home directory.
    pub(super) fn home(&self) -> Option<&'a Path> {
        self.at.home.as_deref()
    }
}

/// The text as a person reads it: nothing hidden, not without end.
fn shown(text: &str) -> String {
    let mut out = String::new();
    for (count, c) in text.trim().chars().enumerate() {
        if count >= SHOWN {
            out.push('…');
            break;
        }
        let visible = matches!(c, '\n' | '\t') || !(c.is_control() || parse::deceives(c));
        if visible { out.push(c) } else { out.extend(c.escape_unicode()) }
    }
    out
}
