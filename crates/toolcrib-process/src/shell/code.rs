//! Code in other languages, as far as it can be judged by looking: alarming words, and strings that are shell commands.

use super::args::listed;
use super::paths::{is_secret, loss};
use super::programs::Cmd;
use super::run::{Flow, Run};
use super::word::{HOLE, Word};
use super::{Judgement, scan};
use std::path::Path;

/// Interpreters, and the options behind which code stands.
const INTERPRETERS: &[(&str, &[&str])] = &[
    ("python python2 python3 pypy pypy3 ipython micropython jython", &["-c"]),
    ("node nodejs bun deno tsx ts-node qjs d8", &["-e", "-p", "--eval", "--print", "-pe", "eval"]),
    (
        "perl ruby jruby lua luajit raku elixir ghc julia rscript groovy scala racket crystal erl \
        swipl octave gawk-e",
        &["-e", "-E", "--eval", "-eval"],
    ),
    ("php", &["-r", "-B", "-R"]),
    ("guile tclsh sbcl clisp janet gforth", &["-c", "--eval", "-e"]),
];

/// What makes code worth a question: it runs programs, deletes, or talks to others.
const ALARMING: &[&str] = &[
    "os.system",
    "subprocess",
    "popen",
    "child_process",
    "spawn(",
    "spawnSync",
    "execSync",
    "execFile",
    "os.exec",
    "os.spawn",
    "pty.",
    "ctypes",
    "rmtree",
    "rmSync",
    "rm_rf",
    "rm_r(",
    "remove_dir_all",
    "os.remove",
    "os.unlink",
    "unlinkSync",
    ".unlink(",
    "rmdir",
    "removedirs",
    "RemoveAll",
    "socket",
    "urllib",
    "requests.",
    "httpx",
    "http.client",
    "aiohttp",
    "ftplib",
    "smtplib",
    "telnetlib",
    "paramiko",
    "XMLHttpRequest",
    "net.connect",
    "Net::",
    "LWP::",
    "IO::Socket",
    "system(",
    "system \"",
    "system '",
    "Open3",
    "shell_exec",
    "passthru",
    "proc_open",
    "os.execute",
    "io.popen",
    "Deno.run",
    "Deno.Command",
    "Bun.spawn",
    "__import__",
    "importlib",
    "b64decode",
    "fromCharCode",
    "atob(",
    "Buffer.from",
    "os.kill",
    "process.kill",
    "fork",
    "setuid",
    "chmod",
    "chown",
    "/etc/",
    ".ssh",
    "id_rsa",
    "/proc/",
    "/dev/",
    "os.rename",
    "shutil.move",
    "renameSync",
    "os.chdir",
    "exec \"",
    "exec '",
    "unlink",
    "codecs.decode",
    "marshal",
    "pickle.loads",
    "os.symlink",
    "os.link",
    "truncate",
    "os.putenv",
    "environ[",
    "getattr(os",
];

/// The same, as words of their own: `re.compile(` and `regex.exec(` are something else.
const ALARMING_ALONE: &[&str] = &["eval(", "exec(", "compile(", "fetch("];

/// The same, in languages where it runs a program.
const ALARMING_IN_SCRIPTS: &[&str] = &["`", "qx", "%x", "Kernel"];
const SCRIPTS: &[&str] = &["perl", "ruby", "jruby", "php", "raku", "crystal"];

/// What is alarming about code, if anything.
fn alarming(code: &str, language: &str) -> Option<&'static str> {
    let alone = |word: &&&str| {
        let before = |at: usize| code.get(..at).and_then(|text| text.chars().next_back());
        code.match_indices(**word)
            .any(|(at, _)| !before(at).is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '.'))
    };
    let anywhere = ALARMING.iter().find(|word| code.contains(**word));
    let scripted =
        ALARMING_IN_SCRIPTS.iter().filter(|_| SCRIPTS.contains(&language)).find(|word| code.contains(**word));
    anywhere.or_else(|| ALARMING_ALONE.iter().find(alone)).or(scripted).copied()
}

