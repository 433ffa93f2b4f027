//! What is found besides the judgement: programs, the words that name them, files and the network.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::path::PathBuf;
use toolcrib_process::shell::{Analysis, Judgement, Surroundings, analyse, analyse_argv};

fn look(command: &str) -> Analysis {
    let at =
        Surroundings { roots: vec!["/code/ws".into()], home: Some("/home/u".into()), cwd: "/code/ws".into() };
    analyse(command, &at)
}

/// The words that name what each program does, or `?` where only the whole command does.
fn names(command: &str) -> Vec<String> {
    let name = |words: &[String], prefix: usize| match prefix {
        0 => "?".to_owned(),
        _ => words[..prefix].join(" "),
    };
    look(command).commands.iter().map(|simple| name(&simple.words, simple.prefix)).collect()
}

#[test]
fn the_words_that_name_a_command_are_counted() {
    for (command, expected) in [
        ("cargo test -p x", vec!["cargo test"]),
        ("git commit -m x", vec!["git commit"]),
        ("git stash pop", vec!["git stash pop"]),
        ("npm run build -- --x", vec!["npm run build"]),
        ("ls -la", vec!["ls"]),
        ("python3 x.py a", vec!["python3 x.py"]),
        ("python3 -m pytest -q", vec!["python3 -m pytest"]),
        ("python3 -c 'print(1)'", vec!["?"]),
        ("curl https://x.example", vec!["?"]),
        ("rm x", vec!["?"]),
        ("make", vec!["make"]),
        ("make test", vec!["make test"]),
        ("cargo build && ls | head", vec!["cargo build", "ls", "head"]),
        ("timeout 5 cargo test", vec!["cargo test"]),
        ("FOO=1 cargo test", vec!["cargo test"]),
        ("bash -c 'cargo test; ls'", vec!["cargo test", "ls"]),
        ("bash x.sh", vec!["bash x.sh"]),
        ("./x.sh a", vec!["./x.sh"]),
        ("uv run pytest -q", vec!["uv run pytest"]),
        ("git push --force", vec!["?"]),
        ("ls | xargs grep x", vec!["ls", "grep"]),
        ("git commit -m \"$(date)\"", vec!["date", "git commit"]),
        ("git $x", vec!["?"]),
    ] {
        assert_eq!(names(command), expected, "{command}");
    }
}

#[test]
fn words_are_given_only_where_they_are_known() {
    assert_eq!(look("echo 'a b' \"c\"").commands[0].words, ["echo", "a b", "c"]);
    assert_eq!(look("git commit -m \"$x\"").commands[0].words, ["git", "commit", "-m", "\"$x\""]);
    for dynamic in ["$x a", "rm $x", "echo 'unterminated", "ls\u{a0}x"] {
        assert!(look(dynamic).commands[0].words.is_empty(), "{dynamic}");
    }
}

#[test]
fn hidden_characters_are_spelled_out_for_people() {
    assert_eq!(look("ls\rrm x").commands[0].text, "ls\\u{d}rm x");
    let argv = ["echo".to_owned(), "a b".to_owned(), "it's".to_owned()];
    let at = Surroundings { roots: vec!["/code/ws".into()], home: None, cwd: "/code/ws".into() };
    assert_eq!(analyse_argv(&argv, &at).commands[0].text, r"echo 'a b' 'it'\''s'");
}

#[test]
fn written_files_inside_the_roots_are_named() {
    for (command, expected) in [
        ("echo x > a", vec!["a"]),
        ("echo x >> sub/../a 2> b", vec!["a", "b"]),
        ("cd sub && echo x > a", vec!["sub/a"]),
        ("ls | tee a b", vec!["a", "b"]),
        ("touch a 'b c'", vec!["a", "b c"]),
        ("cp a b", vec!["b"]),
        ("mv a b", vec!["a", "b"]),
        ("cp -t d a", vec!["d"]),
        ("sed -i s/a/b/ x y", vec!["x", "y"]),
        ("rm -rf target", vec!["target"]),
        ("mkdir -p a/b", vec!["a/b"]),
        ("dd if=x of=y", vec!["y"]),
        ("cat > x <<'E'\nhi\nE", vec!["x"]),
        ("bash -c 'echo > x'", vec!["x"]),
        ("echo x > /tmp/a > ../b > /dev/null", vec![]),
        ("ls > \"$x\"", vec![]),
        ("ls -la", vec![]),
    ] {
        let expected: Vec<PathBuf> =
            expected.iter().map(|name| PathBuf::from("/code/ws").join(name)).collect();
        assert_eq!(look(command).writes, expected, "{command}");
    }
    assert_eq!(look("cat a < b").reads, [PathBuf::from("/code/ws/a"), PathBuf::from("/code/ws/b")]);
}

#[test]
fn commands_that_want_the_network_are_known() {
    for command in [
        "curl https://x.example",
        "wget x",
        "git push",
        "git fetch origin",
        "git clone u",
        "git -C x pull",
        "git submodule update --init",
        "npm install",
        "npm ci",
        "pip install x",
        "python3 -m pip install x",
        "cargo install x",
        "cargo fetch",
        "ssh h",
        "echo x > /dev/tcp/h/1",
        "bash -c 'curl x'",
        "echo $(curl x)",
    ] {
        assert!(look(command).network, "{command}");
    }
    for command in ["ls", "git status", "npm test", "cargo build", "grep curl x", "echo git push", "pip list"]
    {
        assert!(!look(command).network, "{command}");
    }
}

