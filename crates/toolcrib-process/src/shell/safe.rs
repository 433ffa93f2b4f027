//! The proof that a command only reads: an allow-list of programs, each with the options that would break the proof.

use super::args::{Args, listed};
use super::git;
use super::longs;
use super::paths::is_glob;
use super::programs::base;
use super::run::Run;
use super::word::Word;

/// A program that only reads, unless it has one of these.
struct Reader {
    names: &'static str,
    /// Letters of short options that break the proof, anywhere in a cluster.
    short: &'static str,
    /// Long options that do, abbreviated too.
    long: &'static [&'static str],
    /// Whole words that do.
    words: &'static [&'static str],
    /// How many operands it may have.
    operands: usize,
}

const MANY: usize = usize::MAX;

const READERS: &[Reader] = &[
    Reader {
        names: "ls dir vdir cat head tail wc grep egrep fgrep cut tr diff cmp stat du df pwd echo true \
            false : basename dirname realpath readlink which type uname whoami id nl tac rev comm \
            column sha1sum sha224sum sha256sum sha384sum sha512sum md5sum b2sum cksum sum hexdump hd \
            od strings seq sleep paste fold fmt expand unexpand join nproc arch groups tty expr \
            base32 uptime free factor numfmt tsort look eza exa lsd tokei cd test [ exit \
            dircolors pr whereis cal size",
        short: "",
        long: &[],
        words: &[],
        operands: MANY,
    },
    Reader { names: "printf", short: "v", long: &[], words: &[], operands: MANY },
    Reader {
        names: "file",
        short: "CzZS",
        long: &["compile", "uncompress", "no-sandbox"],
        words: &[],
        operands: MANY,
    },
    Reader {
        names: "sort",
        short: "oT",
        long: &["output", "compress-program", "temporary-directory"],
        words: &[],
        operands: MANY,
    },
    Reader { names: "base64", short: "oD", long: &["output"], words: &[], operands: MANY },
    Reader { names: "shuf", short: "o", long: &["output"], words: &[], operands: MANY },
    Reader {
        names: "rg",
        short: "z",
        long: &["pre", "pre-glob", "hostname-bin", "search-zip"],
        words: &[],
        operands: MANY,
    },
    Reader { names: "fd fdfind", short: "xX", long: &["exec", "exec-batch"], words: &[], operands: MANY },
    Reader {
        names: "find",
        short: "",
        long: &[],
        words: &[
            "-exec",
            "-execdir",
            "-ok",
            "-okdir",
            "-delete",
            "-fprint",
            "-fprint0",
            "-fprintf",
            "-fls",
            "-files0-from",
        ],
        operands: MANY,
    },
    Reader { names: "uniq", short: "", long: &[], words: &[], operands: 1 },
    Reader { names: "xxd", short: "r", long: &[], words: &["-revert"], operands: 1 },
    Reader { names: "tree", short: "oR", long: &["output"], words: &[], operands: MANY },
    Reader { names: "jq", short: "fL", long: &["from-file", "library-path"], words: &[], operands: MANY },
];

/// Programs that are safe when asked for their version.
const VERSIONED: &str = "cargo rustc rustup node npm pnpm yarn bun deno python python3 pip pip3 go java javac ruby gem \
    bundle perl php gcc g++ clang cmake make git uv poetry tsc dotnet mvn gradle swift zig lua ghc \
    stack julia elixir rg fd jq curl wget bash docker rustfmt ninja";

/// Programs whose operands are files that they read.
const FILE_READERS: &str =
    "cat head tail wc diff cmp nl tac rev comm file sort md5sum sha256sum hexdump od strings";

