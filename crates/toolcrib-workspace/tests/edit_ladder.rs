//! The rungs of the edit ladder, one by one, and every kind of refusal.

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

use toolcrib_workspace::edit::{Edit, Refusal, RefusalKind, Strategy, apply};

fn edit(file: &str, old: &str, new: &str) -> Result<(String, Strategy), Box<Refusal>> {
    let edited = apply(file.as_bytes(), &[Edit::new(old, new)])?;
    Ok((String::from_utf8(edited.bytes).unwrap(), edited.edits[0].strategy))
}

#[track_caller]
fn becomes(file: &str, old: &str, new: &str, strategy: Strategy, expected: &str) {
    match edit(file, old, new) {
        Ok((result, used)) => assert_eq!((result.as_str(), used), (expected, strategy)),
        Err(refusal) => panic!("refused: {refusal}"),
    }
}

#[track_caller]
fn refused(file: &str, old: &str, new: &str, kind: RefusalKind) -> Refusal {
    let refusal = *edit(file, old, new).expect_err("should be refused");
    assert_eq!(refusal.kind, kind, "{refusal}");
    assert!(refusal.message.ends_with("Nothing was written."));
    refusal
}

#[test]
fn exact() {
    becomes("a b c", "b", "x", Strategy::Exact, "a x c");
    becomes("a\nb\n", "b\n", "", Strategy::Exact, "a\n");
    // New lines get the ending of their neighbours, also when the match itself has none.
    becomes("a\r\nb\r\n", "b", "b\nc", Strategy::Exact, "a\r\nb\r\nc\r\n");
    becomes("a\nb\n", "b", "b\r\nc", Strategy::Exact, "a\nb\nc\n");
    // Unless endings are the point.
    becomes("a\r\nb\r\n", "a\r\nb\r\n", "a\nb\n", Strategy::Exact, "a\nb\n");
}

#[test]
fn line_endings() {
    becomes("a\r\nb\r\nc", "a\nb\n", "a\nx\nb\n", Strategy::LineEndings, "a\r\nx\r\nb\r\nc");
    becomes("a\nb\nc", "a\r\nb\r\n", "a\r\nx\r\n", Strategy::LineEndings, "a\nx\nc");
    // Mixed: lines that stay keep their own ending.
    becomes("a\r\nb\nc\r\nd", "a\nb\nc\nd", "a\nb\nx\nd", Strategy::LineEndings, "a\r\nb\nx\r\nd");
    becomes("x\nlast", "last\n", "first\nlast\n", Strategy::Whitespace, "x\nfirst\nlast");
}

#[test]
fn whitespace_and_typography() {
    becomes("a  \nb\nc\n", "a\nb\n", "a\nx\n", Strategy::Whitespace, "a  \nx\nc\n");
    becomes("a\nb\nc\n", "a  \nb \n", "a  \nx \n", Strategy::Whitespace, "a\nx\nc\n");
    becomes(
        "say “hi” to me\n",
        "say \"hi\" to me",
        "say \"hi\" to you",
        Strategy::Whitespace,
        "say “hi” to you\n",
    );
    becomes(
        "print(\"a\")\nq\n",
        "print(“a”)\nq",
        "print(“a”)\nprint(“b”)\nq",
        Strategy::Whitespace,
        "print(\"a\")\nprint(\"b\")\nq\n",
    );
    becomes("x = 1\u{a0}+ 2", "1 + 2", "1 + 3", Strategy::Whitespace, "x = 1\u{a0}+ 3");
    becomes(
        "let s = “a”;\nnext\n",
        "\"a\";\nnext",
        "\"a\";\nlast",
        Strategy::Whitespace,
        "let s = “a”;\nlast\n",
    );
}

#[test]
fn blank_lines() {
    becomes("a\n\nb\nc\n", "a\nb\nc\n", "a\nb\nx\n", Strategy::Whitespace, "a\n\nb\nx\n");
    becomes("a\nb\nc\n", "a\n\nb\nc\n", "a\n\nb\nx\n", Strategy::Whitespace, "a\nb\nx\n");
    becomes("a\nb\n", "\n\na\nb\n\n", "\n\na\nx\n\n", Strategy::Whitespace, "a\nx\n");
    // The change is right at the blank line: on which side of it?
    let refusal = refused("a\n\nb\n", "a\nb\n", "a\nx\nb\n", RefusalKind::NoMatch);
    assert!(refusal.message.contains("blank line"), "{refusal}");
}

