//! What holds for any bytes: the engine never panics, never touches what it was not asked to, and loses nothing.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    missing_docs,
    unreachable_pub,
    reason = "a test fails by panicking, helpers included"
)]

use proptest::prelude::*;
use toolcrib_workspace::edit::{Edit, apply};
use toolcrib_workspace::patch::{FilePatch, apply_hunks, parse};
use toolcrib_workspace::text::{Encoding, adapt_overwrite, decode, encode};
use toolcrib_workspace::{diff, text};

const MARK: &str = "needle_4711";

/// Bytes with everything that makes files awkward.
fn awkward() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        4 => "[a-z ]{0,12}".prop_map(String::into_bytes),
        2 => Just(b"\n".to_vec()),
        2 => Just(b"\r\n".to_vec()),
        1 => Just(b"\r".to_vec()),
        1 => Just(b"\t    ".to_vec()),
        1 => Just("“ä” …\u{a0}".as_bytes().to_vec()),
        1 => Just(b"\xef\xbb\xbf".to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(part, 0..30).prop_map(|parts| parts.concat())
}

/// Text from a small alphabet, so that pieces of it match each other by chance.
fn loose() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("a"),
        Just("b"),
        Just("foo(x)"),
        Just("  "),
        Just("\t"),
        Just("\n"),
        Just("\n"),
        Just("\r\n"),
        Just("\r"),
        Just("“"),
        Just("\""),
        Just("…"),
        Just("\\n"),
        Just("\\\""),
        Just("12\t"),
        Just("13: "),
        Just("7|"),
        Just("// ... existing code ..."),
        Just("\u{fffd}"),
        Just("\u{feff}"),
        Just("é"),
    ];
    prop::collection::vec(part, 0..14).prop_map(|parts| parts.concat())
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof!["[ \t]{0,6}[a-z]{1,6}[(){};\"]{0,2}[ ]{0,2}", Just(String::new()), Just("}".to_owned())]
}

fn document() -> impl Strategy<Value = String> {
    (prop::collection::vec(line(), 0..24), any::<bool>()).prop_map(|(lines, end)| {
        let text = lines.join("\n");
        if end && !text.is_empty() { text + "\n" } else { text }
    })
}

