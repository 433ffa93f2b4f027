//! What a shell command would do, told without running it.
//!
//! Two questions with opposite strictness. *Is it safe?* is a proof: only what is on an allow-list of syntax, programs
//! and options passes, so that a reading command needs no question in any mode. *Is it dangerous?* is a search: quotes are
//! undone, wrappers, substitutions, functions and nested shells are looked into, and simple variables are followed. What
//! cannot be understood is [`Judgement::Risky`], never [`Judgement::Plain`].
//!
//! This is a seatbelt, not the boundary: the kernel confines what runs. Nothing here touches the file system.

mod args;
mod code;
mod files;
mod filters;
mod git;
mod guard;
mod heredoc;
mod longs;
mod network;
mod options;
mod parse;
mod paths;
mod prefix;
mod programs;
mod redirects;
mod run;
mod safe;
mod scan;
mod scope;
mod shells;
mod simple;
mod variables;
mod walk;
mod word;
mod wrapper_table;
mod wrappers;

use std::path::PathBuf;

/// Where a command would run.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The workspace's directories, absolute and canonical.
    pub roots: Vec<PathBuf>,
    /// The home directory, if there is one.
    pub home: Option<PathBuf>,
    /// The directory it starts in, absolute.
    pub cwd: PathBuf,
}

/// What is known of a command without running it, from harmless to out of the question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Proved to read only.
    Safe,
    /// Understood; it changes things, and nothing about it is alarming.
    Plain,
    /// Dangerous, or not to be understood without running it.
    Risky(String),
    /// Never to be run.
    Forbidden(String),
}

impl Judgement {
    pub(crate) fn risky(reason: impl Into<String>) -> Self {
        Self::Risky(reason.into())
    }

    pub(crate) fn forbidden(reason: impl Into<String>) -> Self {
        Self::Forbidden(reason.into())
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Safe => 0,
            Self::Plain => 1,
            Self::Risky(_) => 2,
            Self::Forbidden(_) => 3,
        }
    }

    /// The worse of two; of two equally bad ones, the first.
    #[must_use]
    pub fn worst(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }
}

/// One program that would run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simple {
    /// As a person would read it; control characters are spelled out.
    pub text: String,
    /// The program and its arguments with quotes undone; empty where only running it would tell. An argument that only
    /// running would tell, behind the words that `prefix` counts, stands here as it was written.
    pub words: Vec<String>,
    /// How many leading words name what is done (`cargo test`: 2). 0: only the whole command.
    pub prefix: usize,
    /// What is known of it.
    pub judgement: Judgement,
    /// Whether the words are all there is to it, so that a rule about the words may speak for it. False when something else
    /// has a say: an assignment in front of it (`env A=1 x` too), a redirection other than to `/dev/null`, another
    /// descriptor or a plain file inside the roots, code that an interpreter is given as input, a program in front that is
    /// more than a clock or a priority, arguments that come from another program, or a working directory that is not the
    /// one where the call starts or below it.
    pub bare: bool,
}

/// What a command would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Analysis {
    /// Every program that would run, those inside substitutions and nested shells too.
    pub commands: Vec<Simple>,
    /// Literal paths that evidently are read: absolute, normalised by their text alone.
    pub reads: Vec<PathBuf>,
    /// Literal paths inside the roots that evidently are written: absolute, normalised by their text alone.
    pub writes: Vec<PathBuf>,
    /// Whether it evidently wants the network.
    pub network: bool,
}

impl Analysis {
    /// The worst judgement of all commands; safe when there is none.
    pub fn judgement(&self) -> &Judgement {
        let mut worst = &Judgement::Safe;
        for simple in &self.commands {
            if simple.judgement.rank() > worst.rank() {
                worst = &simple.judgement;
            }
        }
        worst
    }
}

/// Looks at a text that bash would run.
pub fn analyse(command: &str, at: &Surroundings) -> Analysis {
    let mut run = run::Run::new(at);
    run.text(command);
    run.finish()
}

/// Looks at a program and its arguments, run without a shell. A shell among them is looked into.
pub fn analyse_argv(argv: &[String], at: &Surroundings) -> Analysis {
    let mut run = run::Run::new(at);
    run.argv(argv);
    run.finish()
}