/// Words that, with a string that names something that must stay, delete it.
const DELETES: &[&str] = &[
    "rmtree",
    "rmSync",
    "rm_rf",
    "rm_r",
    "remove_dir_all",
    "RemoveAll",
    "rimraf",
    "remove_tree",
    "rmdir",
    "rm(",
];

/// Whether the program runs code in a language of its own.
pub(super) fn is_interpreter(name: &str) -> bool {
    INTERPRETERS.iter().any(|(names, _)| listed(names, unversioned(name)))
}

/// `python3.12` is `python3`.
fn unversioned(name: &str) -> &str {
    let base = name.split('.').next().unwrap_or(name);
    if name.contains('.') && base.starts_with(|c: char| c.is_alphabetic()) {
        return base;
    }
    let trimmed = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if INTERPRETERS.iter().any(|(names, _)| listed(names, name)) { name } else { trimmed }
}

/// An interpreter: its code, its script or its input.
pub(super) fn interpreter(run: &mut Run<'_>, cmd: &Cmd<'_>) -> Judgement {
    let name = unversioned(&cmd.name);
    let options =
        INTERPRETERS.iter().find(|(names, _)| listed(names, name)).map_or(&[][..], |(_, options)| *options);
    if let [only] = cmd.args.0
        && matches!(only.text.as_str(), "--version" | "-V" | "-v")
    {
        return Judgement::Safe;
    }
    let mut words = cmd.args.0.iter();
    let mut worst = Judgement::Plain;
    let mut coded = false;
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        let cluster = matches!(name, "perl" | "ruby")
            && text.starts_with('-')
            && !text.starts_with("--")
            && text.ends_with(['e', 'E']);
        if options.contains(&text) || cluster {
            coded = true;
            if let Some(code) = words.next() {
                worst = worst.worst(inline(run, code, name));
            }
        } else if let Some(code) = options.iter().find_map(|option| attached(text, option)) {
            coded = true;
            worst = worst.worst(inline(run, &Word { text: code.to_owned(), ..word.clone() }, name));
        } else if text == "-" && !coded {
            return worst.worst(stdin(run, cmd));
        } else if !word.is_option() && text != "-" {
            if coded {
                break;
            }
            if run.fetched(word) {
                return Judgement::risky("runs what it has just fetched");
            }
            if let Some(given) = cmd.io.given.as_deref().filter(|_| text.starts_with("/dev/fd")) {
                worst = worst.worst(danger(run, given, name));
            }
            return worst.worst(script(cmd, word));
        } else if matches!(text, "-m" | "--version" | "-V" | "--help" | "-h" | "-v") {
            return worst.worst(module(words.next()));
        } else if matches!(text, "-r" | "--require" | "--import" | "--loader" | "-W" | "-X" | "-I" | "-M")
            && !text.starts_with("--import=")
        {
            words.next();
        }
    }
    if coded { worst } else { worst.worst(stdin(run, cmd)) }
}

fn attached<'t>(text: &'t str, option: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(option).filter(|rest| !rest.is_empty())?;
    if option.starts_with("--") {
        return rest.strip_prefix('=');
    }
    (option.starts_with('-') && !text.starts_with("--") && rest.contains([' ', '(', '.', ';']))
        .then_some(rest)
}

fn module(name: Option<&Word>) -> Judgement {
    match name {
        Some(word) if matches!(word.text.as_str(), "pty" | "smtpd" | "ftplib" | "code" | "pdb") => {
            Judgement::risky("can run commands of its own")
        }
        Some(word) if !word.known => Judgement::risky("runs a module that only running it would tell"),
        _ => Judgement::Plain,
    }
}

fn script(cmd: &Cmd<'_>, file: &Word) -> Judgement {
    if !file.known {
        return Judgement::risky("runs a script that only running it would tell");
    }
    if file.text.starts_with("/dev/stdin")
        || file.text.starts_with("/dev/fd")
        || file.text.starts_with("/proc/self/fd")
    {
        return Judgement::risky("runs what another program gives it");
    }
    let remote = file.text.starts_with("http://") || file.text.starts_with("https://");
    let runs_remote = cmd.name == "deno" && cmd.args.0.iter().any(|word| word.text.starts_with("http"));
    if remote || runs_remote { Judgement::risky("runs code from the network") } else { Judgement::Plain }
}

