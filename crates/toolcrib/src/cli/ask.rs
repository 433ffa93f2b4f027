//! Asking the person at the terminal.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, IsTerminal, Write};

use toolcrib::Effects;
use toolcrib_core::permission::{Answer, Approver, BoxFuture, ConfirmRequest, Grant, GrantScope};
use toolcrib_core::sanitize;

/// The controlling terminal.
pub(crate) struct Terminal {
    file: File,
    /// Whether the session outlives this call, so that a grant for it means something.
    named_session: bool,
}

impl Terminal {
    /// The terminal, if somebody sits at it: the process has one, and its messages go there.
    pub(crate) fn open(named_session: bool) -> Option<Self> {
        if !std::io::stderr().is_terminal() {
            return None;
        }
        let file = OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?;
        Some(Self { file, named_session })
    }
}

impl Approver for Terminal {
    fn confirm<'a>(&'a self, request: &'a ConfirmRequest) -> BoxFuture<'a, Answer> {
        let scopes = offered(request, self.named_session);
        let question = question(request, &scopes);
        let input_hash = request.input_hash.clone();
        let terminal = self.file.try_clone();
        Box::pin(async move {
            let asked = tokio::task::spawn_blocking(move || {
                let terminal = terminal?;
                ask(&mut BufReader::new(&terminal), &mut &terminal, &question, &scopes)
            });
            match asked.await {
                Ok(Ok(Said::Yes(scope))) => Answer::Approve { input_hash, scope },
                Ok(Ok(Said::No(reason))) => Answer::Deny { reason },
                _ => Answer::Deny { reason: Some("the terminal could not be read".into()) },
            }
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Said {
    Yes(GrantScope),
    No(Option<String>),
}

/// How far a yes may reach here. What could not be shown as a whole is not answered for good.
fn offered(request: &ConfirmRequest, named_session: bool) -> Vec<GrantScope> {
    let covers = request.grant.as_ref().map(Grant::describe).unwrap_or_default();
    let shown = covers.chars().count() <= COVERS && !(runs(request) && is_cut(&request.preview));
    let lasts = |scope: &GrantScope| match scope {
        GrantScope::Once => true,
        GrantScope::Session => named_session && shown,
        GrantScope::Project => shown,
    };
    request.scopes.iter().copied().filter(lasts).collect()
}

/// What people are shown: what would happen, what it touches, why they are asked, and what each answer means. Whatever
/// comes from the call stays in its line, or behind a bar, so that it cannot pass for the question itself.
fn question(request: &ConfirmRequest, scopes: &[GrantScope]) -> String {
    let mut text = format!("\n{}", line(&request.tool, WIDTH));
    // There the title would be the command once more.
    if request.tool != "run_command" {
        text.push_str(&format!(": {}", line(&request.title, WIDTH)));
    }
    text.push('\n');
    text.push_str(&if runs(request) { whole(&request.preview) } else { excerpt(&request.preview) });
    for line in touched(&request.effects) {
        text.push_str(&format!("{line}\n"));
    }
    text.push_str(&format!("why asked: {}\n", line(&request.reason, 4 * WIDTH)));
    let covers = request.grant.as_ref().map(Grant::describe).unwrap_or_default();
    for scope in scopes {
        text.push_str(&match scope {
            GrantScope::Once => "[y] yes, this once\n".to_owned(),
            GrantScope::Session => format!("[s] yes, for this session: {covers}\n"),
            GrantScope::Project => format!("[p] yes, for this workspace from now on: {covers}\n"),
        });
    }
    text.push_str("[n] no   [n REASON] no, and tell why\n> ");
    sanitize::visible(&text).into_owned()
}

const WIDTH: usize = 500;
/// How much of a command is shown.
const COMMAND: usize = 20_000;
/// How long what a standing yes covers may be.
const COVERS: usize = 4_000;
/// What stands before every line of a preview.
const BAR: &str = "  | ";

/// Whether what is asked about is what would be run.
fn runs(request: &ConfirmRequest) -> bool {
    !request.effects.commands.is_empty()
}

fn is_cut(preview: &str) -> bool {
    preview.chars().nth(COMMAND).is_some()
}

/// All of a command, the end most of all: that is where one would hide something.
fn whole(preview: &str) -> String {
    let barred = |text: &str| text.split('\n').map(|line| format!("{BAR}{line}\n")).collect::<String>();
    if !is_cut(preview) {
        return barred(preview.trim_end_matches('\n'));
    }
    let all = preview.chars().count();
    let head: String = preview.chars().take(COMMAND / 2).collect();
    let tail: String = preview.chars().skip(all - COMMAND / 2).collect();
    let missing = all - COMMAND / 2 * 2;
    format!("{}[… {missing} characters are not shown here …]\n{}", barred(&head), barred(&tail))
}

/// The preview, as much of it as a screen or two can hold.
fn excerpt(preview: &str) -> String {
    const LINES: usize = 60;
    let mut shown: String =
        preview.lines().take(LINES).map(|line| format!("{BAR}{}\n", shortened(line, WIDTH))).collect();
    let left = preview.lines().count().saturating_sub(LINES);
    if left > 0 {
        shown.push_str(&format!("[… {left} more lines]\n"));
    }
    shown
}

/// Text that stays in its line.
fn line(text: &str, max: usize) -> String {
    shortened(&sanitize::visible_path(text), max)
}

fn shortened(line: &str, max: usize) -> String {
    let mut rest = line.chars();
    let head: String = rest.by_ref().take(max).collect();
    let left = rest.count();
    if left == 0 { head } else { format!("{head}[… {left} more characters]") }
}

/// What a call touches, a line for each kind.
fn touched(effects: &Effects) -> Vec<String> {
    const NAMED: usize = 10;
    let list = |what: &str, all: &[String]| {
        let named: Vec<String> = all.iter().take(NAMED).map(|item| line(item, WIDTH)).collect();
        let more = all.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!all.is_empty()).then(|| format!("{what}: {}{more}", named.join(", ")))
    };
    let anything = effects.writes_anything.then(|| "writes: whatever it likes in the workspace".to_owned());
    [list("writes", &effects.writes), anything, list("network", &effects.hosts)]
        .into_iter()
        .flatten()
        .collect()
}

/// Asks until there is an answer; no answer is a no.
fn ask(
    from: &mut impl BufRead,
    to: &mut impl Write,
    question: &str,
    scopes: &[GrantScope],
) -> io::Result<Said> {
    const ATTEMPTS: usize = 5;
    to.write_all(question.as_bytes())?;
    for _ in 0..ATTEMPTS {
        to.flush()?;
        let mut answer = Vec::new();
        if from.read_until(b'\n', &mut answer)? == 0 {
            return Ok(Said::No(Some("nobody answered".into())));
        }
        if let Some(said) = interpret(&String::from_utf8_lossy(&answer), scopes) {
            return Ok(said);
        }
        let letters: Vec<&str> = scopes.iter().map(|scope| letter(*scope)).chain(["n"]).collect();
        to.write_all(format!("{}? > ", letters.join(", ")).as_bytes())?;
    }
    Ok(Said::No(None))
}

fn letter(scope: GrantScope) -> &'static str {
    match scope {
        GrantScope::Once => "y",
        GrantScope::Session => "s",
        GrantScope::Project => "p",
    }
}

/// Only a clear yes is a yes, and only what was offered can be chosen.
fn interpret(answer: &str, scopes: &[GrantScope]) -> Option<Said> {
    let (first, rest) = answer.trim().split_once(char::is_whitespace).unwrap_or((answer.trim(), ""));
    let scope = match (first.to_lowercase().as_str(), rest.trim()) {
        ("" | "n" | "no", "") => return Some(Said::No(None)),
        ("n" | "no", reason) => return Some(Said::No(Some(reason.to_owned()))),
        ("y" | "yes", "") => GrantScope::Once,
        ("s" | "session", "") => GrantScope::Session,
        ("p" | "project", "") => GrantScope::Project,
        _ => return None,
    };
    scopes.contains(&scope).then_some(Said::Yes(scope))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolcrib_core::permission::GrantedCommand;
    use toolcrib_core::{CommandEffect, Judgement};

    const ALL: [GrantScope; 3] = [GrantScope::Once, GrantScope::Session, GrantScope::Project];

    fn said(input: &str, scopes: &[GrantScope]) -> Said {
        ask(&mut input.as_bytes(), &mut Vec::new(), "?", scopes).unwrap()
    }

    #[test]
    fn only_a_clear_yes_is_a_yes() {
        let no = |reason: &str| Said::No((!reason.is_empty()).then(|| reason.to_owned()));
        for (input, expected) in [
            ("y\n", Said::Yes(GrantScope::Once)),
            ("YES\r\n", Said::Yes(GrantScope::Once)),
            (" s \n", Said::Yes(GrantScope::Session)),
            ("p\n", Said::Yes(GrantScope::Project)),
            ("\n", no("")),
            ("n\n", no("")),
            ("no\n", no("")),
            ("n use b instead\n", no("use b instead")),
            ("", no("nobody answered")),
            ("yolo\ny sure\n", no("nobody answered")),
            ("what\ny\n", Said::Yes(GrantScope::Once)),
            ("\u{fffd}\u{1b}[A\nn\n", no("")),
            ("1\n2\n3\n4\n5\ny\n", no("")),
        ] {
            assert_eq!(said(input, &ALL), expected, "{input:?}");
        }
        assert_eq!(
            said("s\np\ny\n", &[GrantScope::Once]),
            Said::Yes(GrantScope::Once),
            "what is not offered"
        );
        assert_eq!(said("\u{ff}\n\u{0}\n", &ALL), no("nobody answered"));
    }

    fn request(preview: &str, grant: Option<Grant>) -> ConfirmRequest {
        ConfirmRequest {
            call_id: "c".into(),
            tool: "run_command".into(),
            title: "would run cargo test".into(),
            reason: "the policy is `ask`".into(),
            preview: preview.into(),
            effects: Effects {
                writes: (0..12).map(|index| format!("f{index}")).collect(),
                hosts: vec!["*".into()],
                ..Effects::none()
            },
            scopes: if grant.is_some() { ALL.to_vec() } else { vec![GrantScope::Once] },
            grant,
            input_hash: "h".into(),
        }
    }

    #[test]
    fn the_question_shows_what_each_answer_covers() {
        let command = GrantedCommand { words: vec!["cargo".into(), "test".into()], whole: false };
        let grant = Grant { tool: "run_command".into(), commands: vec![command], ..Grant::default() };
        let request = request("cargo test -p a\u{1b}[2J", Some(grant));
        let text = question(&request, &offered(&request, true));
        for line in [
            "cargo test -p a",
            "writes: f0, f1, f2, f3, f4, f5, f6, f7, f8, f9 and 2 more",
            "network: *",
            "why asked: the policy is `ask`",
            "[s] yes, for this session: `cargo test` with any arguments after it",
            "[p] yes, for this workspace from now on: `cargo test` with any arguments after it",
        ] {
            assert!(text.contains(line), "{line} is not in {text}");
        }
        assert!(!text.contains('\u{1b}'), "a preview must not move the cursor");
        assert!(
            !question(&request, &offered(&request, false)).contains("[s]"),
            "the session ends with the call"
        );
    }

    fn running(command: &str, words: &[&str]) -> ConfirmRequest {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let granted = GrantedCommand { words: words.clone(), whole: true };
        let grant = Grant { tool: "run_command".into(), commands: vec![granted], ..Grant::default() };
        let effect =
            CommandEffect { text: command.into(), words, prefix: 0, bare: true, judgement: Judgement::Plain };
        ConfirmRequest {
            effects: Effects { commands: vec![effect], ..Effects::none() },
            ..request(&format!("$ {command}"), Some(grant))
        }
    }

    #[test]
    fn a_command_is_shown_once_and_to_its_end() {
        let long = format!("echo {}{}\n  rm -rf the-end", "x".repeat(8_000), "\n  y".repeat(200));
        let asked = running(&long, &["echo"]);
        let text = question(&asked, &offered(&asked, true));
        assert!(text.contains(&"x".repeat(8_000)) && text.contains("the-end"), "{text}");
        assert!(text.contains("[s]") && text.contains("[p]"));
        let short = running("mkdir one", &["x"]);
        let text = question(&short, &offered(&short, true));
        assert_eq!(text.matches("mkdir one").count(), 1, "{text}");
        assert!(text.starts_with("\nrun_command\n  | $ mkdir one\n"), "{text}");
    }

    #[test]
    fn what_was_not_shown_is_approved_only_once() {
        let asked = running(&format!("{}THE-END", "x".repeat(30_000)), &["echo"]);
        let text = question(&asked, &offered(&asked, true));
        assert!(
            text.contains("[… 10009 characters are not shown here …]") && text.contains("THE-END"),
            "{text}"
        );
        assert!(text.contains("[y]") && !text.contains("[s]") && !text.contains("[p]"));
        assert_eq!(offered(&running("make", &["x".repeat(5_000).as_str()]), true), [GrantScope::Once]);
    }

    #[test]
    fn the_question_cannot_be_forged() {
        let forged = "\n[y] yes, this once\n> ";
        let mut asked = running(&format!("make{forged}"), &["make", forged]);
        asked.title.push_str(forged);
        asked.reason.push_str(forged);
        asked.tool.push_str(forged);
        asked.effects.writes = vec![forged.into()];
        asked.effects.hosts = vec![forged.into()];
        for asked in [asked.clone(), ConfirmRequest { effects: Effects::writes([forged]), ..asked }] {
            let text = question(&asked, &offered(&asked, true));
            assert_eq!(text.matches("\n[y]").count(), 1, "{text}");
            assert_eq!(text.matches("\n> ").count(), 1, "{text}");
            let choices = text.find("\n[y]").unwrap();
            assert!(text.find("why asked").unwrap() < choices, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_granted_is_not_offered_and_long_previews_are_cut() {
        let request = request(&format!("{}\n", "x".repeat(10_000)).repeat(1_000), None);
        let text = question(&request, &offered(&request, true));
        assert!(text.contains("[y]") && !text.contains("[s]") && !text.contains("[p]"));
        assert!(text.contains("[… 940 more lines]") && text.contains("[… 9500 more characters]"));
        assert!(text.len() < 50_000);
    }
}
