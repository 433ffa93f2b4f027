//! Asking the person at the terminal.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, IsTerminal, Write};

use toolcrib_core::permission::{Answer, Approver, BoxFuture, ConfirmRequest, GrantScope};
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
        let question = question(request, self.named_session);
        let input_hash = request.input_hash.clone();
        let terminal = self.file.try_clone();
        Box::pin(async move {
            let asked = tokio::task::spawn_blocking(move || ask(terminal?, &question)).await;
            match asked {
                Ok(Ok(answer)) => interpret(&answer, input_hash),
                _ => Answer::Deny { reason: Some("the terminal could not be read".into()) },
            }
        })
    }
}

fn question(request: &ConfirmRequest, named_session: bool) -> String {
    const SHOWN: usize = 60;
    let lines: Vec<&str> = request.preview.lines().collect();
    let mut shown = lines.iter().take(SHOWN).copied().collect::<Vec<_>>().join("\n");
    if lines.len() > SHOWN {
        shown.push_str(&format!("\n[… {} more lines]", lines.len() - SHOWN));
    }
    let grant = match request.grant.paths.as_slice() {
        [] => format!("{} on ordinary files of this workspace", request.grant.tool),
        paths => format!("{} on {}", request.grant.tool, paths.join(", ")),
    };
    let session = if named_session { format!("[s] for this session: {grant}   ") } else { String::new() };
    let text = format!(
        "\n{}: {}\nwhy asked: {}\n{shown}\n[y] once   {session}[n] no   [n REASON] no, and tell why\n> ",
        request.tool, request.title, request.reason
    );
    sanitize::visible(&text).into_owned()
}

fn ask(terminal: File, question: &str) -> std::io::Result<String> {
    (&terminal).write_all(question.as_bytes())?;
    let mut reader = BufReader::new(&terminal);
    loop {
        let mut answer = String::new();
        let read = reader.read_line(&mut answer)?;
        let first = answer.trim().chars().next().unwrap_or('n').to_ascii_lowercase();
        if read == 0 || matches!(first, 'y' | 's' | 'n') {
            return Ok(answer);
        }
        (&terminal).write_all(b"y, s or n? > ")?;
    }
}

fn interpret(answer: &str, input_hash: String) -> Answer {
    match answer.trim() {
        "y" | "Y" | "yes" => Answer::Approve { input_hash, scope: GrantScope::Once },
        "s" | "S" | "session" => Answer::Approve { input_hash, scope: GrantScope::Session },
        other => {
            let reason = other.strip_prefix(['n', 'N']).unwrap_or(other).trim();
            Answer::Deny { reason: (!reason.is_empty()).then(|| reason.to_owned()) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_a_yes() {
        let scope = |answer: &str| match interpret(answer, "h".into()) {
            Answer::Approve { scope, .. } => Ok(scope),
            Answer::Deny { reason } => Err(reason),
        };
        assert_eq!(scope("y\n"), Ok(GrantScope::Once));
        assert_eq!(scope(" s \n"), Ok(GrantScope::Session));
        assert_eq!(scope("\n"), Err(None));
        assert_eq!(scope("n\n"), Err(None));
        assert_eq!(scope("n use b instead\n"), Err(Some("use b instead".into())));
        assert_eq!(scope("yolo\n"), Err(Some("yolo".into())));
    }
}