/// Code that comes in as input.
fn stdin(run: &mut Run<'_>, cmd: &Cmd<'_>) -> Judgement {
    if let Some(input) = &cmd.io.input {
        let judgement = danger(run, input, unversioned(&cmd.name));
        if !cmd.io.piped {
            return judgement;
        }
        return judgement.worst(Judgement::risky("runs what another program gives it"));
    }
    if cmd.io.piped || cmd.io.file {
        return Judgement::risky("runs what another program or file gives it");
    }
    Judgement::Plain
}

fn inline(run: &mut Run<'_>, code: &Word, language: &str) -> Judgement {
    if code.text.trim_matches(HOLE).is_empty() && !code.known {
        return Judgement::risky("runs code that only running it would tell");
    }
    danger(run, &code.text, language)
}

/// What is bad about code in a language that is not understood here.
fn danger(run: &mut Run<'_>, code: &str, language: &str) -> Judgement {
    let strings = strings(code);
    let home = run.home().map(|home| home.to_string_lossy().into_owned()).unwrap_or_default();
    let secret =
        |text: &String| !text.contains([' ', '\n']) && is_secret(Path::new(&text.replace('~', &home)));
    let Some(word) = alarming(code, language) else {
        let reads = strings.iter().any(secret);
        return if reads { Judgement::risky("reads secrets") } else { Judgement::Plain };
    };
    let forks =
        code.contains("fork") && (code.contains("while") || code.contains("for ") || code.contains("loop"));
    if forks {
        return Judgement::forbidden("starts itself over and over");
    }
    let deletes = DELETES.iter().any(|word| code.contains(word));
    for text in &strings {
        let path = match (text.strip_prefix('~'), run.home()) {
            (Some(rest), Some(home)) => format!("{}{rest}", home.to_string_lossy()),
            _ => text.clone(),
        };
        let final_loss = run.scope.paths_of(&path).iter().any(|path| loss(path, run.at).is_final());
        if deletes && final_loss && !text.is_empty() && !text.contains(' ') {
            return Judgement::forbidden("deletes something that must stay");
        }
    }
    let joined = strings.join(" ");
    let cwd = run.scope.cwds.first().cloned();
    let found =
        strings.iter().chain([&joined]).find_map(|text| scan::forbidden(text, run.at, cwd.as_deref()));
    match found {
        Some(reason) => Judgement::Forbidden(reason),
        None => Judgement::risky(format!("runs code with `{word}` in it")),
    }
}

/// The strings in code, by its quotes.
pub(super) fn strings(code: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut open: Option<(char, String)> = None;
    let mut escaped = false;
    for c in code.chars() {
        match &mut open {
            Some((quote, text)) => {
                if c == *quote && !escaped {
                    out.extend(open.take().map(|(_, text)| text));
                } else if c != '\\' || escaped {
                    text.push(c);
                }
            }
            None if matches!(c, '\'' | '"' | '`') => open = Some((c, String::new())),
            None => {}
        }
        escaped = c == '\\' && !escaped;
        if out.len() > 64 {
            break;
        }
    }
    out
}

/// `source file`: what it runs is in a file, or comes in as input.
pub(super) fn source(run: &mut Run<'_>, cmd: &Cmd<'_>) -> Judgement {
    run.unproved = true;
    let Some(file) = cmd.args.0.first() else { return Judgement::Plain };
    if file.text.starts_with("/dev/") {
        for code in cmd.io.given.iter().chain(&cmd.io.input) {
            run.nested(code, &Flow::new().plain());
        }
        return Judgement::risky("runs what it is given");
    }
    let paths = run.scope.paths(file);
    let inside = paths.iter().all(|path| run.at.roots.iter().any(|root| path.starts_with(root)));
    if run.fetched(file) {
        return Judgement::risky("runs what it has just fetched");
    }
    if paths.is_empty() || !inside || file.glob {
        return Judgement::risky(
            "runs a script from outside the workspace, or one that only running it would tell",
        );
    }
    Judgement::Plain
}
