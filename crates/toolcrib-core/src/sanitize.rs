//! Makes what nobody can see visible.
//!
//! File names, file content and command output reach terminals and models. Escape sequences would move the cursor, set
//! the title or fill the clipboard; bidi overrides reorder what a person reads; zero-width and tag characters carry
//! text only a model reads. Each such character is replaced by its escape (`\x1b`, `\u{202e}`). A sequence is
//! harmless once its first character is text, so there is no state to keep across chunks and nothing unterminated to
//! buffer.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Bytes looked at together; simple enough for the compiler to use vector instructions.
const CHUNK: usize = 32;

/// Text for a person or a model: control, bidi and invisible characters become escapes; newline, tab and `\r\n` stay.
///
/// ```
/// use toolcrib_core::sanitize::visible;
///
/// assert_eq!(visible("plain"), "plain");
/// assert_eq!(visible("\u{1b}]0;owned\u{7}"), "\\x1b]0;owned\\x07");
/// ```
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    escape(text, false)
}

/// A file name or another one-line label: as [`visible`], and newline, tab and carriage return become escapes too.
#[must_use]
pub fn visible_path(path: &str) -> Cow<'_, str> {
    escape(path, true)
}

/// A short one-line field: as [`visible_path`], cut to `max_chars` characters with `…` in place of the rest.
#[must_use]
pub fn visible_field(text: &str, max_chars: usize) -> Cow<'_, str> {
    // Escaping never shortens, so one character more than wanted decides it, whatever the length of the text.
    let end = text.char_indices().nth(max_chars.saturating_add(1)).map_or(text.len(), |(at, _)| at);
    let head = text.split_at_checked(end).map_or(text, |(head, _)| head);
    let shown = visible_path(head);
    if shown.chars().nth(max_chars).is_none() {
        return shown;
    }
    let mut out: String = shown.chars().take(max_chars.saturating_sub(1)).collect();
    out.push('…');
    Cow::Owned(out)
}

fn escape(text: &str, one_line: bool) -> Cow<'_, str> {
    let mut out: Option<String> = None;
    let mut prev = ' ';
    let mut rest = text;
    loop {
        // The clean part is ASCII, so it ends on a character border.
        let clean = clean_ascii_prefix(rest.as_bytes(), one_line);
        let (head, tail) = rest.split_at_checked(clean).unwrap_or(("", rest));
        prev = head.chars().next_back().unwrap_or(prev);
        if let Some(out) = &mut out {
            out.push_str(head);
        }
        let mut chars = tail.chars();
        let Some(c) = chars.next() else { break };
        rest = chars.as_str();
        if is_shown(c, prev, chars.next(), one_line) {
            prev = c;
            if let Some(out) = &mut out {
                out.push(c);
            }
            continue;
        }
        let out = out.get_or_insert_with(|| {
            let mut out = String::with_capacity(text.len() + 64);
            out.push_str(text.strip_suffix(tail).unwrap_or_default());
            out
        });
        push_escape(out, c);
        // Later decisions look at what is written, not at what was read; that makes a second pass change nothing.
        prev = '}';
    }
    out.map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Length of the leading part that is ASCII and needs no escape.
fn clean_ascii_prefix(bytes: &[u8], one_line: bool) -> usize {
    let newline = if one_line { b' ' } else { b'\n' };
    let tab = if one_line { b' ' } else { b'\t' };
    let clean = |b: u8| (0x20..0x7f).contains(&b) | (b == newline) | (b == tab);
    // Text in other scripts comes here once a character; it must not pay for a chunk each time.
    if !bytes.first().is_some_and(|b| clean(*b)) {
        return 0;
    }
    let mut done = 0;
    for chunk in bytes.chunks_exact(CHUNK) {
        if !chunk.iter().fold(true, |all, b| all & clean(*b)) {
            break;
        }
        done += CHUNK;
    }
    let rest = bytes.get(done..).unwrap_or_default();
    done + rest.iter().position(|b| !clean(*b)).unwrap_or(rest.len())
}

