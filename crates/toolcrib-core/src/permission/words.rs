//! Commands as rules see them. *Permitting* is strict: the words as they stand. *Refusing* is lenient: the program by
//! any path, options in between, inside `env`, `sudo` or `sh -c`, because a rule that forbids must not depend on how a
//! command is spelled. Neither is a boundary; that is the sandbox.

use crate::effects::CommandEffect;

/// Words by position, each with its alternatives.
pub(super) type Pattern = Vec<Vec<String>>;

/// Where programs are that a bare name means, too.
const USUAL: [&str; 3] = ["/bin/", "/usr/bin/", "/usr/local/bin/"];

/// Programs that run the command in their arguments.
const WRAPPERS: [&str; 24] = [
    "env", "sudo", "doas", "nohup", "nice", "ionice", "time", "timeout", "command", "exec", "builtin",
    "xargs", "stdbuf", "setsid", "busybox", "chroot", "unshare", "strace", "watch", "parallel", "find", "su",
    "chrt", "flock",
];

/// Programs that run the command in one of their arguments, written as text.
const SHELLS: [&str; 9] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "eval", "su"];

/// A command is looked at this far: what is longer hides nothing that a prefix could name.
const LOOKED_AT: usize = 4096;

/// The name of a program without its folder.
pub(super) fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// A program's bare name if it lies where programs usually are, or the word as it is.
pub(super) fn usual_name(program: &str) -> &str {
    let bare = USUAL.iter().find_map(|folder| program.strip_prefix(folder));
    bare.filter(|name| !name.contains('/')).unwrap_or(program)
}

/// Whether the words begin with the pattern, exactly as they stand; `whole`: and end with it.
pub(super) fn permits(pattern: &Pattern, words: &[String], whole: bool) -> bool {
    if pattern.is_empty() || words.len() < pattern.len() || (whole && words.len() != pattern.len()) {
        return false;
    }
    pattern.iter().zip(words).enumerate().all(|(index, (alternatives, word))| {
        alternatives.contains(word)
            || (index == 0 && alternatives.iter().any(|name| name == usual_name(word)))
    })
}

/// Whether one of a command's readings runs what the pattern names.
pub(super) fn refuses(pattern: &Pattern, readings: &[Vec<String>], whole: bool) -> bool {
    readings.iter().any(|words| begins(pattern, words, whole))
}

/// Whether words begin with the pattern; options, each perhaps with a value, may stand between.
fn begins(pattern: &Pattern, words: &[String], whole: bool) -> bool {
    let (Some((program, rest)), Some((first, after))) = (pattern.split_first(), words.split_first()) else {
        return false;
    };
    if !program.iter().any(|name| same_program(name, first)) || (whole && words.len() != pattern.len()) {
        return false;
    }
    // All the places where the next word of the pattern may stand.
    let mut places = vec![0];
    for alternatives in rest {
        let mut reached = Vec::new();
        let mut open = places.clone();
        while let Some(at) = open.pop() {
            let Some(word) = after.get(at) else { continue };
            if alternatives.contains(word) && !reached.contains(&(at + 1)) {
                reached.push(at + 1);
            }
            if word.starts_with('-') && !whole {
                let value = after.get(at + 1).is_some_and(|next| !next.starts_with('-'));
                for next in [Some(at + 1), value.then_some(at + 2)].into_iter().flatten() {
                    if !places.contains(&next) {
                        places.push(next);
                        open.push(next);
                    }
                }
            }
        }
        if reached.is_empty() {
            return false;
        }
        places = reached;
    }
    true
}

fn same_program(name: &str, word: &str) -> bool {
    if name.contains('/') {
        let plain = |path: &str| path.trim_start_matches("./").to_owned();
        return plain(name) == plain(word);
    }
    name == base_name(word)
}

/// Words as one text, with the program as it is spelled and by its bare name.
pub(super) fn joined(words: &[String]) -> [String; 2] {
    let bare = words.first().map(|first| base_name(first).to_owned());
    let bare: Vec<String> = bare.into_iter().chain(words.iter().skip(1).cloned()).collect();
    [words.join(" "), bare.join(" ")]
}

/// Every list of words that may be run by a command.
pub(super) fn readings(command: &CommandEffect) -> Vec<Vec<String>> {
    if command.words.is_empty() {
        // Only running it would tell what it does: whatever stands in it may be meant.
        return suffixes(&tokens(&command.text));
    }
    let words: Vec<String> = command.words.iter().take(LOOKED_AT).cloned().collect();
    let skipped = words.iter().take_while(|word| is_assignment(word)).count();
    let words = words.get(skipped..).unwrap_or_default().to_vec();
    let Some(program) = words.first().map(|word| base_name(word).to_owned()) else { return vec![words] };
    let mut all = Vec::new();
    if WRAPPERS.contains(&program.as_str()) {
        all.extend(suffixes(&words));
    }
    // A shell may itself stand behind a wrapper.
    if words.iter().take(8).any(|word| SHELLS.contains(&base_name(word))) {
        for text in words.iter().filter(|word| word.contains(char::is_whitespace)) {
            all.extend(suffixes(&tokens(text)));
        }
    }
    all.push(words);
    all
}

