//! What is decided about calls, a line a case.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use serde_json::Value;
use toolcrib_core::permission::{
    Contained, Containment, Decision, Grant, Policy, PolicyRequest, RuleBook, RuleFile, RulePolicy, Scope,
    Verdict,
};
use toolcrib_core::{CommandEffect, Effects, Judgement, PermissionSet, PolicyMode};

/// Commands joined by ` && `, each `program arguments`: `=` before it is proved safe, `?` risky, `!` forbidden, `~` not
/// to be understood; `%` before that, more than its words. `@host` reaches a host, `<path` reads, `>path` writes, `>>path` writes a sensitive one.
fn effects(text: &str) -> (Effects, Vec<(String, String)>) {
    let (mut effects, mut sensitive) = (Effects::none(), Vec::new());
    for part in text.split(" && ").filter(|part| !part.is_empty()) {
        if let Some(host) = part.strip_prefix('@') {
            effects.hosts.push(host.into());
        } else if let Some(path) = part.strip_prefix(">>") {
            effects.writes.push(path.into());
            sensitive.push((path.to_owned(), "it runs code".to_owned()));
        } else if let Some(path) = part.strip_prefix('>') {
            effects.writes.push(path.into());
        } else if let Some(path) = part.strip_prefix('<') {
            effects.reads.push(path.into());
        } else {
            effects.commands.push(command(part));
            effects.writes_anything |=
                effects.commands.iter().any(|command| command.judgement != Judgement::Safe);
        }
    }
    (effects, sensitive)
}

fn command(part: &str) -> CommandEffect {
    let judgement = match part.trim_start_matches('%').chars().next() {
        Some('=') => Judgement::Safe,
        Some('?') => Judgement::Risky("it deletes".into()),
        Some('!') => Judgement::Forbidden("it ends the machine".into()),
        Some('~') => Judgement::Risky("only running it would tell".into()),
        _ => Judgement::Plain,
    };
    let text = part.trim_start_matches(['%', '=', '?', '!', '~']);
    let words = if part.starts_with('~') { Vec::new() } else { shlex::split(text).unwrap() };
    let known = ["cargo", "git", "npm"].contains(&words.first().map_or("", String::as_str));
    let bare = !part.starts_with('%');
    CommandEffect { text: text.into(), prefix: if known { 2 } else { 1 }, words, bare, judgement }
}

fn request<'a>(
    tool: &'a str,
    effects: &'a Effects,
    sensitive: &'a [(String, String)],
    grants: &'a [Grant],
) -> PolicyRequest<'a> {
    PolicyRequest {
        tool,
        permissions: PermissionSet::all(),
        effects,
        sensitive,
        grants,
        arguments: &Value::Null,
    }
}

/// `allow KEY=VALUE KEY=VALUE; deny …` in short, or TOML.
fn toml(rules: &str) -> String {
    if rules.contains('[') && rules.contains('\n') {
        return rules.to_owned();
    }
    let rule = |text: &str| {
        let (decision, keys) = text.trim().split_once(' ').unwrap();
        let key = |pair: &str| {
            let (key, value) = pair.split_once('=').unwrap();
            let plain = ["true", "false", "3"].contains(&value) || value.starts_with('[');
            let value = if plain { value.to_owned() } else { format!("{value:?}") };
            format!("{} = {value}\n", key.trim())
        };
        format!(
            "[[permissions.rules]]\ndecision = {decision:?}\n{}",
            keys.split(", ").map(key).collect::<String>()
        )
    };
    rules.split("; ").filter(|text| !text.trim().is_empty()).map(rule).collect()
}

fn file(scope: Scope, rules: &str) -> RuleFile {
    RuleFile::parse(scope, "rules", &toml(rules)).unwrap_or_else(|why| panic!("{rules}: {why}"))
}

fn decide(mode: PolicyMode, contained: Contained, rules: &str, tool: &str, call: &str) -> Verdict {
    let (effects, sensitive) = effects(call);
    let policy = RulePolicy::new(mode)
        .rules(RuleBook::new(vec![file(Scope::User, rules)]))
        .containment(Arc::new(contained));
    policy.decide(&request(tool, &effects, &sensitive, &[]))
}

fn mode(name: &str) -> PolicyMode {
    name.parse().unwrap()
}

