//! Programs that run other programs: what they would run is looked at in their place.

use super::args::{Args, listed};
use super::programs::base;
use super::run::{Flow, Run};
use super::safe::is_trusted;
use super::simple::Io;
use super::word::Word;
use super::wrapper_table::{
    ALARMING, ANYWHERE, CANDIDATES, PROJECT, PROJECT_ALONE, WORDS, WRAPPERS, Wrapper,
};
use super::{Judgement, scan, shells};

/// Looks into a program that runs another; false if it is none.
pub(super) fn unwrap(run: &mut Run<'_>, words: &[Word], io: &Io, text: &str, flow: &Flow) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let name = base(&program.text).to_ascii_lowercase();
    // A program that only has a wrapper's name may do anything.
    let flow = &if is_trusted(&program.text) { flow.clone() } else { flow.plain() };
    if shells::is_shell(&name) {
        shells::run(run, words, io, text, flow);
        return true;
    }
    if let Some((reason, _)) = ALARMING.iter().find(|(_, names)| listed(names, &name)) {
        run.found(text, Vec::new(), 0, Judgement::risky(*reason).worst(flow.floor.clone()));
    }
    if listed(ANYWHERE, &name) && anywhere(run, rest, text, flow) {
        return true;
    }
    if codes_forbidden(run, &name, rest, io, text) {
        return true;
    }
    if let Some(wrapper) = WRAPPERS.iter().find(|wrapper| listed(wrapper.names, &name)) {
        return wrapped(run, wrapper, words, io, text, flow);
    }
    match name.as_str() {
        "eval" => code(run, &joined(rest), text, &flow.plain()),
        "env" => return env(run, rest, io, text, flow),
        "trap" => return trap(run, rest, flow),
        "alias" => alias(run, rest, text, flow),
        "xargs" | "gxargs" => xargs(run, rest, io, text, flow),
        "parallel" | "rush" => parallel(run, rest, io, text, flow),
        "watch" | "hyperfine" => {
            let inner = skip_options(rest, &["-n", "--interval", "-w", "-r", "-m", "--warmup", "--runs"], 0);
            if name == "watch" {
                code(run, &joined(inner), text, &flow.plain());
            } else {
                inner
                    .iter()
                    .filter(|word| !word.is_option())
                    .for_each(|word| code(run, &word.text, text, &flow.plain()));
            }
        }
        "flock" => flock(run, rest, io, text, flow),
        "script" | "su" | "sg" | "tmux" | "screen" | "nix-shell" | "make" | "gmake" => {
            peek_code(run, rest, text, flow);
            return false;
        }
        "find" | "gfind" => {
            for inner in after_exec(rest, &["-exec", "-execdir", "-ok", "-okdir"]) {
                run.command(inner, &Io::default(), text, &flow.plain().not_bare());
            }
            return false;
        }
        "fd" | "fdfind" => {
            for inner in after_exec(rest, &["-x", "-X", "--exec", "--exec-batch"]) {
                run.command(inner, &Io::default(), text, &flow.plain().not_bare());
            }
            return false;
        }
        name if name.starts_with("ld-linux") || name.starts_with("ld-musl") || name == "ld.so" => {
            let floor = Judgement::risky("runs a program through the loader");
            let flow = Flow { floor: floor.worst(flow.floor.clone()), ..flow.clone() };
            run.command(skip_options(rest, &["--library-path", "--preload"], 0).to_vec(), io, text, &flow);
        }
        _ => {
            project(run, &name, rest, text, flow);
            return false;
        }
    }
    true
}

/// Whether one of the words begins a forbidden command; it is noted.
fn anywhere(run: &mut Run<'_>, rest: &[Word], text: &str, flow: &Flow) -> bool {
    if rest.len() > WORDS {
        run.found(text, Vec::new(), 0, Judgement::risky("it does more than can be looked at"));
        return true;
    }
    let mut left = CANDIDATES;
    for nth in 0..rest.len() {
        let Some(inner) = rest.get(nth..).filter(|_| left > 0) else { break };
        if inner.first().is_none_or(|word| word.is_option() || !word.known) {
            continue;
        }
        left -= 1;
        let inner: Vec<Word> = match inner.split_first() {
            // `--exec /bin/rm -- -rf /`
            Some((program, after)) if after.first().is_some_and(|word| word.text == "--") => {
                std::iter::once(program).chain(after.iter().skip(1)).cloned().collect()
            }
            _ => inner.to_vec(),
        };
        if let Some(judgement) = peeked(run, |run| run.command(inner, &Io::default(), text, &flow.plain())) {
            run.found(text, Vec::new(), 0, judgement);
            return true;
        }
    }
    false
}