/// The words of a command that may name files: not those that say what is done (`build` in `cargo build`), and of text
/// in a shell's hands only what looks like a path.
pub(super) fn arguments(command: &CommandEffect) -> Vec<String> {
    let path_like = |word: &String| word.contains(['/', '.']);
    if command.words.is_empty() {
        return tokens(&command.text).into_iter().filter(path_like).collect();
    }
    let mut found = Vec::new();
    for word in command.words.iter().skip(command.prefix.max(1)).take(LOOKED_AT) {
        if word.contains(char::is_whitespace) {
            found.extend(tokens(word).into_iter().filter(path_like));
        }
        found.push(word.clone());
    }
    found
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
    })
}

/// What looks like words in shell text.
fn tokens(text: &str) -> Vec<String> {
    let between = |c: char| c.is_whitespace() || ";|&()<>`$\"'{}\\".contains(c);
    text.split(between).filter(|word| !word.is_empty()).take(LOOKED_AT).map(str::to_owned).collect()
}

/// The words from each position on. Long tails are cut: a pattern is short.
fn suffixes(words: &[String]) -> Vec<Vec<String>> {
    const TAIL: usize = 64;
    (0..words.len()).map(|at| words.iter().skip(at).take(TAIL).cloned().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::Judgement;

    fn split(text: &str) -> Vec<String> {
        shlex::split(text).unwrap()
    }

    fn pattern(text: &str) -> Pattern {
        split(text).into_iter().map(|word| vec![word]).collect()
    }

    fn command(text: &str, parsed: bool) -> CommandEffect {
        let words = if parsed { split(text) } else { Vec::new() };
        CommandEffect { text: text.into(), words, prefix: 0, bare: true, judgement: Judgement::Plain }
    }

    #[test]
    fn refusing_looks_through_the_spelling() {
        for (rule, text, expected) in [
            ("git push", "git push", true),
            ("git push", "/usr/bin/git push origin", true),
            ("git push", "./git push", true),
            ("git push", "git -C sub push", true),
            ("git push", "git -c a=b --no-pager push --force", true),
            ("git push", "git commit -m push", false),
            ("git push", "git pushd", false),
            ("git push", "got push", false),
            ("git push", "env A=1 git push", true),
            ("git push", "A=1 B=2 git push", true),
            ("git push", "sudo -u root git push", true),
            ("git push", "timeout 5 nice git push", true),
            ("git push", "xargs -n1 git push", true),
            ("git push", "bash -c 'cd x && git push'", true),
            ("git push", "env bash -lc \"git push\"", true),
            ("git push", "echo git push", false),
            ("rm", "find . -name x -exec rm {} +", true),
            ("./run.sh", "run.sh", true),
            ("./run.sh", "other/run.sh", false),
        ] {
            assert_eq!(
                refuses(&pattern(rule), &readings(&command(text, true)), false),
                expected,
                "{rule}: {text}"
            );
        }
        assert!(refuses(&pattern("git push"), &readings(&command("x=$(git push)", false)), false));
        assert!(!refuses(&pattern("git push"), &readings(&command("x=$(git pull)", false)), false));
    }

    #[test]
    fn refusing_is_quick_whatever_the_words() {
        let words = std::iter::repeat_n(["-a", "x"], 50_000).flatten().map(str::to_owned);
        let long = CommandEffect {
            words: ["git".to_owned()].into_iter().chain(words).collect(),
            ..command("", true)
        };
        assert!(!refuses(&pattern("git push a b c"), &readings(&long), false));
        let text = format!("env {}", "bash -c x ".repeat(20_000));
        assert!(!refuses(&pattern("git push"), &readings(&command(&text, false)), false));
        assert!(!refuses(&pattern("git push"), &readings(&command(&text, true)), false));
    }

    #[test]
    fn permitting_takes_words_as_they_stand() {
        for (rule, text, whole, expected) in [
            ("cargo test", "cargo test -p x", false, true),
            ("cargo test", "cargo test", true, true),
            ("cargo test", "cargo test -p x", true, false),
            ("cargo test", "cargo tests", false, false),
            ("cargo test", "cargo +nightly test", false, false),
            ("cargo test", "cargo -C x test", false, false),
            ("cargo test", "/usr/bin/cargo test", false, true),
            ("cargo test", "/bin/cargo test", false, true),
            ("cargo test", "/tmp/cargo test", false, false),
            ("cargo test", "./cargo test", false, false),
            ("cargo test", "/usr/bin/../../tmp/cargo test", false, false),
            ("cargo test", "env cargo test", false, false),
            ("cargo test", "cargo", false, false),
            ("./run.sh", "./run.sh a", false, true),
            ("./run.sh", "run.sh", false, false),
            ("./run.sh", "/usr/bin/./run.sh", false, false),
        ] {
            assert_eq!(permits(&pattern(rule), &split(text), whole), expected, "{rule}: {text}");
        }
        assert!(!permits(&pattern("cargo test"), &[], false));
    }
}
