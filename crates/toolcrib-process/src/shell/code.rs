//! Code in other languages, as far as it can be judged by looking: alarming words, and strings that are shell commands.

use super::paths::loss;
use super::programs::Cmd;
use super::run::{Flow, Run};
use super::word::{HOLE, Word};
use super::{Judgement, scan};

/// Interpreters, and the options behind which code stands.
const INTERPRETERS: &[(&[&str], &[&str])] = &[
    (&["python", "python2", "python3", "pypy", "pypy3", "ipython", "micropython", "jython"], &["-c"]),
    (
        &["node", "nodejs", "bun", "deno", "tsx", "ts-node", "qjs", "d8"],
        &["-e", "-p", "--eval", "--print", "-pe", "eval"],
    ),
    (
        &[
            "perl", "ruby", "jruby", "lua", "luajit", "raku", "elixir", "ghc", "julia", "rscript", "groovy",
            "scala", "racket", "crystal", "erl", "swipl", "octave", "gawk-e",
        ],
        &["-e", "-E", "--eval", "-eval"],
    ),
    (&["php"], &["-r", "-B", "-R"]),
    (&["guile", "tclsh", "sbcl", "clisp", "janet", "gforth"], &["-c", "--eval", "-e"]),
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
    "fetch(",
    "XMLHttpRequest",
    "net.connect",
    "Net::",
    "LWP::",
    "IO::Socket",
    "system(",
    "system \"",
    "system '",
    "`",
    "qx",
    "%x",
    "Open3",
    "Kernel",
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
    "eval(",
    "exec(",
    "compile(",
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
    INTERPRETERS.iter().any(|(names, _)| names.contains(&unversioned(name)))
}

/// `python3.12` is `python3`.
fn unversioned(name: &str) -> &str {
    let base = name.split('.').next().unwrap_or(name);
    if name.contains('.') && base.starts_with(|c: char| c.is_alphabetic()) {
        return base;
    }
    let trimmed = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if INTERPRETERS.iter().any(|(names, _)| names.contains(&name)) { name } else { trimmed }
}