/// Looks at something without taking it for what is run; why it is forbidden, if it is.
fn peeked(run: &mut Run<'_>, look: impl FnOnce(&mut Run<'_>)) -> Option<Judgement> {
    if !run.peeks() {
        return Some(Judgement::risky("it does more than can be looked at"));
    }
    let before = run.out.commands.len();
    let (reads, writes, network) = (run.out.reads.len(), run.out.writes.len(), run.out.network);
    let exhausted = run.is_exhausted();
    run.apart(look);
    if run.is_exhausted() && !exhausted {
        // That there was more than is looked at must not be lost with what was only tried.
        return Some(Judgement::risky("it does more than can be looked at"));
    }
    let mut new = run.out.commands.split_off(before.min(run.out.commands.len()));
    run.out.reads.truncate(reads);
    run.out.writes.truncate(writes);
    run.out.network = network;
    new.retain(|simple| matches!(simple.judgement, Judgement::Forbidden(_)));
    new.pop().map(|simple| simple.judgement)
}

/// Programs that may run code from one of their words or their input, in a language of their own: `vim -c '!x'`,
/// `socat EXEC:x`, `git rebase -x x`, `at <<< x`. Forbidden code in plain sight is noted.
const CODED: &str = "vim vi nvim view ex vimdiff rvim gvim gdb lldb expect socat tar gtar bsdtar sed gsed git at batch newgrp sg \
    make gmake mapfile readarray cargo cargo-watch entr watchexec nodemon parallel rush sem tmux screen script \
    capsh";

/// How many of its words are searched.
const TEXTS: usize = 16;

/// What stands before code in such a word.
const CODE_STARTS: &[&str] =
    &["shell ", "!", "spawn ", "system ", "exec ", "EXEC:", "SYSTEM:", "run ", "pipe "];