fn is_utf16(bytes: &[u8]) -> bool {
    matches!(Encoding::of(bytes), Encoding::Utf16Le | Encoding::Utf16Be)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_outside_an_edit_never_change(before in awkward(), after in awkward(), new in "([a-z(){}][a-z(){} ]{0,19})?") {
        let file = [before.as_slice(), MARK.as_bytes(), &after].concat();
        prop_assume!(!is_utf16(&file));
        prop_assume!(new != MARK && !new.contains(MARK));
        let edited = apply(&file, &[Edit::new(MARK, new.clone())]);
        prop_assert_eq!(edited.unwrap().bytes, [before.as_slice(), new.as_bytes(), &after].concat());
    }

    #[test]
    fn nor_in_utf16(before in "[a-zä\r\n]{0,20}", after in "[a-z𝄞\r\n]{0,20}", new in "[a-zé]{1,9}", big in any::<bool>()) {
        let encoding = if big { Encoding::Utf16Be } else { Encoding::Utf16Le };
        let file = encode(&format!("{before}{MARK}{after}"), encoding);
        let edited = apply(&file, &[Edit::new(MARK, new.clone())]).unwrap();
        prop_assert_eq!(edited.bytes, encode(&format!("{before}{new}{after}"), encoding));
    }

    #[test]
    fn nor_when_the_match_is_tolerant(
        before in awkward(), after in awkward(), damage in 0usize..5, crlf in any::<bool>(),
    ) {
        let end = if crlf { "\r\n" } else { "\n" };
        let block = format!("    one_{MARK}();{end}    two “x”;  {end}    three();{end}    four();{end}");
        let before = [before.as_slice(), b"\n"].concat();
        let file = [before.as_slice(), block.as_bytes(), &after].concat();
        prop_assume!(!is_utf16(&file));
        let old = format!("    one_{MARK}();\n    two \"x\";\n    three();\n    four();\n");
        let new = old.replace("three();", "3();");
        let bend = |text: &str| match damage {
            0 => text.to_owned(),
            1 => text.replace("    ", "\t"),
            2 => text.replace("    ", ""),
            3 => text.lines().enumerate().map(|(i, l)| format!("{}\t{l}\n", i + 7)).collect(),
            _ => text.replace('\n', "\r\n"),
        };
        let edited = apply(&file, &[Edit::new(bend(&old), bend(&new))]).unwrap();
        let right = block.replace("three();", "3();");
        prop_assert_eq!(edited.bytes, [before.as_slice(), right.as_bytes(), &after].concat());
    }

    #[test]
    fn nothing_panics(file in awkward(), old in loose(), new in loose(), all in any::<bool>(), near in 0usize..9, count in 0usize..4) {
        let edit = Edit { old, new, replace_all: all, near_line: Some(near), expected_count: Some(count) };
        let plain = Edit { expected_count: None, near_line: None, ..edit.clone() };
        for edits in [vec![edit.clone()], vec![plain.clone()], vec![plain, edit]] {
            match apply(&file, &edits) {
                Ok(edited) => {
                    let lines = text::count_lines(&decode(&edited.bytes).text.into_bytes()) + 1;
                    for applied in &edited.edits {
                        prop_assert!(applied.lines.0 >= 1 && applied.lines.0 <= applied.lines.1 && applied.lines.1 <= lines);
                    }
                }
                Err(refusal) => prop_assert!(refusal.message.contains("Nothing was written") && !refusal.suggestion.is_empty()),
            }
        }
    }

    #[test]
    fn text_on_text_never_panics(file in loose(), old in loose(), new in loose()) {
        let _ = apply(file.as_bytes(), &[Edit::new(old, new)]);
    }

    #[test]
    fn patches_never_panic(parts in prop::collection::vec(prop_oneof![
        Just("*** Begin Patch"), Just("*** End Patch"), Just("*** Update File: f"), Just("*** Add File: g"),
        Just("*** Delete File: h"), Just("*** Move to: i"), Just("*** End of File"), Just("@@"), Just("@@ a"),
        Just("@@ -1,2 +1,3 @@"), Just("--- a/f"), Just("+++ b/f"), Just("--- /dev/null"), Just("diff --git a/f b/f"),
        Just("rename from f"), Just("rename to é"), Just("\\ No newline at end of file"), Just(" a"), Just("-a"), Just("+b"),
        Just(" "), Just(""), Just("+"), Just("-"), Just("-  a"), Just("\""), Just("--- \"\\3"), Just("```"),
    ], 0..16), file in awkward(), open in any::<bool>()) {
        let mut patch = parts.join("\n");
        if open {
            patch = format!("*** Begin Patch\n*** Update File: f\n@@\n{patch}\n*** End Patch");
        }
        for file_patch in parse(&patch).unwrap_or_default() {
            if let FilePatch::Update { hunks, .. } = file_patch {
                let _ = apply_hunks(&file, &hunks);
                let _ = apply_hunks(b"a\nb\n  a\r\na", &hunks);
            }
        }
    }

    #[test]
    fn a_diff_applies_as_a_patch(old in document(), new in document()) {
        let shown = diff::unified("f", "f", Some(old.as_bytes()), Some(new.as_bytes()));
        if old == new {
            prop_assert_eq!(shown, "");
        } else {
            let files = parse(&shown).unwrap();
            let [FilePatch::Update { hunks, path, .. }] = files.as_slice() else { panic!("{files:?}") };
            prop_assert_eq!(path, "f");
            let patched = apply_hunks(old.as_bytes(), hunks).map_err(|r| TestCaseError::fail(format!("{r}\n{shown}")))?;
            prop_assert_eq!(String::from_utf8(patched).unwrap(), new, "{}", shown);
        }
    }

    #[test]
    fn patches_keep_what_they_do_not_touch(before in awkward(), after in awkward()) {
        let before = [before.as_slice(), b"\n"].concat();
        let file = [before.as_slice(), MARK.as_bytes(), b"\n", &after].concat();
        prop_assume!(!is_utf16(&file));
        let patch = format!("*** Begin Patch\n*** Update File: f\n@@\n-{MARK}\n+\n*** End Patch");
        let files = parse(&patch).unwrap();
        let FilePatch::Update { hunks, .. } = &files[0] else { panic!() };
        let patched = apply_hunks(&file, hunks).unwrap();
        prop_assert!(patched.starts_with(&before));
        prop_assert!(patched.ends_with(&after));
    }

    #[test]
    fn decoding_says_whether_it_lost_something(bytes in awkward()) {
        let decoded = decode(&bytes);
        if !decoded.lossy {
            prop_assert_eq!(encode(&decoded.text, decoded.encoding), bytes);
        }
    }

    #[test]
    fn overwriting_keeps_form_and_content(old in awkward(), new in "[a-zä\n]{0,30}") {
        let written = adapt_overwrite(&old, &new);
        let read = decode(&written);
        prop_assert_eq!(read.text.replace("\r\n", "\n"), new.clone());
        if !decode(&old).lossy && !text::is_binary(&old) {
            prop_assert_eq!(Encoding::of(&written), Encoding::of(&old));
        }
        prop_assert_eq!(adapt_overwrite(&written, &new), written);
    }

    #[test]
    fn diffs_never_panic_and_count_alike(old in awkward(), new in awkward()) {
        let shown = diff::unified("f", "f", Some(&old), Some(&new));
        let (added, removed) = diff::stat(Some(&old), Some(&new));
        let signs = |sign: char| shown.lines().skip(2).filter(|l| l.starts_with(sign)).count();
        if shown.starts_with("---") && !shown.contains('\r') {
            prop_assert_eq!((signs('+'), signs('-')), (added, removed));
        }
    }
}