#[test]
fn modes() {
    // What plan, ask, auto and full say.
    for (call, expected) in [
        ("<a", "allow allow allow allow"),
        (">a", "deny ask allow allow"),
        (">>.envrc", "deny ask ask allow"),
        ("@docs.rs", "deny ask ask allow"),
        ("=ls", "allow allow allow allow"),
        ("=ls && =cat a", "allow allow allow allow"),
        ("=ls && @*", "deny ask ask allow"),
        ("=ls && >>.envrc", "deny ask ask allow"),
        ("=ls && >out.txt", "deny ask allow allow"),
        ("make", "deny ask allow allow"),
        ("make && =ls", "deny ask allow allow"),
        ("make && @*", "deny ask ask allow"),
        ("make && >>.envrc", "deny ask ask allow"),
        ("?rm -rf build", "deny ask ask allow"),
        ("make && ?rm -rf build", "deny ask ask allow"),
        ("~eval $x", "deny ask ask allow"),
        ("!rm -rf /", "deny deny deny deny"),
        ("=ls && !rm -rf /", "deny deny deny deny"),
        ("", "allow allow allow allow"),
    ] {
        let said = |name| decide(mode(name), Contained::Yes, "", "t", call).decision.as_str();
        assert_eq!(["plan", "ask", "auto", "full"].map(said).join(" "), expected, "{call}");
    }
}

#[test]
fn without_a_sandbox() {
    // Auto and full without one, then with one knowingly forgone.
    for (call, expected) in [
        ("make", "ask ask, ask allow"),
        ("?rm -rf build", "ask ask, ask allow"),
        ("=ls", "allow allow, allow allow"),
        (">a", "allow allow, allow allow"),
        ("!rm -rf /", "deny deny, deny deny"),
    ] {
        let said = |contained| {
            ["auto", "full"]
                .map(|name| decide(mode(name), contained, "", "t", call).decision.as_str())
                .join(" ")
        };
        assert_eq!(format!("{}, {}", said(Contained::No), said(Contained::Accepted)), expected, "{call}");
    }
    let why = decide(PolicyMode::Full, Contained::No, "", "t", "make").reason;
    assert!(why.contains("there is no sandbox here, so"), "{why}");
    assert_eq!(
        decide(PolicyMode::Full, Contained::No, "allow command=make", "t", "make").decision,
        Decision::Allow
    );
}

#[test]
fn the_sandbox_is_probed_only_when_it_matters() {
    struct Counting(AtomicUsize);
    impl Containment for Counting {
        fn contained(&self) -> Contained {
            self.0.fetch_add(1, Ordering::SeqCst);
            Contained::Yes
        }
    }
    let counting = Arc::new(Counting(AtomicUsize::new(0)));
    let policy = RulePolicy::new(PolicyMode::Auto).containment(counting.clone());
    for (call, expected) in
        [("<a", 0), (">a", 0), ("=ls", 0), ("@h", 0), ("make", 1), ("make && cc x && ld x", 2)]
    {
        let (effects, sensitive) = effects(call);
        policy.decide(&request("t", &effects, &sensitive, &[]));
        assert_eq!(counting.0.load(Ordering::SeqCst), expected, "{call}");
    }
}

#[test]
fn settings_that_do_not_load_are_not_the_same_as_no_sandbox() {
    struct Broken;
    impl Containment for Broken {
        fn contained(&self) -> Contained {
            Contained::No
        }
        fn broken(&self) -> Option<String> {
            Some("unknown field `levle`".into())
        }
    }
    for name in ["ask", "auto", "full"] {
        let policy = RulePolicy::new(mode(name))
            .rules(RuleBook::new(vec![file(Scope::User, "allow command=make; allow path=**")]))
            .containment(Arc::new(Broken));
        for (call, expected) in
            [("make", "deny"), ("=ls", "deny"), ("=ls && >a", "deny"), ("<a", "allow"), (">a", "allow")]
        {
            let (effects, sensitive) = effects(call);
            let said = policy.decide(&request("t", &effects, &sensitive, &[]));
            assert_eq!(said.decision.as_str(), expected, "{name} {call}");
            assert!(said.decision == Decision::Allow || said.reason.contains("levle"), "{}", said.reason);
        }
    }
}

