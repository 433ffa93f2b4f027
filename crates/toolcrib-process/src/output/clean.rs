//! Terminal output as a reader would have it: no colours, no cursor movements, progress bars in their last state,
//! repetitions counted.

use std::borrow::Cow;

use vte::{Params, Parser, Perform};

/// Lines in a row that are the same are shown once, with their count, from this many on.
const FOLD: usize = 4;

/// The text without what only a terminal understands.
///
/// ```
/// use toolcrib_process::output::clean;
///
/// assert_eq!(clean("\u{1b}[31mred\u{1b}[0m\n10%\r50%\r100%\n"), "red\n100%\n");
/// ```
pub fn clean(text: &str) -> Cow<'_, str> {
    let folds = has_runs(text);
    let special = |byte: u8| byte < 0x20 && byte != b'\n' && byte != b'\t' || byte == 0x7f || byte == 0xc2;
    if !text.bytes().any(special) {
        return if folds { Cow::Owned(folded(text)) } else { Cow::Borrowed(text) };
    }
    let mut screen = Screen::default();
    Parser::new().advance(&mut screen, text.as_bytes());
    let written = screen.finish();
    Cow::Owned(if has_runs(&written) { folded(&written) } else { written })
}

/// A screen of one line: what is above it is done.
#[derive(Default)]
struct Screen {
    done: String,
    line: Vec<char>,
    column: usize,
}

impl Screen {
    fn finish(mut self) -> String {
        self.done.extend(self.line);
        self.done
    }

    fn erase_to_the_right(&mut self) {
        self.line.truncate(self.column);
    }
}

impl Perform for Screen {
    fn print(&mut self, c: char) {
        if let Some(there) = self.line.get_mut(self.column) {
            *there = c;
        } else {
            self.line.push(c);
        }
        self.column += 1;
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => {
                self.done.extend(self.line.drain(..));
                self.done.push('\n');
                self.column = 0;
            }
            b'\r' => self.column = 0,
            8 => self.column = self.column.saturating_sub(1),
            b'\t' => self.print('\t'),
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, _: &[u8], _: bool, action: char) {
        let first = params.iter().next().and_then(|param| param.first().copied()).unwrap_or(0);
        match (action, first) {
            ('K', 0) | ('J', 0) => self.erase_to_the_right(),
            ('K', _) => {
                self.line.clear();
                self.line.resize(self.column.min(1 << 16), ' ');
            }
            ('G', n) => self.column = usize::from(n.saturating_sub(1)).min(self.line.len()),
            ('D', n) => self.column = self.column.saturating_sub(usize::from(n.max(1))),
            _ => {}
        }
    }
}

fn has_runs(text: &str) -> bool {
    let mut lines = text.lines();
    let mut before = lines.next();
    let mut run = 1;
    for line in lines {
        run = if Some(line) == before && !line.is_empty() { run + 1 } else { 1 };
        if run >= FOLD {
            return true;
        }
        before = Some(line);
    }
    false
}

fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(1 << 20));
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let mut count = 1;
        while lines.peek() == Some(&line) {
            lines.next();
            count += 1;
        }
        let shown = if count < FOLD || line.trim().is_empty() { count } else { 1 };
        for _ in 0..shown.min(1000) {
            out.push_str(line);
        }
        if count > shown {
            out.push_str(&format!("[the same line {} more times]\n", count - shown));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_show() {
        for (raw, shown) in [
            ("plain\ntext\n", "plain\ntext\n"),
            ("\x1b[1;31mred\x1b[0m", "red"),
            ("\x1b]0;title\x07x", "x"),
            ("\x1b]52;c;aGk=\x1b\\x", "x"),
            ("\x1b]8;;http://h\x1b\\link\x1b]8;;\x1b\\", "link"),
            ("a\r\nb\r\n", "a\nb\n"),
            ("  5%\r 50%\r100%\n", "100%\n"),
            ("long text\rshort\x1b[K\n", "short\n"),
            ("a\x08\x08b", "b"),
            ("N\x08NA\x08AM\x08ME\x08E", "NAME"),
            ("\u{9b}31mx", "31mx"),
            ("\x1bPdevice\x1b\\after", "after"),
            ("\x1b]0;never ended", ""),
            ("a\tb", "a\tb"),
            ("bell\x07", "bell"),
            ("ä€🦀\x1b[0m", "ä€🦀"),
        ] {
            assert_eq!(clean(raw), shown, "{raw:?}");
        }
    }

    #[test]
    fn repetitions_are_counted() {
        assert_eq!(clean("y\ny\ny\n"), "y\ny\ny\n");
        assert_eq!(clean(&"y\n".repeat(1000)), "y\n[the same line 999 more times]\n");
        assert_eq!(clean("a\n\n\n\n\n\nb\n"), "a\n\n\n\n\n\nb\n");
    }
}
