//! Small texts for every kind of mistake that an evaluation on real files has shown.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    missing_docs,
    unreachable_pub,
    reason = "a test fails by panicking, helpers included"
)]

use toolcrib_workspace::edit::{Edit, RefusalKind, apply};

/// What comes of an edit.
enum Then {
    /// The file.
    Is(&'static str),
    /// A refusal with a message that contains the first and not the second.
    Refused(&'static str, &'static str),
}

use Then::{Is, Refused};

const F: &str = "fn f() {\n    alpha();\n    beta();\n    gamma();\n}\n";
const MAP: &str = "m = {\n    \"one\": first,\n    \"two\": second,\n}\n";
const CLASS: &str = "class A:\n    def run(self):\n        x = 1\n        y = 2\n        return x\n";
const WRAPPED: &str = "fn f() {\n    if ready {\n        alpha();\n        beta();\n    }\n}\n";

#[rustfmt::skip]
const TABLE: &[(&str, &str, &str, &str, Then)] = &[
    // Deletions, which leave what is there already.
    ("delete tail, trailing blanks", F, "    alpha(); \n    beta(); \n    gamma(); ", "    alpha();\n    beta();", Is("fn f() {\n    alpha();\n    beta();\n}\n")),
    ("delete head, trailing blanks", F, "    alpha(); \n    beta(); \n    gamma(); ", "    beta();\n    gamma();", Is("fn f() {\n    beta();\n    gamma();\n}\n")),
    ("delete tail, deeper", F, "        alpha();\n        beta();\n        gamma();", "    alpha();\n    beta();", Is("fn f() {\n    alpha();\n    beta();\n}\n")),
    ("delete tail, tabs", F, "\talpha();\n\tbeta();\n\tgamma();", "    alpha();\n    beta();", Is("fn f() {\n    alpha();\n    beta();\n}\n")),
    ("delete tail, smart quotes", "a = \"1\"\nb = \"2\"\nc = \"3\"\nd\n", "a = “1”\nb = “2”\nc = “3”", "a = \"1\"\nb = \"2\"", Is("a = \"1\"\nb = \"2\"\nd\n")),
    ("delete a stale line", F, "    alpha();\n    beta();\n    gamma(2);", "    alpha();\n    beta();", Refused("line", "made already")),
    ("delete a line again", "fn f() {\n    alpha();\n    gamma();\n}\n", "    alpha();\n    beta();\n    gamma();", "    alpha();\n    gamma();", Refused("made already", "closest")),
    ("unwrap, deeper", WRAPPED, "        if ready {\n            alpha();\n            beta();\n        }", "        alpha();\n        beta();", Is("fn f() {\n    alpha();\n    beta();\n}\n")),
    ("made already, shifted", "fn f() {\n    alpha(1);\n    beta();\n}\n", "alpha();\nbeta();", "alpha(1);\nbeta();", Refused("made already", "closest")),
    ("there by chance", "one = 1\nsay something else\n", "# attributes of it", "something else", Refused("line", "made already")),
    ("elsewhere by chance", "one = compute(a, b)\ntwo = 2\nreturn nothing\n", "one = compute(a, c)\ntwo = 2", "return nothing", Refused("closest region is lines 1-2", "made already")),
    // Escapes.
    ("quotes, several lines", MAP, r#"    \"one\": first,
    \"two\": second,"#, r#"    \"one\": first,
    \"two\": 2,"#, Is("m = {\n    \"one\": first,\n    \"two\": 2,\n}\n")),
    ("quotes, in old only", MAP, r#"    \"one\": first,
    \"two\": second,"#, "    \"one\": first,\n    \"two\": 2,", Is("m = {\n    \"one\": first,\n    \"two\": 2,\n}\n")),
    ("quotes, one line becomes two", MAP, r#"    \"one\": first,"#, r#"    \"one\": first,
    \"three\": third,"#, Is("m = {\n    \"one\": first,\n    \"three\": third,\n    \"two\": second,\n}\n")),
    ("quotes, mixed in new", MAP, r#"    \"one\": first,
    \"two\": second,"#, r#"    \"one\": first,
    "two": "\"","#, Refused("lines 2-3", "made already")),
    ("single quotes", "f('a')\ng('b')\n", "f(\\'a\\')\ng(\\'b\\')", "f(\\'a\\')\ng(\\'c\\')", Is("f('a')\ng('c')\n")),
    ("quotes that belong to the file", "say \"a \\\"b\\\"\"\nend\n", "say \"a \\\"b\\\"\"", "say \"a \\\"c\\\"\"", Is("say \"a \\\"c\\\"\"\nend\n")),
    ("quotes within quotes", "say \"a \\\"b\\\"\"\nend\n", r#"say \"a \\\"b\\\"\"
end"#, r#"say \"a \\\"c\\\"\"
end"#, Is("say \"a \\\"c\\\"\"\nend\n")),
    ("newline after three quotes", "    \"\"\"Doc.\n    \"\"\"\n    x = 1\n", "    \"\"\"\\n    x = 1", "    \"\"\"\\n    x = 2", Is("    \"\"\"Doc.\n    \"\"\"\n    x = 2\n")),
    ("newline within a string of new", "    \"\"\"Doc.\n    \"\"\"\n    x = 1\n", "    \"\"\"\\n    x = 1", "    \"\"\"\\n    x = \"a\\n\"", Refused("line", "made already")),
    // Indentation.
    ("wrap, dedented", "fn f() {\n    alpha();\n    beta();\n}\n", "alpha();\nbeta();", "if ready {\n    alpha();\n    beta();\n}", Is(WRAPPED)),
    ("wrap, dedented, by indentation", CLASS, "def run(self):\n    x = 1\n    y = 2\n    return x", "if on:\n    def run(self):\n        x = 1\n        y = 2\n        return x", Is("class A:\n    if on:\n        def run(self):\n            x = 1\n            y = 2\n            return x\n")),
    ("a block goes on, dedented", "{\n        alpha(one);\n        beta(two);\n}\n", "    alpha(one);\n    beta(two);", "    } else {\n        alpha(one);\n        beta(two);", Refused("Lines 2-3", "made already")),
    ("one dedented line becomes a block", "def f():\n    x = 1\n    y = 2\n", "x = 1", "if a:\n    x = 1", Is("def f():\n    if a:\n        x = 1\n    y = 2\n")),
    ("one dedented line becomes two", "def f():\n    x = 1\n    y = 2\n", "x = 1", "x = 1\nz = 3", Is("def f():\n    x = 1\n    z = 3\n    y = 2\n")),
    ("one line, the second has its indentation", "def f():\n    x = 1\n    y = 2\n", "x = 1", "x = 1\n    z = 3", Is("def f():\n    x = 1\n    z = 3\n    y = 2\n")),
    ("one line, too deep for a block", "{\n  {\n    {\n      \"a\": 1\n", "\"a\": 1", "\"b\": {\n      \"c\": 2", Is("{\n  {\n    {\n      \"b\": {\n      \"c\": 2\n")),
    ("one line, then the block is closed", "{\n    x();\n", "x();", "x();\n}\n\n{\n    y();", Is("{\n    x();\n}\n\n{\n    y();\n")),
    ("one line, then perhaps something new", "def f():\n    return 1\n", "return 1", "return 1\n\n\ndef g():\n    return 2", Refused("Lines 2-2", "made already")),
    ("one line that starts a text", "def f():\n    x = 1\n", "x = 1", "x = \"\"\"\nplain\n\"\"\"", Is("def f():\n    x = \"\"\"\nplain\n\"\"\"\n")),
    // Newlines at the borders.
    ("newline in old only", F, "    alpha();\n", "    alpha(1);", Is("fn f() {\n    alpha(1);\n    beta();\n    gamma();\n}\n")),
    ("newline in old only, CRLF", "a();\r\nb();\r\nc();\r\n", "a();\nb();\n", "a(1);\nb();", Is("a(1);\r\nb();\r\nc();\r\n")),
    ("newline in old only, numbers", F, "2\t    alpha();\n3\t    beta();\n", "2\t    alpha(1);\n3\t    beta();", Is("fn f() {\n    alpha(1);\n    beta();\n    gamma();\n}\n")),
    ("newline in old only, dedented", F, "alpha();\nbeta();\n", "alpha(1);\nbeta();", Is("fn f() {\n    alpha(1);\n    beta();\n    gamma();\n}\n")),
    ("leading newline in old only", F, "\n    alpha();", "    alpha(1);", Is("fn f() {\n    alpha(1);\n    beta();\n    gamma();\n}\n")),
    ("the newline is the point", "a\nb\n", "a\n", "a", Is("ab\n")),
    ("the blank line below stays", "a\n\nb\n", "a\n", "a\n\nx", Is("a\n\nx\nb\n")),
    ("the blank line below is replaced", "a\n\nb\n", "a\n", "x\ny", Is("x\ny\nb\n")),
    ("both borders were trimmed", "a\nb();\n\nc\n", "\nb();\n", "b(1);", Is("a\nb(1);\n\nc\n")),
    ("a blank line with a blank, then the end", "one line\n \ntwo lines\nthree lines\n", "one line\n\ntwo lines \n", "one line\n", Is("one line\nthree lines\n")),
    ("all of a line goes", F, "    alpha();\n", "", Is("fn f() {\n    beta();\n    gamma();\n}\n")),
    ("newline in new only, dedented", F, "alpha();\nbeta();", "alpha(1);\nbeta();\n", Is("fn f() {\n    alpha(1);\n    beta();\n    gamma();\n}\n")),
    // Line numbers.
    ("number and bar, in old only", "p {\n  color: red;\n}\n", "2|  color: red;", "  color: blue;", Is("p {\n  color: blue;\n}\n")),
    ("number and bar, one more line", "p {\n  color: red;\n}\n", "2|  color: red;", "  top: 0;\n  color: red;", Is("p {\n  top: 0;\n  color: red;\n}\n")),
    ("number and bar, wrapped", CLASS, "3|        x = 1", "3|        if on:\n4|            x = 1", Is("class A:\n    def run(self):\n        if on:\n            x = 1\n        y = 2\n        return x\n")),
    ("number of a trimmed blank line", "import os\n\nx = 1\n", "     1\timport os\n     2\n     3\tx = 1", "     1\timport os\n     2\n     3\tx = 5", Is("import os\n\nx = 5\n")),
    // What stays.
    ("one half of the quotes is known", "# don't stop\nx = 1\n", "# don’t stop\nx = 1", "# don’t stop\nlog(‘a’, “b”)\nx = 1", Is("# don't stop\nlog('a', \"b\")\nx = 1\n")),
    ("a dash is evidence for quotes", "# a - b of it\nx = 1\n", "# a – b of it", "import ‘a’", Is("import 'a'\nx = 1\n")),
    ("blanks at the end of a moved line", "a b \nc d \n", "a b  \nc d  ", "> n\n    a b \n    c d ", Is("> n\n    a b \n    c d \n")),
    ("blanks at the end of a kept line", ".a \n{\n  b: 1;\n}\n", ".a  \n{ \n  b: 1;", ".a \n{\n  b: 2;", Is(".a \n{\n  b: 2;\n}\n")),
    ("a kept line of blanks", "a:\n  - x: 1\n    \n  - y: 2\n", "    - x: 1\n       \n    - y: 2", "    - x: 1\n      \n    - y: 5", Is("a:\n  - x: 1\n    \n  - y: 5\n")),
    // One stale line.
    ("a stale line, written twice", "begin the careful work here\n    open_the_resource(path)\n    os.close(descriptor)\n    report_the_outcome(path)\nend of the careful work\n", "begin the careful work here\n    open_the_resource(path)\n    os.close2(descriptor)\n    report_the_outcome(path)\nend of the careful work", "begin the careful work here\n    open_the_resource(path)\n    os.close2(descriptor)\n    os.close2(descriptor)\n    report_the_outcome(path)\nend of the careful work", Refused("line", "made already")),
    ("the twin of the block", "impl B {\n    fn run(&self) {\n        self.b.start();\n        self.log(1);\n        self.notify();\n    }\n}\n", "    fn run(&self) {\n        self.a.start();\n        self.log(1);\n        self.notify();\n    }", "    fn run(&self) {\n        self.a.start();\n        self.log(2);\n        self.notify();\n    }", Refused("line", "made already")),
    ("a stale comment", "fn run() {\n    open();\n    // Waits for all of them.\n    wait(1);\n    finish();\n}\n", "fn run() {\n    open();\n    // Waits for each of them.\n    wait(1);\n    finish();\n}", "fn run() {\n    open();\n    // Waits for each of them.\n    wait(2);\n    finish();\n}", Is("fn run() {\n    open();\n    // Waits for all of them.\n    wait(2);\n    finish();\n}\n")),
    // What refusals say.
    ("several places", "a = 1\nb = 2\na = 1\n", "a = 1", "a = 3", Refused("at lines 1, 3", "made already")),
    ("carriage returns", "one\rtwo\rthree\r", "one\ntwo", "one\n2", Refused("carriage return", "100 %")),
    ("never wholly alike", "x\n\n\n\n\n\n\nlong line of words\nanother line of words\n", "long line of words\n\n\n\n\n\n\nanother line of words", "z", Refused("line", "100 %")),
];

#[test]
fn every_kind_of_mistake() {
    let mut failures = Vec::new();
    for (name, file, old, new, then) in TABLE {
        match (apply(file.as_bytes(), &[Edit::new(*old, *new)]), then) {
            (Ok(edited), Is(expected)) => {
                let got = String::from_utf8(edited.bytes).unwrap();
                if got != *expected {
                    failures.push(format!("{name}: got {got:?}, expected {expected:?}"));
                }
            }
            (Ok(edited), Refused(..)) => {
                failures.push(format!("{name}: applied: {:?}", String::from_utf8(edited.bytes).unwrap()));
            }
            (Err(refusal), Is(_)) => failures.push(format!("{name}: refused: {refusal}")),
            (Err(refusal), Refused(has, lacks)) => {
                let said = refusal.message.to_lowercase();
                if !said.contains(&has.to_lowercase()) || said.contains(lacks) {
                    failures.push(format!("{name}: said {:?}", refusal.message));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn what_was_done_at_a_border_is_said() {
    let edited = apply(F.as_bytes(), &[Edit::new("    alpha();\n", "    alpha(1);")]).unwrap();
    assert!(edited.edits[0].note.as_deref().unwrap().contains("newline"), "{edited:?}");
    let edited = apply(F.as_bytes(), &[Edit::new("beta();", "beta();\ndelta();")]).unwrap();
    assert!(edited.edits[0].note.as_deref().unwrap().contains("indentation"), "{edited:?}");
}

#[test]
fn only_an_edit_that_touched_the_text_is_blamed() {
    let file = format!("{F}\nfn g() {{\n    delta();\n}}\n");
    let first = Edit::new("    delta();", "    epsilon();");
    let tail = Edit::new("    alpha();  \n    beta();  \n    gamma();  ", "    alpha();\n    beta();");
    let edited = apply(file.as_bytes(), &[first.clone(), tail]).unwrap();
    let expected = file.replace("    gamma();\n", "").replace("delta", "epsilon");
    assert_eq!(String::from_utf8(edited.bytes).unwrap(), expected);
    let stale = Edit::new("    alpha();\n    beta(3);", "    alpha();\n    beta(4);");
    let refused = apply(file.as_bytes(), &[first.clone(), stale]).unwrap_err();
    assert_eq!((refused.kind, refused.edit_index), (RefusalKind::NoMatch, 1));
    let again = Edit::new("    delta();\n}", "    zeta();\n}");
    let refused = apply(file.as_bytes(), &[first, again]).unwrap_err();
    assert_eq!((refused.kind, refused.edit_index), (RefusalKind::Overlap, 1));
}