#[test]
fn reindent() {
    let file = "fn a() {\n    if b {\n        c();\n    }\n}\n";
    becomes(
        file,
        "if b {\n    c();\n}\n",
        "if b {\n    c();\n    d();\n}\n",
        Strategy::Reindent,
        "fn a() {\n    if b {\n        c();\n        d();\n    }\n}\n",
    );
    becomes(
        "\tif b {\n\t\tc();\n\t}\n",
        "    if b {\n        c();\n    }",
        "    if b {\n        for x {\n            c();\n        }\n    }",
        Strategy::Reindent,
        "\tif b {\n\t\tfor x {\n\t\t\tc();\n\t\t}\n\t}\n",
    );
    becomes(
        "  if b:\n    c()\n",
        "\tif b:\n\t\tc()\n",
        "\tif b:\n\t\tc()\n\t\td()\n",
        Strategy::Reindent,
        "  if b:\n    c()\n    d()\n",
    );
    // A Makefile needs its tab.
    becomes(
        "all: x\n\tcc x\n",
        "all: x\n    cc x\n",
        "all: x\n    cc x\n    strip x\n",
        Strategy::Reindent,
        "all: x\n\tcc x\n\tstrip x\n",
    );
    // Flush left in the search text: where a new line belongs is unknown.
    refused("if a:\n  b\n    c\n", "if a:\nb\nc\n", "if a:\nb\nc\nd\n", RefusalKind::NoMatch);
}

#[test]
fn line_numbers() {
    let file = "one\n\ttwo\nthree\n";
    let expected = "one\n\t2\nthree\n";
    for (old, new) in [
        ("1\tone\n2\t\ttwo", "1\tone\n2\t\t2"),
        ("     1\tone\n     2\t\ttwo\n", "     1\tone\n     2\t\t2\n"),
        ("1|one\n2|\ttwo", "1|one\n2|\t2"),
        ("1: one\n2: \ttwo", "1: one\n2: \t2"),
        ("  1→one\n  2→\ttwo", "one\n\t2"),
    ] {
        becomes(file, old, new, Strategy::LineNumbers, expected);
    }
    refused(file, "2\tone\n1\t\ttwo", "x", RefusalKind::NoMatch);
    // Data that looks like numbered lines is data.
    becomes("1\tone\n2\ttwo\n", "1\tone\n2\ttwo\n", "1\tone\n3\ttwo\n", Strategy::Exact, "1\tone\n3\ttwo\n");
}

#[test]
fn escapes() {
    becomes(
        "a(\"x\");\nb();\n",
        r#"a(\"x\");\nb();"#,
        r#"a(\"y\");\nb();"#,
        Strategy::Unescape,
        "a(\"y\");\nb();\n",
    );
    becomes(
        "a(\"x\");\nb();\n",
        r#"a("x");\nb();"#,
        r#"a("x\n");\nb();"#,
        Strategy::Unescape,
        "a(\"x\\n\");\nb();\n",
    );
    becomes("\ta\n\tb\n", r"\ta\n\tb\n", r"\ta\n\tc\n", Strategy::Unescape, "\ta\n\tc\n");
    refused("a\nb\n", r"a\nc", r"a\nd", RefusalKind::NoMatch);
}

const BLOCK: &str = "start of the measurement\nlet alpha = compute(first_sample);\nlet beta = compute(alpha, 2);\n\
                     let gamma = beta + background_level;\nreturn gamma;\nend of the measurement\n";

