//! Single options and words that make a plain program risky: those that run, write or publish what they name.

use super::args::{Args, listed};
use super::programs::Cmd;
use super::run::Run;
use super::word::Word;
use super::{Judgement, files};

/// Options and words that make an otherwise plain program risky.
struct Sign {
    names: &'static str,
    /// Letters of short options.
    short: &'static str,
    /// Long options, abbreviated too.
    long: &'static [&'static str],
    /// Words, and how they are looked for.
    words: &'static [&'static str],
    how: How,
    reason: &'static str,
}

/// How words are looked for.
#[derive(Clone, Copy)]
enum How {
    Exact,
    Begins,
    Contains,
    Last,
}

const SIGNS: &[Sign] = &[
    Sign {
        names: "sort gsort",
        short: "o",
        long: &["output", "compress-program"],
        words: &[],
        how: How::Exact,
        reason: "writes or runs what an option names",
    },
    Sign {
        names: "rg",
        short: "",
        long: &["pre", "hostname-bin", "pre-glob"],
        words: &["--pre", "--hostname-bin"],
        how: How::Begins,
        reason: "runs a program for each file",
    },
    Sign { names: "ag", short: "", long: &["pager"], words: &[], how: How::Exact, reason: "runs a program" },
    Sign {
        names: "fd fdfind",
        short: "xX",
        long: &["exec", "exec-batch"],
        words: &[],
        how: How::Exact,
        reason: "runs a program for each file",
    },
    Sign {
        names: "split",
        short: "",
        long: &["filter"],
        words: &[],
        how: How::Exact,
        reason: "runs a program for each part",
    },
    Sign {
        names: "man",
        short: "PH",
        long: &["pager", "html", "preprocessor"],
        words: &[],
        how: How::Exact,
        reason: "runs a program",
    },
    Sign {
        names: "sqlite3",
        short: "",
        long: &[],
        words: &[".shell", ".system", ".import", ".output", ".load", "-cmd", "--cmd"],
        how: How::Begins,
        reason: "runs a program",
    },
    Sign {
        names: "psql mysql",
        short: "",
        long: &[],
        words: &["\\!", "system ", "\\copy", "COPY "],
        how: How::Contains,
        reason: "runs a program",
    },
    Sign {
        names: "go",
        short: "",
        long: &[],
        words: &["-toolexec", "-exec", "--toolexec", "-modfile"],
        how: How::Begins,
        reason: "runs a program that an option names",
    },
    Sign {
        names: "gcc g++ cc clang",
        short: "",
        long: &[],
        words: &["-wrapper", "-fplugin", "-Xclang", "-B", "-specs"],
        how: How::Begins,
        reason: "runs a program that an option names",
    },
    Sign {
        names: "rustc",
        short: "",
        long: &[],
        words: &["-Clinker", "linker="],
        how: How::Contains,
        reason: "runs a program that an option names",
    },
    Sign {
        names: "cargo",
        short: "",
        long: &[],
        words: &["--config", "publish", "login", "owner", "yank", "logout"],
        how: How::Begins,
        reason: "publishes, or runs what an option names",
    },
    Sign {
        names: "npm pnpm yarn bun",
        short: "g",
        long: &["script-shell", "global"],
        words: &[
            "publish",
            "unpublish",
            "adduser",
            "login",
            "owner",
            "token",
            "deprecate",
            "--node-options",
            "dist-tag",
            "config",
            "global",
        ],
        how: How::Exact,
        reason: "publishes, changes settings outside, or runs what an option names",
    },
    Sign {
        names: "make gmake ninja",
        short: "",
        long: &["eval"],
        words: &["SHELL=", ".SHELLFLAGS="],
        how: How::Begins,
        reason: "runs what an option names",
    },
    Sign { names: "history", short: "cwd", long: &[], words: &[], how: How::Exact, reason: "removes traces" },
    Sign {
        names: "hash",
        short: "p",
        long: &[],
        words: &[],
        how: How::Exact,
        reason: "changes what a program's name means",
    },
    Sign {
        names: "enable",
        short: "f",
        long: &[],
        words: &[],
        how: How::Exact,
        reason: "loads code into the shell",
    },
    Sign {
        names: "bind complete",
        short: "xC",
        long: &[],
        words: &[],
        how: How::Exact,
        reason: "runs a program later",
    },
    Sign {
        names: "fc",
        short: "",
        long: &[],
        words: &["-s", "-e"],
        how: How::Exact,
        reason: "runs an earlier command",
    },
    Sign {
        names: "gh glab",
        short: "",
        long: &[],
        words: &[
            "auth",
            "secret",
            "delete",
            "extension",
            "alias",
            "ssh-key",
            "gpg-key",
            "codespace",
            "variable",
        ],
        how: How::Exact,
        reason: "uses an account's secrets, or deletes",
    },
    Sign { names: "twine", short: "", long: &[], words: &["upload"], how: How::Exact, reason: "publishes" },
    Sign {
        names: "gem",
        short: "",
        long: &[],
        words: &["push", "yank", "signin"],
        how: How::Exact,
        reason: "publishes",
    },
    Sign {
        names: "pip pip3",
        short: "",
        long: &[],
        words: &["--index-url", "--extra-index-url", "-i", "git+ext", "config"],
        how: How::Exact,
        reason: "installs from a place of its own",
    },
    Sign {
        names: "openssl",
        short: "",
        long: &[],
        words: &["s_client", "s_server", "-engine", "enc", "rsautl", "pkeyutl"],
        how: How::Exact,
        reason: "talks to others, or runs what an option names",
    },
    Sign {
        names: "terraform tofu pulumi ansible ansible-playbook",
        short: "",
        long: &[],
        words: &["apply", "destroy", "up", "all", "-m", "-i", "import", "taint"],
        how: How::Exact,
        reason: "changes other machines",
    },
    Sign {
        names: "date hostname",
        short: "s",
        long: &["set", "file"],
        words: &["-F", "-b"],
        how: How::Exact,
        reason: "changes the machine",
    },
    Sign {
        names: "strace ltrace perf",
        short: "p",
        long: &["attach"],
        words: &["trace", "record"],
        how: How::Exact,
        reason: "watches other programs",
    },
    Sign {
        names: "npx pipx",
        short: "c",
        long: &["call"],
        words: &[],
        how: How::Exact,
        reason: "runs what an option names",
    },
    Sign {
        names: "printf test [ let",
        short: "",
        long: &[],
        words: &["$(", "`"],
        how: How::Contains,
        reason: "an index that runs something",
    },
    Sign {
        names: "kill",
        short: "",
        long: &[],
        words: &["-1", "1", "0", "-KILL -1"],
        how: How::Last,
        reason: "stops other programs",
    },
    Sign {
        names: "init",
        short: "",
        long: &[],
        words: &["0", "6", "1"],
        how: How::Exact,
        reason: "stops the machine",
    },
];