/// An interpreter: its code, its script or its input.
pub(super) fn interpreter(run: &mut Run<'_>, cmd: &Cmd<'_>) -> Judgement {
    let name = unversioned(&cmd.name);
    let options =
        INTERPRETERS.iter().find(|(names, _)| names.contains(&name)).map_or(&[][..], |(_, options)| *options);
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
                worst = worst.worst(inline(run, code));
            }
        } else if let Some(code) = options.iter().find_map(|option| attached(text, option)) {
            coded = true;
            worst = worst.worst(inline(run, &Word { text: code.to_owned(), ..word.clone() }));
        } else if !word.is_option() && text != "-" {
            if coded {
                break;
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
        let judgement = danger(run, input);
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

fn inline(run: &mut Run<'_>, code: &Word) -> Judgement {
    if code.text.trim_matches(HOLE).is_empty() && !code.known {
        return Judgement::risky("runs code that only running it would tell");
    }
    danger(run, &code.text)
}

/// What is bad about code in a language that is not understood here.
pub(super) fn danger(run: &mut Run<'_>, code: &str) -> Judgement {
    let alarming = ALARMING.iter().find(|word| code.contains(**word));
    let Some(word) = alarming else { return Judgement::Plain };
    let forks =
        code.contains("fork") && (code.contains("while") || code.contains("for ") || code.contains("loop"));
    if forks {
        return Judgement::forbidden("starts itself over and over");
    }
    let strings = strings(code);
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
fn strings(code: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut open: Option<(char, String)> = None;
    let mut escaped = false;
    for c in code.chars() {
        match &mut open {
            Some((quote, text)) => {
                if c == *quote && !escaped {
                    out.extend(open.take().map(|(_, text)| text));
                } else if !(c == '\\' && !escaped) {
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
        if let Some(input) = &cmd.io.input {
            run.nested(input, &Flow::new().plain());
        }
        return Judgement::risky("runs what it is given");
    }
    let paths = run.scope.paths(file);
    let inside = paths.iter().all(|path| run.at.roots.iter().any(|root| path.starts_with(root)));
    if paths.is_empty() || !inside || file.glob {
        return Judgement::risky(
            "runs a script from outside the workspace, or one that only running it would tell",
        );
    }
    Judgement::Plain
}

/// `sed`: what it edits in place, and commands of its own that run or write.
pub(super) fn sed(run: &mut Run<'_>, cmd: &Cmd<'_>) -> Judgement {
    let mut scripts = cmd.args.values("-e", "--expression");
    let given = !scripts.is_empty() || cmd.args.any(&["-f", "--file"]) || cmd.args.begins(&["-f", "--file="]);
    // `-ne script`, `-Ee script`: the cluster's last letter takes the next word.
    for (nth, word) in cmd.args.0.iter().enumerate() {
        let cluster = word.text.starts_with('-')
            && !word.text.starts_with("--")
            && word.text.len() > 2
            && word.text.ends_with('e');
        if cluster && !word.text.starts_with("-i") {
            scripts.extend(cmd.args.0.get(nth + 1).cloned());
        }
    }
    let clustered = scripts.len() > cmd.args.values("-e", "--expression").len();
    let mut operands = cmd.args.operands_but(&["-e", "--expression", "-f", "--file", "-l", "--line-length"]);
    if !given && !clustered && !operands.is_empty() {
        scripts.push(operands.remove(0).clone());
    } else if clustered && !operands.is_empty() {
        operands.remove(0);
    }
    let mut worst = Judgement::Safe;
    for script in &scripts {
        if sed_acts(&script.text) {
            worst = worst.worst(Judgement::risky("makes sed run or write something"));
        }
        if !script.known {
            worst = worst.worst(Judgement::Plain);
        }
    }
    let in_place = cmd.args.begins(&["-i", "--in-place"]) || cmd.args.short("i");
    if in_place {
        worst = worst.worst(Judgement::Plain);
        for file in operands.iter().filter(|file| !file.text.is_empty()) {
            worst = worst.worst(run.writes(file));
        }
    }
    worst
}

/// Whether a sed script has a command that runs a program or writes a file.
fn sed_acts(script: &str) -> bool {
    let mut chars = script.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '/' => skip_to(&mut chars, '/'),
            '\\' => {
                if let Some(end) = chars.next() {
                    skip_to(&mut chars, end);
                }
            }
            's' | 'y' => {
                let Some(end) = chars.next() else { return false };
                skip_to(&mut chars, end);
                skip_to(&mut chars, end);
                while let Some(flag) = chars.peek().copied().filter(|c| !matches!(c, ';' | '\n' | '}')) {
                    if c == 's' && matches!(flag, 'e' | 'w') {
                        return true;
                    }
                    chars.next();
                }
            }
            'w' | 'W' | 'e' => return true,
            'a' | 'i' | 'c' | '#' => while chars.next().is_some_and(|c| c != '\n') {},
            'b' | 't' | 'T' | ':' | 'r' | 'R' => while chars.next().is_some_and(|c| c != '\n' && c != ';') {},
            _ => {}
        }
    }
    false
}

fn skip_to(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, end: char) {
    let mut bracket = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '[' => bracket = true,
            ']' => bracket = false,
            c if c == end && !(bracket && end == '/' && false) => return,
            _ => {}
        }
    }
}

/// `awk`: programs of its own that run or write.
pub(super) fn awk(run: &mut Run<'_>, cmd: &Cmd<'_>) -> Judgement {
    let operands = cmd.args.operands_but(&[
        "-F",
        "-v",
        "-f",
        "--assign",
        "--field-separator",
        "-i",
        "--include",
        "-l",
        "--load",
        "-e",
        "--source",
    ]);
    let mut codes: Vec<Word> = cmd.args.values("-e", "--source");
    codes.extend(operands.first().map(|word| (*word).clone()));
    let mut worst = Judgement::Plain;
    if cmd.args.any(&["-l", "--load"]) {
        worst = worst.worst(Judgement::risky("loads code"));
    }
    if cmd.args.any(&["inplace"]) {
        for file in operands.iter().skip(1) {
            worst = worst.worst(run.writes(file));
        }
    }
    for code in codes {
        let text = code.text.as_str();
        let alone = text.trim_matches(HOLE).is_empty() && !code.known;
        if alone
            || [
                "system(",
                "system (",
                "| getline",
                "|getline",
                "|&",
                "/inet/",
                "| \"",
                "|\"",
                "@load",
                "close(",
                "ENVIRON",
            ]
            .iter()
            .any(|word| text.contains(word))
            || awk_writes(text)
        {
            let cwd = run.scope.cwds.first().cloned();
            let found = strings(text).iter().find_map(|text| scan::forbidden(text, run.at, cwd.as_deref()));
            worst =
                worst.worst(found.map_or_else(
                    || Judgement::risky("makes awk run or write something"),
                    Judgement::Forbidden,
                ));
        }
    }
    worst
}

/// Whether a `print` is sent to a file.
fn awk_writes(code: &str) -> bool {
    code.split([';', '}', '\n']).any(|statement| {
        statement.split_once("print").is_some_and(|(_, rest)| {
            let mut quoted = false;
            let mut before = ' ';
            rest.chars().any(|c| {
                quoted ^= c == '"' && before != '\\';
                before = c;
                c == '>' && !quoted
            })
        })
    })
}