#[test]
fn rules_about_commands() {
    for (mode_name, rules, call, expected) in [
        ("ask", "allow command=cargo test", "cargo test -p x", "allow"),
        ("ask", "allow command=cargo test", "cargo install x", "ask"),
        ("ask", "allow command=cargo test", "cargo test && =ls", "allow"),
        ("ask", "allow command=cargo test", "cargo test && make", "ask"),
        ("ask", "allow command=cargo test; allow command=make", "cargo test && make", "allow"),
        ("ask", "allow command=cargo test", "cargo test && >>.envrc", "ask"),
        ("ask", "allow command=cargo test", "cargo test && >out.txt", "ask"),
        ("plan", "allow command=cargo test", "cargo test", "deny"),
        ("ask", "allow command=[\"cargo\",[\"test\",\"check\"]]", "cargo check", "allow"),
        ("ask", "allow command=[\"cargo\",[\"test\",\"check\"]]", "cargo run", "ask"),
        // Risky ones only whole.
        ("ask", "allow command=rm", "?rm -rf build", "ask"),
        ("ask", "allow command=rm -rf build", "?rm -rf build", "allow"),
        ("ask", "allow command=rm -rf build", "?rm -rf build src", "ask"),
        ("ask", "allow glob=rm -rf *", "?rm -rf build", "ask"),
        ("ask", "allow glob=rm * build", "?rm -rf build", "allow"),
        ("auto", "allow command=git push origin", "?git push origin && make", "allow"),
        // More than its words: never by a rule, and refused as before.
        ("ask", "allow command=cargo test", "%cargo test", "ask"),
        ("ask", "allow command=cargo test, exact=true", "%cargo test", "ask"),
        ("ask", "allow glob=cargo test", "%cargo test", "ask"),
        ("ask", "allow command=cargo test", "cargo test && %cargo test", "ask"),
        ("ask", "allow command=rm -rf build", "%?rm -rf build", "ask"),
        ("ask", "allow command=npm install, network=true; allow host=*", "%npm install && @*", "ask"),
        ("full", "deny command=cargo test", "%cargo test", "deny"),
        ("full", "ask command=cargo", "%cargo test", "ask"),
        ("ask", "", "%=ls", "allow"),
        ("auto", "", "%cargo test", "allow"),
        // Not to be understood: never by a rule.
        ("ask", "allow command=eval", "~eval $x", "ask"),
        ("ask", "allow glob=eval *", "~eval $x", "ask"),
        // Exact ones.
        ("ask", "allow command=make all, exact=true", "make all", "allow"),
        ("ask", "allow command=make all, exact=true", "make all install", "ask"),
        // Globs over the whole line.
        ("ask", "allow glob=npm run test:*", "npm run test:unit", "allow"),
        ("ask", "allow glob=npm run test:*", "npm run build", "ask"),
        ("ask", "allow glob=npm run test", "npm run test x", "ask"),
        ("ask", "allow glob=npm run test:*", "'npm run test:/../evil'", "ask"),
        // Spelled by a path.
        ("full", "deny command=git push", "/usr/bin/git push", "deny"),
        ("full", "deny command=git push", "/opt/x/git -C y push", "deny"),
        ("full", "deny glob=git push*", "/opt/git push origin", "deny"),
        ("full", "ask command=git push", "env git push", "ask"),
        ("ask", "allow command=git push", "/opt/git push", "ask"),
        ("ask", "allow command=git push", "/usr/bin/git push", "allow"),
        // The strictest wins, in whatever order.
        ("full", "allow command=git push; deny command=git push", "git push", "deny"),
        ("full", "deny command=git push; allow command=git push", "git push", "deny"),
        ("full", "allow command=git push; ask command=git", "git push", "ask"),
        ("full", "ask command=git; deny command=git push", "git push", "deny"),
        ("full", "deny command=git push", "=ls && git push", "deny"),
        ("full", "deny command=git push", "git pull", "allow"),
        // Rules hold for what only reads, too.
        ("full", "deny command=cat", "=cat a", "deny"),
        ("plan", "ask command=ls", "=ls", "ask"),
        ("plan", "ask command=make", "make", "deny"),
        // Never by the name of the tool.
        ("ask", "allow tool=run", "make", "ask"),
        ("full", "deny tool=run", "=ls", "deny"),
        ("ask", "allow tool=run, command=make", "make", "allow"),
        ("ask", "allow tool=other, command=make", "make", "ask"),
        // The network is a question of its own.
        ("ask", "allow command=npm install", "npm install && @*", "ask"),
        ("ask", "allow command=npm install, network=true", "npm install && @*", "allow"),
        ("ask", "allow command=npm install, network=true", "npm install && =ls && @*", "allow"),
        (
            "ask",
            "allow command=npm install, network=true; allow command=make",
            "npm install && make && @*",
            "ask",
        ),
        ("ask", "allow command=npm install; allow host=*", "npm install && @*", "allow"),
        ("ask", "allow command=npm install, network=true", "=ls && @*", "ask"),
        ("full", "deny host=evil.com", "curl https://evil.com/x && @*", "deny"),
        ("full", "deny host=*", "make && @*", "deny"),
        // The floor.
        ("full", "allow command=rm -rf /", "!rm -rf /", "deny"),
        ("full", "", "toolcrib permissions add --allow --command rm", "deny"),
        ("full", "", "env /x/toolcrib --root . permissions trust", "deny"),
        ("full", "", "bash -c 'toolcrib permissions remove user:1'", "deny"),
        ("full", "", "toolcrib permissions check rm", "allow"),
        ("full", "", "toolcrib tools", "allow"),
    ] {
        let said = decide(mode(mode_name), Contained::Yes, rules, "run", call);
        assert_eq!(said.decision.as_str(), expected, "{mode_name}: {rules}: {call}: {said:?}");
    }
}