fn is_shown(c: char, prev: char, next: Option<char>, one_line: bool) -> bool {
    match c {
        ' '..='~' => true,
        '\n' | '\t' => !one_line,
        '\r' => !one_line && next == Some('\n'),
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => false,
        // Soft hyphen, Arabic letter mark, Mongolian vowel separator.
        '\u{ad}' | '\u{61c}' | '\u{180e}' => false,
        // The joiners are part of emoji and of Indic and Arabic writing, where they follow a letter; never two in a row.
        '\u{200c}' | '\u{200d}' => !prev.is_ascii() && !is_joiner(prev),
        // Zero-width space, directional marks, separators, embeddings, overrides.
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' => false,
        // Word joiner, invisible operators, isolates, deprecated format characters.
        '\u{2060}'..='\u{206f}' => false,
        // Byte-order mark inside text, interlinear annotation.
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' => false,
        // One selector after what it can vary; a run of them is how bytes are smuggled.
        '\u{fe00}'..='\u{fe0f}' => takes_selector(prev),
        '\u{e0100}'..='\u{e01ef}' => is_ideograph(prev),
        // Tag characters spell invisible ASCII.
        '\u{e0000}'..='\u{e00ff}' => false,
        _ => true,
    }
}

fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

fn takes_selector(c: char) -> bool {
    match c {
        '0'..='9' | '#' | '*' => true,
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => false,
        _ => !c.is_ascii() && !is_joiner(c),
    }
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn push_escape(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        '\0'..='\u{7f}' => drop(write!(out, "\\x{:02x}", u32::from(c))),
        _ => drop(write!(out, "\\u{{{:x}}}", u32::from(c))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_sequences_become_text() {
        let cases = [
            ("\u{1b}[2J\u{1b}[H", "\\x1b[2J\\x1b[H"),
            ("\u{1b}]52;c;ZXZpbA==\u{7}", "\\x1b]52;c;ZXZpbA==\\x07"),
            ("\u{1b}Pq\u{1b}\\", "\\x1bPq\\x1b\\"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("safe\rEVIL", "safe\\rEVIL"),
            ("a\u{8}b\u{7f}\0", "a\\x08b\\x7f\\x00"),
            ("a\u{85}b", "a\\u{85}b"),
        ];
        for (text, shown) in cases {
            assert_eq!(visible(text), shown);
        }
    }

    #[test]
    fn bidi_and_invisible_characters_become_text() {
        assert_eq!(visible("a\u{202e}txt.exe"), "a\\u{202e}txt.exe");
        assert_eq!(visible("\u{2066}x\u{2069}\u{200e}\u{61c}"), "\\u{2066}x\\u{2069}\\u{200e}\\u{61c}");
        assert_eq!(visible("a\u{200b}b\u{feff}c\u{ad}d"), "a\\u{200b}b\\u{feff}c\\u{ad}d");
        assert_eq!(visible("pass\u{200d}word"), "pass\\u{200d}word");
        assert_eq!(visible("\u{e0041}\u{e0042}"), "\\u{e0041}\\u{e0042}");
        assert_eq!(visible("x\u{2028}y"), "x\\u{2028}y");
        assert_eq!(visible("😀\u{fe0f}\u{fe01}\u{fe02}"), "😀\u{fe0f}\\u{fe01}\\u{fe02}");
        assert_eq!(visible("😀\u{e0100}\u{e0101}"), "😀\\u{e0100}\\u{e0101}");
    }

    #[test]
    fn ordinary_text_is_borrowed() {
        let long = "fn main() {}\r\n\t// ok\n".repeat(100);
        for text in [
            "",
            "plain",
            "tab\tnewline\n crlf\r\n",
            "naïve Grüße 日本語",
            "👩\u{200d}👩\u{200d}👧 ❤\u{fe0f} 1\u{fe0f}\u{20e3}",
            "می\u{200c}خواهم",
            "葛\u{e0100}",
            &long,
        ] {
            assert!(matches!(visible(text), Cow::Borrowed(_)), "{text:?}");
        }
    }

    #[test]
    fn a_path_is_one_line() {
        assert_eq!(visible_path("a\nb\tc\r\nd"), "a\\nb\\tc\\r\\nd");
        assert!(matches!(visible_path("src/main.rs"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_field_is_short() {
        assert_eq!(visible_field("abc", 3), "abc");
        assert_eq!(visible_field("abcd", 3), "ab…");
        assert_eq!(visible_field("a\u{1b}\u{1b}\u{1b}", 6), "a\\x1b…");
        assert_eq!(visible_field("a\nb", 9), "a\\nb");
        assert_eq!(visible_field(&"x".repeat(1_000_000), 10).chars().count(), 10);
        assert!(visible_field(&"\u{1b}".repeat(1_000_000), 10).chars().count() <= 10);
    }
}