fn codes_forbidden(run: &mut Run<'_>, name: &str, rest: &[Word], io: &Io, text: &str) -> bool {
    if !listed(CODED, name) || run.is_scanning() {
        return false;
    }
    // Words that only say something: a message for git, an argument of what cargo runs, a text for sed.
    let speaks = |nth: usize, word: &Word| match name {
        "git" => {
            let before =
                nth.checked_sub(1).and_then(|nth| rest.get(nth)).map_or("", |word| word.text.as_str());
            let settings = rest.first().is_some_and(|word| word.text == "config");
            !settings
                && !matches!(before, "-c" | "-x" | "--exec")
                && !before.ends_with("-filter")
                && !word.text.starts_with("--exec=")
                && !word.text.contains("-filter=")
        }
        "cargo" => rest.first().is_none_or(|word| word.text != "watch"),
        "sed" | "gsed" => !super::filters::sed_acts(&word.text),
        _ => false,
    };
    let words = rest.iter().enumerate().filter(|(nth, word)| !speaks(*nth, word));
    let given = words.map(|(_, word)| &word.text).filter(|text| text.contains([' ', ':', '!']));
    let reads_input = matches!(name, "at" | "batch" | "newgrp" | "parallel")
        || matches!(name, "make" | "gmake") && Args(rest).begins(&["-f", "--file", "--makefile"]);
    let texts: Vec<String> = given.cloned().chain(io.input.clone().filter(|_| reads_input)).collect();
    let cwd = run.scope.cwds.first().cloned();
    let trailing: Vec<String> = match (name, rest) {
        ("git", _) => {
            let from = rest.iter().position(|word| matches!(word.text.as_str(), "run" | "foreach"));
            from.map(|at| rest.iter().skip(at + 1).skip_while(|word| word.is_option()))
                .map(|words| vec![words.map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")])
                .unwrap_or_default()
        }
        ("cargo", [first, after @ ..]) if first.text == "watch" => {
            let words = after.iter().skip_while(|word| word.is_option());
            vec![words.map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")]
        }
        _ => Vec::new(),
    };
    for text_given in texts.iter().chain(&trailing).take(TEXTS) {
        let mut pieces = vec![text_given.as_str()];
        pieces.extend(text_given.split_once('=').map(|(_, value)| value));
        for start in CODE_STARTS {
            for piece in pieces.clone() {
                let found = piece.to_ascii_uppercase().find(&start.to_ascii_uppercase());
                pieces.extend(found.and_then(|at| piece.get(at + start.len()..)));
            }
        }
        // `1e rm`: sed's command may stand behind an address.
        if matches!(name, "sed" | "gsed") {
            pieces.extend(
                text_given.match_indices('e').filter_map(|(at, _)| text_given.get(at + 1..)).take(16),
            );
        }
        let inner = super::code::strings(text_given);
        pieces.extend(inner.iter().map(String::as_str));
        let found = pieces.iter().find_map(|piece| {
            let lines = piece.replace("\\n", "\n").replace("\\t", " ");
            scan::forbidden(&lines, run.at, cwd.as_deref())
        });
        if let Some(reason) = found {
            run.found(text, Vec::new(), 0, Judgement::Forbidden(reason));
            return true;
        }
    }
    false
}

/// The words behind a wrapper's options and operands.
fn skip_options<'w>(words: &'w [Word], takes: &[&str], operands: usize) -> &'w [Word] {
    let mut rest = words;
    let mut left = operands;
    while let Some((word, after)) = rest.split_first() {
        if word.text == "--" {
            rest = after;
            if left == 0 {
                return rest;
            }
        } else if word.is_option() || (word.text == "-" && left == 0) {
            // `-fo file`: the last letter of a cluster may take the next word.
            let letters = word.text.strip_prefix('-').filter(|rest| rest.chars().all(char::is_alphabetic));
            let last = letters.and_then(|rest| rest.chars().next_back()).map(|c| format!("-{c}"));
            let taken = takes.contains(&word.text.as_str())
                || word.text.len() == 3 && last.is_some_and(|last| takes.contains(&last.as_str()));
            rest = if taken { after.get(1..).unwrap_or_default() } else { after };
        } else if left > 0 {
            left -= 1;
            rest = after;
        } else {
            return rest;
        }
    }
    rest
}

fn joined(words: &[Word]) -> String {
    let words = words.iter().skip_while(|word| word.text == "--");
    words.map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// Code that a shell would run.
pub(super) fn code(run: &mut Run<'_>, code: &str, text: &str, flow: &Flow) {
    if code.trim().is_empty() {
        return run.found(text, Vec::new(), 0, flow.floor.clone().worst(Judgement::Plain));
    }
    run.nested(code, flow);
}

/// Looks at code without taking it for what is run; only what is bad about it is noted.
fn peek_code(run: &mut Run<'_>, words: &[Word], text: &str, flow: &Flow) {
    let args = Args(words);
    let mut codes = args.values("-c", "--command");
    codes.extend(args.values("--run", "--eval"));
    codes.extend(words.iter().filter(|word| word.text.contains([' ', ';', '|'])).cloned());
    for word in codes {
        let code = word.text.strip_prefix("SHELL=").unwrap_or(&word.text);
        let before = run.out.commands.len();
        run.nested(code, &flow.plain());
        keep_bad(run, before, text);
    }
}

/// Of the commands found since, keeps those that are bad.
pub(super) fn keep_bad(run: &mut Run<'_>, before: usize, text: &str) {
    let mut new = run.out.commands.split_off(before.min(run.out.commands.len()));
    new.retain(|simple| simple.judgement.rank() > 1);
    for simple in &mut new {
        simple.text = text.to_owned();
    }
    run.out.commands.append(&mut new);
}

fn wrapped(run: &mut Run<'_>, wrapper: &Wrapper, words: &[Word], io: &Io, text: &str, flow: &Flow) -> bool {
    let (name, rest) = match words.split_first() {
        Some((name, rest)) => (base(&name.text), rest),
        None => return false,
    };
    let args = Args(rest);
    if name == "command" && args.short("vV") {
        return false;
    }
    if name == "setpriv" && (args.long("reuid") || args.long("ruid") || args.long("euid")) {
        run.found(text, Vec::new(), 0, Judgement::forbidden("takes on another user's rights"));
        return true;
    }
    if matches!(name, "perf" | "dotenv") && !rest.is_empty() {
        return false;
    }
    let inner = skip_options(rest, wrapper.takes, wrapper.operands);
    // What was taken for an option's value may be the command after all.
    for nth in 0..rest.len().saturating_sub(inner.len()).min(WORDS) {
        let Some(skipped) =
            rest.get(nth..).filter(|words| words.first().is_some_and(|word| !word.is_option()))
        else {
            continue;
        };
        let look = |run: &mut Run<'_>| run.command(skipped.to_vec(), io, text, &flow.plain());
        if let Some(judgement) = peeked(run, look) {
            run.found(text, Vec::new(), 0, judgement);
            return true;
        }
    }
    if inner.is_empty() {
        return false;
    }
    let mut flow = if wrapper.keeps_safe { flow.clone() } else { flow.plain().not_bare() };
    for out in args.values("-o", "--output").iter().filter(|_| matches!(name, "time" | "strace" | "ltrace")) {
        flow.floor = flow.floor.worst(run.writes(out));
    }
    if name == "coproc" && inner.iter().any(|word| word.text == "{") {
        run.not_understood(text, "it cannot be understood");
    }
    if name == "coproc" {
        flow.floor = flow.floor.worst(Judgement::risky("runs beside what started it"));
    }
    run.command(inner.to_vec(), io, text, &flow);
    true
}

fn env(run: &mut Run<'_>, rest: &[Word], io: &Io, text: &str, flow: &Flow) -> bool {
    let mut flow = flow.plain();
    let mut words = rest;
    while let Some((word, after)) = words.split_first() {
        let option = word.text.as_str();
        if let Some((name, value)) = option.split_once('=')
            && !option.starts_with('-')
        {
            flow.floor = flow.floor.worst(run.variable_set(name, word.known.then_some(value)));
            flow.bare = false;
            words = after;
        } else if matches!(option, "-S" | "--split-string")
            || option.starts_with("-S")
            || option.starts_with("--split-string=")
        {
            let attached = option.trim_start_matches("--split-string=").trim_start_matches("-S");
            let rest = if option == "-S" || option == "--split-string" {
                joined(after)
            } else {
                format!("{attached} {}", joined(after))
            };
            run.nested(&rest, &flow);
            return true;
        } else if matches!(option, "-u" | "--unset") {
            words = after.get(1..).unwrap_or_default();
        } else if matches!(option, "-C" | "--chdir") {
            run.scope.cd(after.first(), None);
            words = after.get(1..).unwrap_or_default();
        } else if option.starts_with('-') {
            words = after;
        } else {
            break;
        }
    }
    if words.is_empty() {
        let floor = flow.floor.clone();
        run.found(text, vec!["env".to_owned()], 0, floor);
    } else {
        run.command(words.to_vec(), io, text, &flow);
    }
    true
}

fn trap(run: &mut Run<'_>, rest: &[Word], flow: &Flow) -> bool {
    let operand = rest.iter().find(|word| !word.is_option());
    match operand {
        Some(word) if rest.len() > 1 && word.text != "-" && !word.text.is_empty() => {
            run.nested(&word.text, &flow.plain());
            true
        }
        _ => false,
    }
}

fn alias(run: &mut Run<'_>, rest: &[Word], text: &str, flow: &Flow) {
    run.unproved = true;
    for word in rest {
        if let Some((name, value)) = word.text.split_once('=') {
            run.nested(value, &flow.plain());
            run.scope.aliases.insert(name.to_owned(), value.to_owned());
        }
    }
    run.found(text, vec!["alias".to_owned()], 0, flow.floor.clone().worst(Judgement::Plain));
}

fn xargs(run: &mut Run<'_>, rest: &[Word], io: &Io, text: &str, flow: &Flow) {
    let takes = &[
        "-I",
        "-n",
        "-P",
        "-L",
        "-d",
        "-s",
        "-E",
        "-a",
        "--replace",
        "--max-args",
        "--max-procs",
        "--max-lines",
        "--delimiter",
        "--arg-file",
        "-J",
        "-R",
    ];
    let inner = skip_options(rest, takes, 0);
    let flow = flow.plain().not_bare();
    if inner.is_empty() {
        return run.found(text, vec!["xargs".to_owned()], 0, flow.floor);
    }
    let mark = Args(rest)
        .values("-I", "--replace")
        .first()
        .map_or_else(|| "{}".to_owned(), |word| word.text.clone());
    let mut fed: Vec<Word> =
        io.input.iter().flat_map(|input| input.split_whitespace()).take(32).map(Word::exact).collect();
    for word in &mut fed {
        word.literal = false;
    }
    let mut words = replaced(inner, &mark);
    if Args(rest).values("-I", "--replace").is_empty() {
        words.extend(fed);
        words.push(Word::unknown("…"));
    }
    run.command(words, &Io::default(), text, &flow);
}

/// The words with the mark that stands for what is put in as unknown.
fn replaced(words: &[Word], mark: &str) -> Vec<Word> {
    let unknown = |word: &Word| Word {
        text: word.text.replace(mark, "\u{fffc}"),
        known: false,
        literal: false,
        ..word.clone()
    };
    words
        .iter()
        .map(|word| if !mark.is_empty() && word.text.contains(mark) { unknown(word) } else { word.clone() })
        .collect()
}

fn parallel(run: &mut Run<'_>, rest: &[Word], io: &Io, text: &str, flow: &Flow) {
    let inner =
        skip_options(rest, &["-j", "-n", "-N", "-a", "--jobs", "-I", "--colsep", "--delay", "--timeout"], 0);
    let words: Vec<Word> = inner.iter().filter(|word| !word.text.starts_with(":::")).cloned().collect();
    let before = run.out.commands.len();
    match words.as_slice() {
        [one] if one.text.contains(' ') => run.nested(&one.text, &flow.plain()),
        [] => {
            if let Some(input) = &io.input {
                run.nested(input, &flow.plain());
            }
        }
        _ => run.command(replaced(&words, "{}"), &Io::default(), text, &flow.plain()),
    }
    keep_bad(run, before, text);
    run.found(
        text,
        Vec::new(),
        0,
        Judgement::risky("runs a program for each line it is given").worst(flow.floor.clone()),
    );
}

fn flock(run: &mut Run<'_>, rest: &[Word], io: &Io, text: &str, flow: &Flow) {
    let takes = &["-w", "-E", "--timeout", "--wait", "--conflict-exit-code"];
    let inner = skip_options(rest, takes, 1);
    let codes = Args(rest).values("-c", "--command");
    match codes.first() {
        Some(word) => code(run, &word.text, text, &flow.plain()),
        None if inner.is_empty() => run.found(text, vec!["flock".to_owned()], 0, flow.plain().floor),
        None => run.command(inner.to_vec(), io, text, &flow.plain()),
    }
}

/// What `-exec … ;` and its like would run.
fn after_exec(rest: &[Word], options: &[&str]) -> Vec<Vec<Word>> {
    let mut out = Vec::new();
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        if options.contains(&word.text.as_str()) {
            let inner: Vec<Word> =
                words.by_ref().take_while(|word| word.text != ";" && word.text != "+").cloned().collect();
            let mut inner = replaced(&inner, "{}");
            if inner.iter().all(|word| word.known) {
                inner.push(Word::unknown("…"));
            }
            out.push(inner);
        } else if let Some((option, program)) = word.text.split_once('=')
            && options.contains(&option)
        {
            out.push(vec![Word::exact(program), Word::unknown("…")]);
        }
    }
    out
}

/// `uv run x`, `npx x`: the whole is one program, but what it runs must not be bad.
fn project(run: &mut Run<'_>, name: &str, rest: &[Word], text: &str, flow: &Flow) {
    let takes = &[
        "-p",
        "--package",
        "--with",
        "--python",
        "-n",
        "--extra",
        "--group",
        "--env-file",
        "-C",
        "--directory",
        "-E",
    ];
    let inner = if listed(PROJECT_ALONE, name) {
        skip_options(rest, takes, 0)
    } else {
        let known = PROJECT.iter().find(|(program, _)| *program == name).map(|(_, subs)| *subs);
        match (known, skip_options(rest, takes, 0).split_first()) {
            (Some(subs), Some((sub, after))) if listed(subs, &sub.text) => skip_options(after, takes, 0),
            _ => return,
        }
    };
    if inner.is_empty() {
        return;
    }
    let before = run.out.commands.len();
    run.command(inner.to_vec(), &Io::default(), text, &flow.plain());
    keep_bad(run, before, text);
    peek_code(
        run,
        rest.iter().filter(|word| word.text.starts_with('-')).cloned().collect::<Vec<_>>().as_slice(),
        text,
        flow,
    );
}
