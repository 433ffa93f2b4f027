//! Edits that invite a wrong answer: what must be refused, and what must not be touched.

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

use toolcrib_workspace::edit::{Edit, Refusal, RefusalKind, apply};

fn edit(file: &str, old: &str, new: &str) -> Result<String, Box<Refusal>> {
    apply(file.as_bytes(), &[Edit::new(old, new)]).map(|edited| String::from_utf8(edited.bytes).unwrap())
}

#[track_caller]
fn refused(file: &str, old: &str, new: &str) -> Refusal {
    match edit(file, old, new) {
        Ok(result) => panic!("applied:\n{result}"),
        Err(refusal) => *refusal,
    }
}

const TESTS: &str = "\
#[test]
fn parses_one() {
    let input = \"1\";
    let value = parse(input).unwrap();
    assert_eq!(value, 1);
    assert!(value > 0);
}

#[test]
fn parses_two() {
    let input = \"2\";
    let value = parse(input).unwrap();
    assert_eq!(value, 2);
    assert!(value > 0);
}
";

#[test]
fn near_duplicate_tests_are_not_confused() {
    // The third test was never written, or was removed.
    let third = TESTS[..TESTS.find("\n\n").unwrap() + 1].replace("one", "three").replace('1', "3");
    refused(TESTS, &third, &third.replace("value > 0", "value > 2"));
    // Only the name is wrong.
    let named = third.replace('3', "1");
    refused(TESTS, &named, &named.replace("value > 0", "value > 2"));
    // Only the discriminating line is wrong, and it stays.
    let body = "    let input = \"9\";\n    let value = parse(input).unwrap();\n    assert!(value > 0);\n";
    refused(TESTS, body, &body.replace("> 0", "> 2"));
    // The part that both share.
    let shared = "    let value = parse(input).unwrap();\n";
    let refusal = refused(TESTS, shared, "    let value = 5;\n");
    assert_eq!((refusal.kind, refusal.candidates.len()), (RefusalKind::Ambiguous, 2));
    assert!(refusal.candidates[1].text.contains("12\t    let value"), "{refusal}");
}

#[test]
fn duplicates_that_differ_in_whitespace_are_still_duplicates() {
    let file = "if a {\n    go();\n    stop();\n}\nif b {\n        go();\n        stop();\n}\n";
    let refusal = refused(file, "\tgo();\n\tstop();\n", "\tgo();\n");
    assert_eq!(refusal.kind, RefusalKind::Ambiguous);
    // The exact one of two is the one that was meant.
    let result = edit(file, "{\n    go();\n    stop();\n}", "{\n    go();\n}").unwrap();
    assert!(result.starts_with("if a {\n    go();\n}\n"));
}

#[test]
fn python_keeps_its_structure() {
    let file = "class A:\n    def f(self):\n        if self.x:\n            return 1\n        return 2\n";
    // Remembered one level out: the new line goes where its neighbours are.
    let old = "def f(self):\n    if self.x:\n        return 1\n    return 2\n";
    let new = "def f(self):\n    if self.x:\n        log()\n        return 1\n    return 2\n";
    assert_eq!(edit(file, old, new).unwrap(), file.replace("return 1", "log()\n            return 1"));
    // Remembered flat: how deep does the new line belong?
    refused(file, "if self.x:\nreturn 1\nreturn 2\n", "if self.x:\nlog()\nreturn 1\nreturn 2\n");
    // Another nesting of the same lines is another program.
    let nested = "        if self.x:\n            return 1\n            return 2\n";
    refused(file, nested, &nested.replace("return 2", "return 3"));
}

#[test]
fn makefiles_keep_their_tabs() {
    let file = "build: main.c\n\tcc -c main.c\n\tcc -o main main.o\n\nclean:\n\trm -f main\n";
    let old = "build: main.c\n        cc -c main.c\n        cc -o main main.o\n";
    let new = old.replace("cc -o", "cc -O2 -o") + "        strip main\n";
    let result = edit(file, old, &new).unwrap();
    assert_eq!(result, file.replace("cc -o main main.o\n", "cc -O2 -o main main.o\n\tstrip main\n"));
}