/// Whether the command is proved to only read. What is bad about it was already looked for.
pub(super) fn is_safe(run: &mut Run<'_>, words: &[Word]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let name = base(&program.text);
    if !is_trusted(&program.text)
        || !words.iter().all(|word| word.known && word.literal)
        || program.glob
        || !globs_are_operands(rest)
    {
        return false;
    }
    let args = Args(rest);
    if listed(VERSIONED, name) && is_version(name, args) {
        return true;
    }
    if !longs::are_known(name, args) && name != "git" {
        return false;
    }
    let safe = match name {
        "git" => git::is_safe(run, rest),
        "sed" => sed(args),
        "date" => {
            !args.short("sf")
                && !args.long("set")
                && !args.long("file")
                && args
                    .operands_but(&["-d", "--date", "-r", "--reference"])
                    .iter()
                    .all(|word| word.text.starts_with('+'))
        }
        "ps" => args.0.iter().all(|word| {
            matches!(
                word.text.as_str(),
                "aux" | "ax" | "auxww" | "-ef" | "-e" | "-A" | "-aux" | "-f" | "-u" | "u"
            )
        }),
        "awk" | "gawk" | "mawk" | "nawk" => awk(args),
        "command" => args.short("vV") && !args.short("p"),
        _ => READERS.iter().any(|reader| listed(reader.names, name) && reader.allows(args)),
    };
    if safe && listed(FILE_READERS, name) {
        for word in args
            .operands_but(&["-n", "-c", "-k", "-t", "-N"])
            .iter()
            .filter(|word| !word.glob && word.text != "-")
        {
            let paths = run.scope.paths(word);
            run.out.reads.extend(paths);
        }
    }
    safe
}

/// Whether a program is found where the system's own are.
pub(super) fn is_trusted(program: &str) -> bool {
    let name = program.strip_prefix("/usr/bin/").or_else(|| program.strip_prefix("/bin/")).unwrap_or(program);
    !name.contains('/') && !name.is_empty()
}

impl Reader {
    fn allows(&self, args: Args<'_>) -> bool {
        let count = args.operands_but(&["-f", "-s", "-w"]).len();
        let breaks = args.short(self.short)
            || self.long.iter().any(|name| args.long(name))
            || args.any(self.words)
            || count > self.operands;
        !breaks
    }
}

/// A pattern may match a file whose name is an option: only fine behind `--`, or when it begins with something else.
fn globs_are_operands(words: &[Word]) -> bool {
    let end = words.iter().position(|word| word.text == "--").unwrap_or(words.len());
    words.iter().take(end).all(|word| {
        let named = word
            .text
            .split_once('=')
            .is_some_and(|(option, _)| !is_glob(option) && word.text.starts_with("--"));
        !word.glob || named || !word.text.starts_with(['*', '?', '[', '-'])
    })
}

fn is_version(name: &str, args: Args<'_>) -> bool {
    match args.0 {
        [only] => {
            matches!(only.text.as_str(), "--version" | "-V")
                || (only.text == "version" && matches!(name, "go" | "zig" | "docker"))
                || (only.text == "-v" && matches!(name, "node" | "npm" | "php" | "pnpm" | "yarn" | "ruby"))
                || (only.text == "-version" && matches!(name, "java" | "javac"))
                || (only.text == "env" && name == "go")
        }
        [first, second] => {
            name == "rustc" && second.text == "--version" && first.text == "--verbose"
                || name == "cargo" && first.text == "--version" && second.text == "--verbose"
        }
        _ => false,
    }
}

/// `awk '{print $1}' file`: a program that can neither run, write nor load anything.
pub(super) fn awk(args: Args<'_>) -> bool {
    let operands = args.operands_but(&["-F"]);
    let options = args.0.iter().filter(|word| word.is_option()).all(|word| word.text.starts_with("-F"));
    let harmless = |program: &str| {
        !program.contains(['|', '>', '@', '\\'])
            && !["system", "getline", "close", "ENVIRON", "PROCINFO", "fflush"]
                .iter()
                .any(|word| program.contains(word))
    };
    options && operands.first().is_some_and(|word| word.known && word.literal && harmless(&word.text))
}

/// `sed -n 3p`, `sed -n '3,9p'`, `sed -n '$p'`: prints lines, and nothing else.
fn sed(args: Args<'_>) -> bool {
    let operands = args.operands();
    let Some((script, _)) = operands.split_first() else { return false };
    let options = args.0.iter().filter(|word| word.is_option()).all(|word| word.text == "-n");
    let address = |text: &str| text == "$" || (!text.is_empty() && text.chars().all(|c| c.is_ascii_digit()));
    let prints = script.text.split(';').all(|part| {
        let Some(lines) = part.trim().strip_suffix('p') else { return false };
        match lines.split_once(',') {
            Some((from, to)) => address(from) && (address(to) || to.strip_prefix('+').is_some_and(address)),
            None => address(lines),
        }
    });
    options && args.any(&["-n"]) && prints
}