#[test]
fn anchored_keeps_the_real_line() {
    let stale = BLOCK.replace("compute(alpha, 2)", "calculate(alpha, 2)");
    let wanted = stale.replace("return gamma", "return gamma * 2");
    becomes(BLOCK, &stale, &wanted, Strategy::Anchored, &BLOCK.replace("return gamma", "return gamma * 2"));
    // The very line that is remembered wrongly is to change: that is a guess.
    let wanted = stale.replace("calculate(alpha, 2)", "calculate(alpha, 9)");
    let refusal = refused(BLOCK, &stale, &wanted, RefusalKind::NoMatch);
    assert_eq!(refusal.first_divergence.unwrap().file_line, 3);
    // Two near-duplicates: which one?
    let twice = format!("{BLOCK}{}", BLOCK.replace("compute(alpha, 2)", "compute(alpha, 7)"));
    let wanted = stale.replace("return gamma", "return gamma * 2");
    refused(&twice, &stale, &wanted, RefusalKind::NoMatch);
}

#[test]
fn anchored_wants_a_clear_margin() {
    let block = |own: [&str; 4]| -> String {
        let shared = (0..10).map(|i| format!("shared step number {i};\n")).collect::<String>();
        let [a, b, c, d] = own.map(|line| format!("{line};\n"));
        format!("{a}{b}{shared}{d}{c}")
    };
    let one = block(["first of one", "second of one", "last of one", "common call(1)"]);
    let two = block(["first of two", "second of two", "last of two", "common call(2)"]);
    let old = one.replace("call(1)", "call(2)");
    let new = old.replace("second of one", "second of all");
    refused(&format!("{one}\n{two}"), &old, &new, RefusalKind::NoMatch);
    becomes(&one, &old, &new, Strategy::Anchored, &one.replace("second of one", "second of all"));
}

#[test]
fn anchored_never_takes_another_named_block() {
    let file =
        "#[test]\nfn reads_alpha() {\n    let v = parse(input_one);\n    check(v, 1);\n    done(v);\n}\n";
    let old = file.replace("reads_alpha", "reads_omega");
    refused(file, &old, &old.replace("check(v, 1)", "check(v, 2)"), RefusalKind::NoMatch);
}

#[test]
fn ambiguity_is_refused_with_every_candidate() {
    let file = "x = 1\na\nx = 1\nb\nx = 1\n";
    let refusal = refused(file, "x = 1", "x = 2", RefusalKind::Ambiguous);
    assert_eq!(refusal.candidates.iter().map(|c| c.start_line).collect::<Vec<_>>(), [1, 3, 5]);
    assert!(refusal.candidates[1].text.contains("3\tx = 1\n4\tb\n"));
    refused("aaa", "aa", "b", RefusalKind::Ambiguous);
    refused(&"q = 1\n".repeat(50), "q = 1", "q", RefusalKind::Ambiguous);

    let pick = |near| {
        let edit = Edit { near_line: Some(near), ..Edit::new("x = 1", "x = 2") };
        apply(file.as_bytes(), &[edit]).map(|e| (String::from_utf8(e.bytes).unwrap(), e.edits[0].lines))
    };
    assert_eq!(pick(5).unwrap(), ("x = 1\na\nx = 1\nb\nx = 2\n".to_owned(), (5, 5)));
    assert_eq!(pick(2).unwrap_err().kind, RefusalKind::Ambiguous);
}

#[test]
fn counts() {
    let all = |expected_count, replace_all| {
        let edit = Edit { replace_all, expected_count, ..Edit::new("x", "y") };
        apply(b"x x x", &[edit]).map(|e| (e.bytes, e.edits[0].count)).map_err(|r| r.kind)
    };
    assert_eq!(all(None, true), Ok((b"y y y".to_vec(), 3)));
    assert_eq!(all(Some(3), true), Ok((b"y y y".to_vec(), 3)));
    assert_eq!(all(Some(3), false), Ok((b"y y y".to_vec(), 3)));
    assert_eq!(all(Some(2), true), Err(RefusalKind::CountMismatch));
    assert_eq!(all(Some(1), false), Err(RefusalKind::Ambiguous));
    assert_eq!(all(Some(0), false), Err(RefusalKind::CountMismatch));
}