#[test]
fn markdown_and_csv_are_text_too() {
    let markdown = "# Title\n\n1. one  \n2. two\n3. three\n\n| a | b |\n|---|---|\n| 1 | 2 |\n";
    // A list is not a listing with line numbers, and a hard break stays.
    let result = edit(markdown, "1. one\n2. two\n", "1. one\n2. 2\n").unwrap();
    assert_eq!(result, markdown.replace("two", "2"));
    refused(markdown, "1. uno\n2. dos\n", "1. uno\n2. 2\n");
    let csv = "id,name,price\n1,apple,3\n2,pear,4\n3,plum,5\n4,fig,6\n5,date,7\n";
    assert_eq!(edit(csv, "2,pear,4\n", "2,pear,9\n").unwrap(), csv.replace("pear,4", "pear,9"));
    // Record 3 is remembered wrongly and is the one that changes.
    let old = "1,apple,3\n2,pear,4\n3,peach,5\n4,fig,6\n5,date,7\n";
    let refusal = refused(csv, old, &old.replace("3,peach,5", "3,peach,6"));
    assert_eq!(refusal.first_divergence.unwrap().how, "line 4: expected `3,peach,5`, file has `3,plum,5`");
}

#[test]
fn data_that_looks_like_line_numbers() {
    let file = "7\talpha\n8\tbeta\n9\tgamma\nalpha\nbeta\n";
    // Exactly there: data.
    assert_eq!(
        edit(file, "7\talpha\n8\tbeta\n", "7\talpha\n8\tBETA\n").unwrap(),
        file.replacen("beta", "BETA", 1)
    );
    // Not rising: not line numbers.
    refused("x\ny\nz\n", "3\tx\n2\ty\n", "3\tx\n2\tw\n");
    // Numbers in new that old does not have are content.
    assert_eq!(edit("x\ny\n", "x\ny\n", "1: x\n2: y\n").unwrap(), "1: x\n2: y\n");
    // Among equals, the numbers say which one was copied.
    assert_eq!(edit("go()\nx\ngo()\ny\n", "3\tgo()", "3\tstop()").unwrap(), "go()\nx\nstop()\ny\n");
}

#[test]
fn a_remembered_line_never_overwrites_the_real_one() {
    let file = "fn main() {\n    let config = load(&path, Mode::Strict)?;\n    let server = Server::new(config);\n    \
                server.bind(address);\n    server.run();\n    cleanup(&path);\n}\n";
    let old = file.replace("Mode::Strict", "Mode::Lenient");
    let new = old.replace("server.run();", "server.run_forever();");
    match edit(file, &old, &new) {
        Ok(result) => assert_eq!(result, file.replace("server.run();", "server.run_forever();")),
        Err(refusal) => assert_eq!(refusal.first_divergence.unwrap().file_line, 2),
    }
}

#[test]
fn deleting_is_not_mistaken_for_done() {
    let file = "alpha();\r\nbeta();\r\ngamma();\r\n";
    assert_eq!(edit(file, "alpha();\nbeta();\n", "alpha();\n").unwrap(), "alpha();\r\ngamma();\r\n");
    // Not applied either, when what should go is still there in another form.
    let refusal =
        refused("alpha_one();\nbeta();\nx\nbeta_two();\n", "alpha_one();\nbeta_two();\n", "alpha_one();\n");
    assert_eq!(refusal.kind, RefusalKind::NoMatch);
}

#[test]
fn odd_files() {
    assert_eq!(edit("a\rb\rc", "b", "x").unwrap(), "a\rx\rc");
    assert_eq!(edit("\n\n\n", "\n\n\n", "\n").unwrap(), "\n");
    assert_eq!(edit("one", "one", "").unwrap(), "");
    assert_eq!(refused("a\nb\n", " \n ", "x").kind, RefusalKind::NoMatch);
    assert_eq!(edit("a\n\n\n\nb\n", "a\n\n\n\nb", "a\nb").unwrap(), "a\nb\n");
    assert_eq!(apply(b"\xef\xbb\xbfa", &[Edit::new("a", "b")]).unwrap().bytes, b"\xef\xbb\xbfb");
    assert_eq!(apply(b"a", &[]).unwrap().bytes, b"a");
}