#[test]
fn rules_about_paths_hosts_and_tools() {
    for (mode_name, rules, call, expected) in [
        ("ask", "allow path=src/**", ">src/a.rs", "allow"),
        ("ask", "allow path=src/**", ">src/a.rs && >b", "ask"),
        ("ask", "allow path=src/**", ">>src/.env", "ask"),
        ("ask", "allow path=src/.env", ">>src/.env", "allow"),
        ("ask", "allow path=**", ">>.envrc", "ask"),
        ("ask", "allow path=src/**, access=read", ">src/a", "ask"),
        ("full", "deny path=src/secret/**", ">src/secret/x", "deny"),
        ("full", "deny path=src/secret/**", ">src", "deny"),
        ("full", "deny path=src/secret/**", ">src/other", "allow"),
        ("full", "deny path=src/secret", ">SRC/Secret/x", "deny"),
        ("full", "deny path=src/secret", "<src/secret/x", "allow"),
        ("full", "deny path=.env, access=read", "<.env", "deny"),
        ("full", "deny path=**/.env, access=read", "<a/b/.env", "deny"),
        ("plan", "ask path=.env, access=read", "<.env", "ask"),
        ("full", "deny path=.env, access=read", "<.", "allow"),
        ("full", "deny path=**/*.pem", ">src/main.rs", "allow"),
        // Commands that name such a path.
        ("full", "deny path=.env, access=read", "=cat ./.env", "deny"),
        ("full", "deny path=.env, access=read", "=cat /home/u/p/.env", "deny"),
        ("full", "deny path=src/secret", "?rm -rf src", "deny"),
        ("full", "deny path=src/secret", "=ls src", "allow"),
        ("full", "deny path=build/**", "cargo build", "allow"),
        ("full", "deny path=build/**", "?rm -r build", "deny"),
        ("full", "deny path=build/**", "bash -c 'rm -r build/x'", "deny"),
        ("ask", "allow host=docs.rs", "@docs.rs", "allow"),
        ("ask", "allow host=*.docs.rs", "@a.docs.rs", "allow"),
        ("ask", "allow host=*.docs.rs", "@evil-docs.rs", "ask"),
        ("ask", "allow host=docs.rs", "@docs.rs && @evil.com", "ask"),
        ("full", "deny host=*.evil.com", "@a.EVIL.com", "deny"),
        ("ask", "allow tool=run", ">a", "allow"),
        ("ask", "allow tool=r*", ">a", "allow"),
        ("ask", "allow tool=run", ">>.envrc", "ask"),
        ("ask", "allow tool=run", "@docs.rs", "ask"),
        ("ask", "allow tool=other", ">a", "ask"),
        ("full", "deny tool=run", "<a", "deny"),
        ("full", "ask tool=run, path=src/**", ">src/a", "ask"),
        ("full", "ask tool=other, path=src/**", ">src/a", "allow"),
    ] {
        let said = decide(mode(mode_name), Contained::Yes, rules, "run", call);
        assert_eq!(said.decision.as_str(), expected, "{mode_name}: {rules}: {call}: {said:?}");
    }
}

/// `user:3f9a (…)` as `user:KEY (…)`.
fn without_key(id: &str) -> String {
    let Some((scope, rest)) = id.split_once(':') else { return id.to_owned() };
    let key: String = rest.chars().take_while(char::is_ascii_hexdigit).collect();
    assert!(key.len() >= 4, "{id}");
    format!("{scope}:KEY{}", rest.strip_prefix(&key).unwrap())
}

#[test]
fn a_rule_keeps_its_id_whatever_comes_and_goes() {
    let rules = ["allow command=make", "deny command=git push, reason=No.", "allow path=src/**"];
    let all = file(Scope::Granted, &rules.join("; "));
    for (at, rule) in rules.iter().enumerate() {
        let alone = file(Scope::Granted, rule);
        assert_eq!(alone.id(0), all.id(at));
        assert_eq!(all.find(all.key(at).unwrap()).unwrap(), at);
    }
    let same = |a: &str, b: &str| file(Scope::User, a).key(0) == file(Scope::User, b).key(0);
    assert!(same("allow command=make all", "allow command=[\"make\",\"all\"]"), "however it is written");
    assert!(same("allow command=make, reason=a", "allow command=make"));
    for other in ["deny command=make", "allow command=make, exact=true", "allow command=make, network=true"] {
        assert!(!same("allow command=make", other), "{other}");
    }
    for wrong in ["", "1", "2", "0", "zz", "ffff0", "3f"] {
        assert!(all.find(wrong).is_err(), "{wrong}");
    }
    let said = all.find("2").unwrap_err();
    assert!(said.contains(&format!("granted:{}", all.key(1).unwrap())), "{said}");
    // So many that four digits are not enough: each has an id of its own, and the short one is not guessed about.
    let many: Vec<String> = (0..1_500).map(|index| format!("allow command=make t{index}")).collect();
    let many = file(Scope::Granted, &many.join("; "));
    let mut keys: Vec<&str> = (0..1_500).map(|at| many.key(at).unwrap()).collect();
    let long = *keys.iter().max_by_key(|key| key.len()).unwrap();
    let short: String = long.chars().take(4).collect();
    assert!(long.len() > 4 && many.find(&short).unwrap_err().contains("several"), "{long}");
    assert!((0..1_500).all(|at| many.find(many.key(at).unwrap()) == Ok(at)));
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 1_500);
}