#[test]
fn refusals_without_a_match() {
    refused("a", "", "b", RefusalKind::EmptyOld);
    refused("a", "a", "a", RefusalKind::NoChange);
    refused("a\n", "a", "a\n// ... rest of the code ...", RefusalKind::Placeholder);
    let refusal = refused("one\nfoo(a, b)\n", "foo(a)", "foo(c)", RefusalKind::NoMatch);
    assert_eq!(refusal.first_divergence.unwrap().how, "line 2: expected `foo(a)`, file has `foo(a, b)`");
    let refusal = refused("one\ntwo\n", "zzz qqq vvv", "x", RefusalKind::NoMatch);
    assert!(refusal.candidates.is_empty() && refusal.message.contains("no region is similar"), "{refusal}");
    refused("", "anything", "x", RefusalKind::NoMatch);
}

#[test]
fn an_edit_is_not_made_twice() {
    for (before, old, new) in [
        ("let total = 1;\n", "let total = 1;", "let total = 2 + 3;"),
        ("use a;\nrest\n", "use a;\n", "use a;\nuse b;\n"),
        ("call(foo)\n", "foo", "foo_bar"),
        ("    indented();\nx\n", "    indented();\nx", "        indented();\nx"),
    ] {
        let (after, _) = edit(before, old, new).unwrap();
        let refusal = edit(&after, old, new).expect_err(&after);
        assert_eq!(refusal.kind, RefusalKind::AlreadyApplied, "{after} {refusal}");
    }
}

#[test]
fn several_edits_are_all_or_nothing_and_say_where_they_are() {
    let file = b"a\nb\nc\n";
    let edits = [Edit::new("c", "c1\nc2"), Edit::new("a", "a1\na2\na3"), Edit::new("b", "B")];
    let edited = apply(file, &edits).unwrap();
    assert_eq!(edited.bytes, b"a1\na2\na3\nB\nc1\nc2\n");
    assert_eq!(edited.edits.iter().map(|e| e.lines).collect::<Vec<_>>(), [(5, 6), (1, 3), (4, 4)]);

    let refusal = apply(file, &[Edit::new("a", "x"), Edit::new("missing text", "y")]).unwrap_err();
    assert_eq!((refusal.kind, refusal.edit_index), (RefusalKind::NoMatch, 1));
    let refusal = apply(file, &[Edit::new("a\nb", "x"), Edit::new("b\nc", "y")]).unwrap_err();
    assert_eq!((refusal.kind, refusal.edit_index), (RefusalKind::Overlap, 1));
}

#[test]
fn encodings() {
    let bom = b"\xef\xbb\xbfa\r\nb\r\n";
    assert_eq!(apply(bom, &[Edit::new("a\nb", "a\nx\nb")]).unwrap().bytes, b"\xef\xbb\xbfa\r\nx\r\nb\r\n");
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain("a ä\n".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let wanted: Vec<u8> =
        [0xff, 0xfe].into_iter().chain("b ä\n".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    assert_eq!(apply(&utf16, &[Edit::new("a", "b")]).unwrap().bytes, wanted);
    let mut broken = utf16;
    broken.push(7);
    assert_eq!(apply(&broken, &[Edit::new("a", "b")]).unwrap_err().kind, RefusalKind::NotLossless);

    let latin = b"caf\xe9\nx = 1\n";
    assert_eq!(apply(latin, &[Edit::new("x = 1", "x = 2")]).unwrap().bytes, b"caf\xe9\nx = 2\n");
    assert_eq!(apply(latin, &[Edit::new("x = 1", "x = 'ä'")]).unwrap_err().kind, RefusalKind::NotLossless);
    // The invalid line is context, seen as U+FFFD, and stays.
    assert_eq!(
        apply(latin, &[Edit::new("caf\u{fffd}\nx = 1", "caf\u{fffd}\nx = 2")]).unwrap().bytes,
        b"caf\xe9\nx = 2\n"
    );
    assert_eq!(
        apply(latin, &[Edit::new("caf\u{fffd}\nx = 1", "the caf\u{fffd}s xyz\u{fffd}\nx = 1")])
            .unwrap_err()
            .kind,
        RefusalKind::NotLossless
    );
}
