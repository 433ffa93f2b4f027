//! sed and awk: what they edit, and the commands of their own that run or write something.

use super::code::strings;
use super::programs::Cmd;
use super::run::Run;
use super::word::{HOLE, Word};
use super::{Judgement, safe, scan};

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
pub(super) fn sed_acts(script: &str) -> bool {
    let mut chars = script.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '/' => skip_to(&mut chars, '/', true),
            '\\' => {
                if let Some(end) = chars.next() {
                    skip_to(&mut chars, end, true);
                }
            }
            's' | 'y' => {
                let Some(end) = chars.next() else { return false };
                skip_to(&mut chars, end, c == 's');
                skip_to(&mut chars, end, false);
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

/// Steps over what ends with a delimiter; in a pattern, one in brackets does not end it.
fn skip_to(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, end: char, pattern: bool) {
    let mut bracket = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '[' if pattern => bracket = true,
            ']' if pattern => bracket = false,
            c if c == end && !bracket => return,
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
    let mut worst = if safe::awk(cmd.args) { Judgement::Safe } else { Judgement::Plain };
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