#[test]
fn a_verdict_names_what_decided() {
    for (mode_name, rules, call, rule) in [
        (
            "ask",
            "deny command=x; allow command=y; deny command=git push",
            "git push",
            "user:KEY (command \"git push\")",
        ),
        (
            "ask",
            "allow command=[\"a\",[\"b\",\"c\"]], tool=run",
            "a c",
            "user:KEY (command \"a (b|c)\", tool \"run\")",
        ),
        ("ask", "", "make", "mode ask"),
        ("full", "", "make", "mode full"),
        ("full", "", "!rm", "floor"),
    ] {
        let said = decide(mode(mode_name), Contained::Yes, rules, "run", call).rule.unwrap();
        assert_eq!(without_key(&said), rule);
    }
    assert_eq!(decide(PolicyMode::Ask, Contained::Yes, "", "run", "=ls").rule, None);
    let said = decide(
        PolicyMode::Full,
        Contained::Yes,
        "deny command=git push, reason=Releases are made by CI.",
        "run",
        "git push",
    );
    assert!(said.reason.starts_with("Releases are made by CI."), "{}", said.reason);
    let asked = decide(PolicyMode::Ask, Contained::Yes, "allow command=make", "run", "%make");
    assert!(asked.reason.contains("no rule or grant reaches it"), "{}", asked.reason);
    let both = decide(PolicyMode::Auto, Contained::Yes, "", "run", "?rm x && @*");
    assert_eq!(both.reason, "`rm x`: it deletes; it reaches the network");
    for (call, reason) in [
        ("touch x && >x", "the policy is `ask`; not proved to read only: `touch x`; writes x"),
        ("make && cc a && make", "the policy is `ask`; not proved to read only: `make`, `cc a`"),
        (">a && >ab && >a\nb", "the policy is `ask`; writes a, ab, a\\nb"),
        (">>.envrc && @h", "the policy is `ask`; .envrc: it runs code; it reaches the network"),
    ] {
        assert_eq!(decide(PolicyMode::Ask, Contained::Yes, "", "run", call).reason, reason);
    }
    let many: Vec<String> = (0..20).map(|index| format!("cc {index}")).collect();
    let many = decide(PolicyMode::Full, Contained::No, "", "run", &many.join(" && ")).reason;
    assert!(many.starts_with("there is no sandbox here, so it is asked for: `cc 0`, `cc 1`"), "{many}");
    assert!(many.ends_with("; and 11 more"), "{many}");
}