impl Sign {
    fn is_given(&self, cmd: &Cmd<'_>) -> bool {
        let given = cmd.args.0;
        let word = match self.how {
            How::Exact => cmd.args.any(self.words),
            How::Begins => cmd.args.begins(self.words),
            How::Contains => {
                given.iter().any(|given| self.words.iter().any(|word| given.text.contains(word)))
            }
            How::Last => given.last().is_some_and(|last| self.words.contains(&last.text.as_str())),
        };
        word || cmd.args.short(self.short) || self.long.iter().any(|name| cmd.args.long(name))
    }
}

/// Single risky options, and the programs that only the shell knows.
pub(super) fn judge(run: &mut Run<'_>, cmd: &Cmd<'_>) -> Judgement {
    let mut worst = Judgement::Safe;
    for sign in SIGNS.iter().filter(|sign| listed(sign.names, &cmd.name)) {
        if sign.is_given(cmd) {
            worst = worst.worst(Judgement::risky(sign.reason));
        }
    }
    match cmd.name.as_str() {
        "make" | "gmake"
            if (cmd.io.piped || cmd.io.input.is_some() || cmd.io.file)
                && cmd
                    .args
                    .values("-f", "--file")
                    .iter()
                    .any(|file| file.text == "-" || file.text.starts_with("/dev/")) =>
        {
            worst.worst(Judgement::risky("runs what it is given"))
        }
        "hash" => {
            let programs = cmd.args.values("-p", "");
            if let (Some(program), Some(name)) = (programs.first(), cmd.args.operands_but(&["-p"]).first()) {
                run.scope.aliases.insert(name.text.clone(), program.text.clone());
            }
            worst
        }
        "init" if cmd.args.any(&["0", "6"]) => worst.worst(Judgement::forbidden("stops the machine")),
        "sort" | "gsort" => {
            cmd.args.values("-o", "--output").iter().fold(worst, |worst, out| worst.worst(run.writes(out)))
        }
        "cmake" => match cmd.args.0.split_first() {
            Some((mode, rest)) if mode.text == "-E" => worst.worst(cmake_tool(run, cmd, rest)),
            _ => worst,
        },
        "printf" if cmd.args.any(&["-v"]) => {
            let name = cmd.args.values("-v", "");
            let format =
                cmd.args.operands_but(&["-v"]).first().and_then(|word| word.value()).map(str::to_owned);
            let value = format.filter(|format| !format.contains(['%', '\\']));
            name.iter().for_each(|word| run.scope.set(&word.text, value.clone()));
            worst.worst(Judgement::Plain)
        }
        _ => worst,
    }
}

/// `cmake -E rm`: a set of file tools.
fn cmake_tool(run: &mut Run<'_>, cmd: &Cmd<'_>, rest: &[Word]) -> Judgement {
    let Some((tool, rest)) = rest.split_first() else { return Judgement::Plain };
    let inner = Cmd { name: tool.text.clone(), args: Args(rest), io: cmd.io };
    match tool.text.as_str() {
        "rm" => files::delete(run, &inner),
        "remove_directory" | "remove" => {
            rest.iter().fold(Judgement::Plain, |worst, word| worst.worst(files::deleted(run, word, true)))
        }
        "copy" | "copy_directory" | "rename" | "create_symlink" | "copy_if_different" => {
            files::copy(run, &inner)
        }
        "env" | "time" | "chdir" => Judgement::risky("runs a program"),
        _ => Judgement::Plain,
    }
}