#[test]
fn a_workspace_may_lie_in_a_temporary_directory_or_be_a_home() {
    let verdict = |root: &str, command: &str| {
        let at = Surroundings { roots: vec![root.into()], home: Some("/home/u".into()), cwd: root.into() };
        match analyse(command, &at).judgement() {
            Judgement::Safe => "allow",
            Judgement::Plain => "run",
            Judgement::Risky(_) => "ask",
            Judgement::Forbidden(_) => "deny",
        }
    };
    for (root, command, expected) in [
        ("/tmp/x/ws", "echo a > b", "run"),
        ("/tmp/x/ws", "echo a > /tmp/y", "run"),
        ("/tmp/x/ws", "echo a > ../out/f", "ask"),
        ("/tmp/x/ws", "echo a > /tmp/x/out/f", "ask"),
        ("/tmp/x/ws", "rm -rf ../out", "ask"),
        ("/tmp/x/ws", "rm -rf /tmp/x", "deny"),
        ("/tmp/x/ws", "rm -rf /tmp/*", "deny"),
        ("/tmp/x/ws", "rm -rf .git", "deny"),
        ("/tmp/x/ws", "rm -rf target", "run"),
        ("/tmp/x/ws", "echo a > .git/hooks/pre-commit", "ask"),
        ("/tmp/ws", "echo a > ../out/f", "ask"),
        ("/tmp/ws", "rm -rf ../out", "ask"),
        ("/tmp/ws", "cd /tmp/y && echo a > b", "run"),
        ("/tmp/ws", "rm -rf .", "deny"),
        ("/home/u", "rm -rf ~", "deny"),
        ("/home/u", "echo a >> ~/.bashrc", "ask"),
        ("/home/u", "echo a > b", "run"),
        ("/home/u/p", "echo a > .x", "run"),
        ("/home/u/p", "rm -rf ~/p", "deny"),
        ("/home/u/p", "rm -rf ..", "deny"),
    ] {
        assert_eq!(verdict(root, command), expected, "{root}: {command}");
    }
}

#[test]
fn a_command_is_bare_when_its_words_are_all_there_is() {
    for command in [
        "cargo test -p x",
        "cargo test > out.txt 2>&1",
        "cargo test 2>/dev/null",
        "cargo test < in.txt",
        "cd sub && cargo test",
        "timeout 5 cargo test",
        "bash -c 'cargo test'",
        "if true; then cargo test; fi",
        "echo x | cargo test",
        "cargo test <<< x",
        "python3 x.py < data.txt",
        "bash x.sh",
    ] {
        let found = look(command);
        let last = found.commands.last().unwrap();
        assert!(last.bare, "{command}: {last:?}");
    }
    for command in [
        "A=1 cargo test",
        "env A=1 cargo test",
        "cargo test > ~/.bashrc",
        "cargo test > /tmp/x",
        "cargo test > .git/config",
        "cargo test >> ../x",
        "cargo test > $x",
        "cargo test < /etc/passwd",
        "{ cargo test; } > /opt/x",
        "cd .. && cargo test",
        "cd /tmp && cargo test",
        "cd $x && cargo test",
        "cd sub; cd ../..; cargo test",
        "python3 <<< x",
        "python3 - <<E\nx\nE",
        "curl x | python3",
        "python3 < x",
        "bash < x",
        "echo ls | sh -s",
        "node /dev/stdin < x",
        "ls | xargs cargo test",
        "export A=1",
        "nohup cargo test",
        "env -C /tmp cargo test",
    ] {
        let found = look(command);
        let last = found.commands.last().unwrap();
        assert!(!last.bare, "{command}: {last:?}");
    }
    let at = Surroundings { roots: vec!["/code/ws".into()], home: None, cwd: "/code/ws/sub".into() };
    assert!(analyse_argv(&["cargo".to_owned(), "test".to_owned()], &at).commands[0].bare);
    assert!(!analyse_argv(&["env".to_owned(), "A=1".to_owned(), "ls".to_owned()], &at).commands[0].bare);
    assert!(!analyse("cd .. && ls", &at).commands[1].bare);
}

#[test]
fn a_home_in_a_temporary_directory_is_still_a_home() {
    let at = Surroundings {
        roots: vec!["/var/tmp/ws".into()],
        home: Some("/var/tmp/h".into()),
        cwd: "/var/tmp/ws".into(),
    };
    for (command, expected) in [
        ("echo x >> ~/.bashrc", "ask"),
        ("echo x > ~/notes", "ask"),
        ("rm -rf ~/Documents", "ask"),
        ("cp x ~/.ssh/", "ask"),
        ("rm -rf ~", "deny"),
        ("rm -rf /var/tmp/other", "ask"),
        ("rm /tmp/x", "ask"),
        ("mv /tmp/other x", "ask"),
        ("echo x > /var/tmp/new", "run"),
        ("mkdir -p /tmp/a/b && touch /tmp/a/b/c && rm -rf /tmp/a/b", "run"),
        ("d=$(mktemp -d); touch \"$d/x\"; rm -rf \"$d\"", "run"),
    ] {
        let got = match analyse(command, &at).judgement() {
            Judgement::Safe => "allow",
            Judgement::Plain => "run",
            Judgement::Risky(_) => "ask",
            Judgement::Forbidden(_) => "deny",
        };
        assert_eq!(got, expected, "{command}");
    }
}