#[test]
fn what_does_not_load_says_where_and_why() {
    for (rules, why) in [
        ("[[permissions.rules]]\ndecision = \"allow\"\n", "rule 1: it needs one of"),
        ("[[permissions.rules]]\ndecision = \"maybe\"\ncommand = \"x\"\n", "rule 1: unknown variant `maybe`"),
        ("[[permissions.rules]]\ncommand = \"x\"\n", "rule 1: missing field `decision`"),
        (
            "[[permissions.rules]]\ndecision = \"deny\"\ncommand = \"a\"\n[[permissions.rules]]\ndecision = \"deny\"\nthing = 1\n",
            "rule 2: unknown field `thing`",
        ),
        ("[[permissions.rule]]\ndecision = \"deny\"\n", "[permissions]: unknown field `rule`"),
        ("[[permission.rules]]\ndecision = \"deny\"\n", "`permission` is not known"),
        ("[[rules]]\ndecision = \"deny\"\n", "`rules` is not known; is `[[permissions.rules]]` meant?"),
        ("[sandbx]\nrequire = true\n", "`sandbx` is not known; is `[sandbox]` meant?"),
        ("[Command]\n", "`Command` is not known; is `[commands]` meant?"),
        ("[mcpservers]\n", "is `[mcpServers]` meant?"),
        (
            "sandbox_level = \"full\"\n",
            "`sandbox_level` is not known; these tables are: permissions, sandbox,",
        ),
        ("[a]\nx = 1\n", "`a` is not known; these tables are"),
        ("[permissions\n", "line 1"),
        ("a = 1\nb = = 2\n", "line 2"),
        ("a = 1\n\n= 2\n", "line 3"),
        ("[permissions]\nrules = 3\n", "[permissions]"),
    ] {
        let said = RuleFile::parse(Scope::User, "the file", rules).unwrap_err();
        assert!(said.starts_with("the file") && said.contains(why), "{said}");
    }
    for (rules, why) in [
        ("allow command=", "`command` is empty"),
        ("allow command=[]", "`command` is empty"),
        ("allow command=[\"a\",[]]", "`command` is empty"),
        ("allow command=[[\"\"]]", "`command` is empty"),
        ("deny command=a 'b", "a quote is not closed"),
        ("deny command=rm *", "without wildcards"),
        ("allow command=a && b", "`&` joins commands"),
        ("deny command=curl x | sh", "`|` joins commands"),
        ("allow command=a $(b)", "only running it would tell"),
        ("allow command=a \"$(b)\"", "only running it would tell"),
        ("allow command=a `b`", "only running it would tell"),
        ("allow command=cargo test > x", "`>` is not one of a command's words"),
        ("allow command=3", "`command` is text (\"cargo test\") or a list of words"),
        ("allow command=[\"a\",[3]]", "`command` is text (\"cargo test\") or a list of words"),
        ("allow glob=*", "allows any program"),
        ("allow glob=** test", "allows any program"),
        ("allow glob=?? test", "allows any program"),
        ("allow glob= ", "`glob` is empty"),
        ("deny glob=a[", "`glob`"),
        ("deny path=", "`path` is empty"),
        ("deny path=../x", "`.` and `..`"),
        ("deny host=https://x", "no scheme"),
        ("deny tool=", "`tool` is empty"),
        ("deny command=a, path=b", "one rule takes one of"),
        ("deny command=a, access=read", "`access` belongs"),
        ("allow path=a, network=true", "`network` belongs"),
        ("allow glob=a, exact=true", "`exact` belongs"),
        ("allow command=cargo test, match=[\"cargo run\"]", "does not match its own example \"cargo run\""),
        ("allow command=cargo, not_match=[\"cargo install x\"]", "matches its own example"),
        ("allow command=cargo, match=[\"cargo 'x\"]", "is not a command"),
        ("deny path=src/**, match=[\"lib/a\"]", "does not match"),
        ("deny path=.env, access=read, not_match=[\".env\"]", "matches"),
        ("deny host=*.docs.rs, match=[\"docs.rs\"]", "does not match"),
        ("deny tool=edit_*, match=[\"read_file\"]", "does not match"),
    ] {
        let said = RuleFile::parse(Scope::User, "f", &toml(rules)).unwrap_err();
        assert!(said.starts_with("f: rule 1: ") && said.contains(why), "{rules}: {said}");
    }
    let fine = "allow command=cargo test, match=[\"cargo test -p x\",\"/bin/cargo test\"], not_match=[\"cargo install x\"]; \
        deny command=git push, match=[\"/x/git -C y push\"]; deny glob=*--force*, match=[\"git push --force\"]";
    assert_eq!(file(Scope::User, fine).rules().len(), 3);
    let quoted = "allow command=echo 'a && b'; allow command=find . \\\\( -name x \\\\); allow command=[\"echo\",\"&&\"]; \
        allow command=echo $HOME; deny command=echo '$(b)'";
    assert_eq!(file(Scope::User, &quoted.replace("\\\\", "\\")).rules().len(), 5);
    assert_eq!(file(Scope::User, "[web]\nx = 1\n").rules().len(), 0, "other tables are not ours");
}

#[test]
fn a_file_that_does_not_load_denies_all_but_reading() {
    let book = RuleBook::new(vec![
        file(Scope::User, "allow command=make; allow path=**"),
        RuleFile::broken(Scope::Project, "the file: rule 1: it is wrong"),
    ]);
    let policy = RulePolicy::new(PolicyMode::Full).rules(book).containment(Arc::new(Contained::Yes));
    for (call, expected) in [
        ("<a", "allow"),
        ("=ls", "allow"),
        (">a", "deny"),
        ("make", "deny"),
        ("@h", "deny"),
        ("=ls && >a", "deny"),
    ] {
        let (effects, sensitive) = effects(call);
        let said = policy.decide(&request("t", &effects, &sensitive, &[]));
        assert_eq!(said.decision.as_str(), expected, "{call}");
        assert!(said.decision == Decision::Allow || said.reason.contains("rule 1: it is wrong"));
    }
    let anything = Effects { writes_anything: true, ..Effects::none() };
    assert_eq!(policy.decide(&request("t", &anything, &[], &[])).decision, Decision::Deny);
}

