//! Shells: the code they are given, the script they are pointed to, or the input they read.

use super::Judgement;
use super::args::listed;
use super::run::{Flow, Run};
use super::simple::Io;
use super::word::Word;
use super::wrappers::{code, keep_bad};

/// Shells that run the text behind `-c`, their script, or their input.
const SHELLS: &str = "sh bash zsh dash ksh ash mksh rbash fish csh tcsh pwsh powershell yash oksh lksh posh elvish nu \
    xonsh hush ksh93";

/// Whether the program is a shell.
pub(super) fn is_shell(name: &str) -> bool {
    listed(SHELLS, name)
}

/// A shell: its code, its script or its input.
pub(super) fn run(run: &mut Run<'_>, all: &[Word], io: &Io, text: &str, flow: &Flow) {
    let Some((_, rest)) = all.split_first() else { return };
    let mut words = rest.iter();
    let mut takes_code = false;
    let mut from_input = false;
    let mut operand = None;
    while let Some(word) = words.next() {
        let option = word.text.as_str();
        if option == "--" {
            operand = words.next();
            break;
        } else if matches!(option, "--rcfile" | "--init-file") {
            let floor = Judgement::risky("runs a start-up file");
            return run.found(text, Vec::new(), 0, floor.worst(flow.floor.clone()));
        } else if matches!(option, "-o" | "+o" | "-O" | "+O" | "-eo" | "-euo" | "-exo" | "-euxo") {
            words.next();
        } else if matches!(option, "--version" | "--help") {
            return run.found(text, Vec::new(), 0, flow.floor.clone().worst(Judgement::Plain));
        } else if option.starts_with("--") && matches!(option, "--command" | "--commands") {
            takes_code = true;
        } else if option.starts_with('-') && option.len() > 1 || option.starts_with('+') {
            let letters = option.trim_start_matches('-');
            takes_code |=
                !option.starts_with("--") && letters.contains('c') || option.eq_ignore_ascii_case("-command");
            from_input |= !option.starts_with("--") && letters.contains('s');
            // `-euo pipefail -c …`: a cluster that ends in o takes the next word.
            if !option.starts_with("--") && letters.ends_with('o') {
                words.next();
            }
        } else {
            operand = Some(word);
            break;
        }
    }
    match operand {
        Some(word) if takes_code => {
            let login = rest.iter().any(|word| word.text.starts_with('-') && word.text.contains(['l', 'i']));
            let proved = !login && word.literal && rest.iter().all(|word| word.known);
            code(run, &word.text, text, &if proved { flow.clone() } else { flow.plain() });
        }
        Some(word) if !from_input && !is_stdin(&word.text) => script(run, all, word, io, text, flow),
        _ => input(run, io, text, flow),
    }
}

fn is_stdin(path: &str) -> bool {
    matches!(path, "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
}

fn script(run: &mut Run<'_>, all: &[Word], file: &Word, io: &Io, text: &str, flow: &Flow) {
    let judgement = if file.text.starts_with("/dev/") || file.text.starts_with("/proc/") {
        Judgement::risky("runs what another program gives it")
    } else if run.fetched(file) {
        Judgement::risky("runs what it has just fetched")
    } else if file.known {
        Judgement::Plain
    } else {
        Judgement::risky("runs a script that only running it would tell")
    };
    if let Some(given) = io.given.as_deref().filter(|_| file.text.starts_with("/dev/")) {
        let before = run.out.commands.len();
        run.nested(given, &flow.plain());
        keep_bad(run, before, text);
    }
    if !file.known {
        return run.found(text, Vec::new(), 0, judgement.worst(flow.floor.clone()));
    }
    // The script says what is done only if it comes right behind the shell.
    let prefix = if all.get(1) == Some(file) && judgement == Judgement::Plain { 2 } else { 0 };
    let all_known = all.iter().all(|word| word.known);
    let words = all.iter().map(|word| word.value().map_or_else(|| word.source.clone(), str::to_owned));
    let words = if all_known || prefix > 0 { words.collect() } else { Vec::new() };
    let bare = run.is_bare(all, io, flow) && all_known;
    run.noted(text, words, prefix, judgement.worst(flow.floor.clone()), bare);
}

/// A shell that runs its input.
fn input(run: &mut Run<'_>, io: &Io, text: &str, flow: &Flow) {
    let why = if io.piped || io.file {
        "runs what another program or file gives it"
    } else {
        "runs what it is given"
    };
    if let Some(input) = &io.input {
        let before = run.out.commands.len();
        run.nested(input, &flow.plain());
        if !io.piped {
            return;
        }
        keep_bad(run, before, text);
    }
    run.found(text, Vec::new(), 0, Judgement::risky(why).worst(flow.floor.clone()));
}