#[test]
fn a_project_only_tightens_until_it_is_trusted() {
    let rules = "allow command=make; deny command=git push";
    for (trusted, call, expected) in [
        (false, "make", "ask"),
        (true, "make", "allow"),
        (false, "git push", "deny"),
        (true, "git push", "deny"),
    ] {
        let book = RuleBook::new(vec![file(Scope::Project, rules).trusted(trusted)]);
        let (effects, _) = effects(call);
        let said = RulePolicy::new(PolicyMode::Ask).rules(book).decide(&request("t", &effects, &[], &[]));
        assert_eq!(said.decision.as_str(), expected, "{trusted} {call}");
    }
}

/// What a standing yes to a call covers, if anything.
fn grant(tool: &str, call: &str) -> Option<Grant> {
    let (effects, sensitive) = effects(call);
    Grant::for_request(&request(tool, &effects, &sensitive, &[]))
}

#[test]
fn grants_cover_what_was_shown_and_no_more() {
    // A yes to the first call, then another: in the session, and kept as rules.
    for (granted, call, expected) in [
        ("cargo test -p a", "cargo test -p b", "allow"),
        ("cargo test -p a", "cargo run", "ask"),
        ("cargo test -p a", "cargo test && @*", "ask"),
        ("cargo test && @*", "cargo test -p b && @*", "allow"),
        ("cargo test && git add x", "git add y && cargo test", "allow"),
        ("cargo test && git add x", "git add y && make", "ask"),
        ("cargo test && =ls", "cargo test && =cat x", "allow"),
        ("curl https://a && @*", "curl https://a && @*", "allow"),
        ("curl https://a && @*", "curl https://a -o ~/.bashrc && @*", "ask"),
        ("curl https://a && @*", "curl https://b && @*", "ask"),
        ("python3.12 x.py", "python3.12 y.py", "ask"),
        ("/usr/bin/bash a.sh", "/usr/bin/bash b.sh", "ask"),
        ("make all", "make install", "ask"),
        ("psql -c 'select 1'", "psql -c 'drop table x'", "ask"),
        ("sqlite3 a.db", "sqlite3 b.db", "ask"),
        ("kubectl get pods", "kubectl delete pods", "ask"),
        ("terraform plan", "terraform apply", "ask"),
        ("terraform plan", "terraform plan", "allow"),
        ("http example.org", "http example.com", "ask"),
        ("gpg2 --verify a", "gpg2 --export-secret-keys", "ask"),
        ("cargo test", "%cargo test", "ask"),
        ("cargo test && @*", "%cargo test && @*", "ask"),
        ("cargo test && %=ls", "cargo test -p b", "allow"),
        ("?git push origin", "?git push origin", "allow"),
        ("?git push origin", "?git push --force", "ask"),
        ("git push origin", "?git push --force", "ask"),
        ("=ls && @*", "=ls && @*", "allow"),
        ("=ls && @*", "=cat x && @*", "ask"),
        ("git commit -m 'a b' && >out", "git commit -m c && >out", "allow"),
        ("git commit -m 'a b' && >out", "git commit -m c && >other", "ask"),
        (">a", ">b", "allow"),
        (">a", ">>.envrc", "ask"),
        (">a", "make", "ask"),
        (">a", "@h", "ask"),
        (">>.envrc", ">>.envrc", "allow"),
        (">>.envrc && >b", ">>.envrc && >b", "allow"),
        (">>.envrc", ">b", "ask"),
        (">>a*[b]", ">>a*[b]", "allow"),
        (">>a*[b]", ">>axb", "ask"),
        ("@docs.rs", "@docs.rs", "allow"),
        ("@docs.rs", "@a.docs.rs", "ask"),
        ("@docs.rs", ">a", "ask"),
    ] {
        let given = grant("t", granted).unwrap();
        let (effects, sensitive) = effects(call);
        let decide = |policy: RulePolicy, grants: &[Grant]| {
            policy.decide(&request("t", &effects, &sensitive, grants)).decision.as_str()
        };
        let session = decide(RulePolicy::new(PolicyMode::Ask), std::slice::from_ref(&given));
        assert_eq!(session, expected, "session: {granted}: {call}");
        let text: String = given
            .to_rules()
            .iter()
            .map(|rule| format!("[[permissions.rules]]\n{}", toml_text(rule)))
            .collect();
        let book = RuleBook::new(vec![RuleFile::parse(Scope::Granted, "grants", &text).unwrap()]);
        assert_eq!(
            decide(RulePolicy::new(PolicyMode::Ask).rules(book), &[]),
            expected,
            "kept: {granted}: {call}"
        );
    }
    assert_eq!(grant("t", "~eval $x"), None, "nobody can say what it would cover");
    assert_eq!(grant("t", "make && ~eval $x"), None);
    for call in ["%make", "%?rm x", "cargo test && %make", "%=ls && @*", "%=ls && >out"] {
        assert_eq!(grant("t", call), None, "{call}: more than its words");
    }
    let other = grant("u", ">a").unwrap();
    let (effects, _) = effects(">a");
    let said = RulePolicy::new(PolicyMode::Ask).decide(&request("t", &effects, &[], &[other]));
    assert_eq!(said.decision, Decision::Ask, "a grant is for one tool");
}

fn toml_text(rule: &impl serde::Serialize) -> String {
    toml::to_string(rule).unwrap()
}

#[test]
fn grants_say_what_they_cover() {
    for (call, described, line) in [
        ("cargo test -p a", "`cargo test` with any arguments after it", "--command 'cargo test'"),
        ("?rm -rf 'a b'", "`rm -rf 'a b'` exactly as it stands", "--command \"rm -rf 'a b'\" --exact"),
        (
            "npm install && @*",
            "`npm install` with any arguments after it, with network",
            "--command 'npm install' --network",
        ),
        (">a", "t on ordinary files of this workspace", "--tool t"),
        (">>.envrc", "t on .envrc", "--tool t --path .envrc"),
        (">>a\n[y] b", "t on a\\n[y] b", "--tool t --path 'a\n[[]y[]] b'"),
        ("?rm 'a\n[s] b'", "`rm 'a\\n[s] b'` exactly as it stands", "--command \"rm 'a\n[s] b'\" --exact"),
        ("@docs.rs", "t reaching docs.rs", "--tool t --host docs.rs"),
    ] {
        let grant = grant("t", call).unwrap();
        assert_eq!(grant.describe(), described);
        assert_eq!(grant.command_line(), format!("toolcrib permissions add --allow {line}"));
    }
}

#[test]
fn a_rule_that_wants_asking_is_not_answered_for_good() {
    let (effects, _) = effects("make");
    let given = grant("t", "make").unwrap();
    let book = RuleBook::new(vec![
        file(Scope::User, "ask command=make"),
        file(Scope::Granted, "allow command=make"),
    ]);
    let said = RulePolicy::new(PolicyMode::Full).rules(book).decide(&request("t", &effects, &[], &[given]));
    assert_eq!((said.decision, said.grantable), (Decision::Ask, false));
}

const RULES: [&str; 14] = [
    "command=cargo test",
    "command=git",
    "command=git push",
    "command=rm -rf build",
    "glob=npm run *",
    "glob=git push*",
    "path=src/**",
    "path=.env, access=read",
    "path=.envrc",
    "host=docs.rs",
    "host=*",
    "tool=t",
    "tool=u",
    "command=npm install, network=true",
];
const PARTS: [&str; 16] = [
    "cargo test -p x",
    "/usr/bin/git push",
    "?git push --force",
    "?rm -rf build",
    "npm run x",
    "npm install",
    "=ls",
    "=cat .env",
    "~eval $x",
    "!rm -rf /",
    ">src/a",
    ">>.envrc",
    "<.env",
    "@docs.rs",
    "@*",
    ">b",
];

proptest! {
    /// Whatever else is there, one more rule that denies or asks makes nothing more permissive, and one more that allows
    /// nothing stricter; the floor stays.
    #[test]
    fn rules_only_push_their_way(
        rules in prop::collection::vec((0..3usize, 0..RULES.len()), 0..5),
        more in (0..3usize, 0..RULES.len()),
        at in 0..5usize,
        call in prop::collection::vec(0..PARTS.len(), 1..4),
        mode in 0..4usize,
        sandbox in 0..3usize,
    ) {
        let text = |(decision, rule): &(usize, usize)| format!("{} {}", ["allow", "ask", "deny"][*decision], RULES[*rule]);
        let before: Vec<String> = rules.iter().map(text).collect();
        let mut after = before.clone();
        after.insert(at.min(before.len()), text(&more));
        let mode = [PolicyMode::Plan, PolicyMode::Ask, PolicyMode::Auto, PolicyMode::Full][mode];
        let contained = [Contained::Yes, Contained::No, Contained::Accepted][sandbox];
        let call: Vec<&str> = call.iter().map(|part| PARTS[*part]).collect();
        let said = |rules: &[String]| decide(mode, contained, &rules.join("; "), "t", &call.join(" && ")).decision;
        let (was, is) = (said(&before), said(&after));
        if more.0 == 0 { prop_assert!(is <= was, "{before:?} + {}: {was:?} -> {is:?}", text(&more)) }
        else { prop_assert!(is >= was, "{before:?} + {}: {was:?} -> {is:?}", text(&more)) }
        if call.contains(&"!rm -rf /") { prop_assert_eq!(is, Decision::Deny) }
    }
}
