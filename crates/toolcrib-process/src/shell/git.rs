//! git: which of its many commands only read, which destroy work, and which run something else.

use super::Judgement;
use super::args::{Args, listed};
use super::longs;
use super::programs::Cmd;
use super::run::Run;
use super::word::Word;

/// Commands that only read, with the words that they must not have.
const READS: &[(&str, &[&str])] = &[
    ("status", &[]),
    ("log", &[]),
    ("diff", &["--no-index"]),
    ("show", &[]),
    ("rev-parse", &[]),
    ("ls-files", &[]),
    ("ls-tree", &[]),
    ("blame", &[]),
    ("annotate", &[]),
    ("describe", &[]),
    ("shortlog", &[]),
    ("rev-list", &[]),
    ("cat-file", &["--filters"]),
    ("name-rev", &[]),
    ("merge-base", &[]),
    ("for-each-ref", &[]),
    ("show-ref", &["--exclude-existing"]),
    ("show-branch", &[]),
    ("diff-tree", &[]),
    ("diff-index", &[]),
    ("diff-files", &[]),
    ("grep", &[]),
    ("whatchanged", &[]),
    ("count-objects", &[]),
    ("check-ignore", &[]),
    ("check-attr", &[]),
    ("cherry", &[]),
    ("range-diff", &[]),
    ("version", &[]),
    ("var", &[]),
];

/// Options that make even a reading command run or write something.
const READS_NOT: &[&str] = &[
    "--output",
    "--ext-diff",
    "--textconv",
    "--open-files-in-pager",
    "-O",
    "--no-index",
    "--upload-pack",
    "--exec",
    "--paginate",
    "--contents",
    "--show-signature",
    "--filters",
    "-o",
];

/// Commands that change the repository in ordinary ways.
const PLAIN: &str = "add commit branch tag checkout switch merge rebase pull fetch push clone init mv rm stash remote \
    config reset restore revert cherry-pick apply am format-patch worktree submodule bisect notes \
    clean gc reflog archive bundle sparse-checkout update-index hash-object write-tree commit-tree \
    read-tree symbolic-ref update-ref fsck maintenance rerere lfs help ls-remote repack pack-refs \
    prune mktree unpack-objects stage replace mailinfo interpret-trailers column request-pull \
    commit-graph multi-pack-index checkout-index merge-tree verify-commit verify-tag check-ref-format get-tar-commit-id flow absorb \
    diagnose";

/// Commands that run other programs or give away secrets.
const RUNS: &str = "difftool mergetool filter-branch filter-repo send-email credential daemon instaweb web--browse \
    hook p4 svn shell upload-pack receive-pack http-backend cvsserver imap-send gui citool gitk \
    fast-import credential-store credential-cache remote-ext remote-fd for-each-repo scalar \
    quiltimport archimport bugreport";

/// Settings that are harmless to give.
const SETTINGS: &str = "color. user.name user.email core.quotepath advice. log. init.defaultbranch commit.gpgsign=false \
    tag.gpgsign=false core.autocrlf core.eol diff.renames diff.renamelimit diff.noprefix pull.rebase \
    pull.ff merge.conflictstyle merge.ff push.default fetch.prune core.filemode core.ignorecase \
    column. status. rebase.autostash core.pager=cat core.pager= core.longpaths rerere.enabled \
    gc.auto branch. core.abbrev push.autosetupremote diff.algorithm diff.colormoved grep. \
    core.whitespace http.postbuffer safe.directory";

/// git taken apart.
struct Parts<'w> {
    /// What comes before the command is harmless.
    globals: Judgement,
    /// Whether nothing comes before the command but what only concerns printing.
    bare: bool,
    name: String,
    args: Args<'w>,
}

fn parts<'w>(run: &mut Run<'_>, words: &'w [Word]) -> Parts<'w> {
    let mut globals = Judgement::Plain;
    let mut bare = true;
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        let text = word.text.as_str();
        if !text.starts_with('-') {
            break;
        }
        rest = after;
        match text {
            "--no-pager" | "-P" | "--literal-pathspecs" | "--no-optional-locks" => {}
            "--version" | "-v" | "--help" | "-h" => {
                return Parts { globals, bare, name: "version".to_owned(), args: Args(&[]) };
            }
            "-C" => {
                let (Some(place), more) = (rest.first(), rest.get(1..)) else { break };
                rest = more.unwrap_or_default();
                let paths = run.scope.paths(place);
                let inside = paths.iter().all(|path| run.at.roots.iter().any(|root| path.starts_with(root)));
                bare &= inside && !paths.is_empty();
            }
            "-c" => {
                let (setting, more) = (rest.first(), rest.get(1..));
                rest = more.unwrap_or_default();
                bare = false;
                if !setting.is_some_and(|word| word.known && is_harmless(&word.text)) {
                    globals = Judgement::risky("gives git a setting that may run something");
                }
            }
            _ => {
                bare = false;
                if !matches!(text, "-p" | "--paginate" | "--bare" | "--no-replace-objects") {
                    globals = Judgement::risky("points git to another place or program");
                }
                if matches!(
                    text,
                    "--git-dir"
                        | "--work-tree"
                        | "--namespace"
                        | "--exec-path"
                        | "--config-env"
                        | "--super-prefix"
                ) {
                    rest = rest.get(1..).unwrap_or_default();
                }
            }
        }
    }
    let name = rest.first().map_or(String::new(), |word| word.text.clone());
    Parts { globals, bare, name, args: Args(rest.get(1..).unwrap_or_default()) }
}

fn is_harmless(setting: &str) -> bool {
    let setting = setting.to_ascii_lowercase();
    SETTINGS.split_ascii_whitespace().any(|kept| {
        if kept.ends_with('.') || kept.ends_with("=cat") {
            setting.starts_with(kept)
        } else {
            setting == *kept || setting.starts_with(&format!("{kept}=")) && !kept.ends_with('=')
        }
    }) && !setting.contains('!')
}

/// Whether git would only read.
pub(super) fn is_safe(run: &mut Run<'_>, words: &[Word]) -> bool {
    let parts = parts(run, words);
    // Asking for a signature runs whatever checks it.
    let signed = parts.args.0.iter().any(|word| word.text.contains("%G"));
    if !parts.bare || parts.globals != Judgement::Plain || parts.args.begins(READS_NOT) || signed {
        return false;
    }
    let args = parts.args;
    let name = Word::exact(&parts.name);
    let named: Vec<Word> = std::iter::once(name).chain(args.0.iter().cloned()).collect();
    if !longs::are_known("git", Args(&named)) {
        return false;
    }
    let operands = args.operands();
    let only = |allowed: &[&str]| args.0.iter().all(|word| allowed.contains(&word.text.as_str()));
    match parts.name.as_str() {
        "branch" => {
            let listing = [
                "-a",
                "-r",
                "-v",
                "-vv",
                "--list",
                "-l",
                "--all",
                "--remotes",
                "--show-current",
                "--verbose",
                "--no-color",
                "-av",
                "-avv",
                "-rv",
            ];
            args.any(&["--list", "-l"])
                && !args.short("dDmMcCuf")
                && !args.begins(&[
                    "--delete",
                    "--move",
                    "--copy",
                    "--set-up",
                    "--edit",
                    "--force",
                    "--unset",
                    "--track",
                    "--no-track",
                    "--create",
                ])
                || only(&listing)
                || (args.begins(&["--contains", "--merged", "--no-merged", "--points-at"])
                    && operands.len() <= 1
                    && !args.short("dDmMcCuf"))
        }
        "tag" => args.0.is_empty() || (args.any(&["-l", "--list", "-n"]) && !args.short("dafsumF")),
        "remote" => only(&["-v", "--verbose"]) || operands.first().is_some_and(|word| word.text == "get-url"),
        "stash" => operands.first().is_some_and(|word| matches!(word.text.as_str(), "list" | "show")),
        "worktree" => operands.first().is_some_and(|word| word.text == "list"),
        "reflog" => operands.first().is_none_or(|word| word.text == "show"),
        "submodule" => operands.first().is_some_and(|word| word.text == "status"),
        "config" => {
            let list = args.0.iter().all(|word| {
                matches!(
                    word.text.as_str(),
                    "--list" | "-l" | "--show-origin" | "--show-scope" | "--name-only" | "--local"
                )
            });
            list && args.any(&["--list", "-l"])
                || args.begins(&["--get"])
                    && operands.len() == 1
                    && !operands.iter().any(|word| word.text.contains("token"))
        }
        "symbolic-ref" => operands.len() == 1 && !args.short("dm") && !args.long("delete"),
        "bisect" => operands.first().is_some_and(|word| word.text == "log"),
        name => READS.iter().any(|(read, not)| *read == name && !args.any(not)),
    }
}

/// What is bad about a git command.
pub(super) fn judge(run: &mut Run<'_>, cmd: &Cmd<'_>) -> Judgement {
    let Parts { globals, name, args, .. } = parts(run, cmd.args.0);
    let mut worst = if globals == Judgement::Plain { Judgement::Safe } else { globals };
    let dynamic = cmd.args.0.iter().take_while(|word| word.text != name).any(|word| !word.known);
    if dynamic || name.contains('\u{fffc}') {
        worst = worst.worst(Judgement::risky("what git does is only known by running it"));
    }
    let known = READS.iter().any(|(read, _)| *read == name) || listed(PLAIN, &name);
    if listed(RUNS, &name) {
        worst = worst.worst(Judgement::risky("makes git run other programs"));
    } else if !known && !name.is_empty() {
        worst = worst.worst(Judgement::risky("not a command of git itself"));
    }
    if let Some(reason) = destroys(&name, args).or_else(|| runs(&name, args)) {
        worst = worst.worst(Judgement::risky(reason));
    }
    worst.worst(places(run, &name, args))
}

/// Whether work would be lost.
fn destroys(name: &str, args: Args<'_>) -> Option<&'static str> {
    let operands = args.operands();
    let first = operands.first().map_or("", |word| word.text.as_str());
    let whole =
        |word: &&Word| matches!(word.text.as_str(), "." | "./" | "*" | ":/" | ":" | "..") || word.glob;
    let lost = match name {
        "reset" => args.long("hard") || args.long("merge") || args.long("keep"),
        "clean" => !(args.short("n") || args.long("dry-run")),
        "checkout" => {
            args.short("f")
                || args.long("force")
                || args.any(&["--"])
                || args.any(&["--ours", "--theirs"])
                || operands.iter().any(whole)
                || args.any(&["-B"])
        }
        "checkout-index" => args.short("f"),
        "switch" => args.short("fC") || args.long("force") || args.long("discard-changes"),
        "restore" => !(args.short("S") || args.long("staged")) || args.short("W") || args.long("worktree"),
        "stash" => matches!(first, "drop" | "clear"),
        "push" => {
            args.short("fd")
                || args.begins(&["--force", "--mirror", "--delete", "--prune", "+", ":"])
                || operands.iter().any(|word| word.text.starts_with(['+', ':']))
        }
        "branch" => {
            args.short("D")
                || (args.short("d") && args.short("f"))
                || args.short("MC")
                || (args.long("delete") && args.long("force"))
        }
        "tag" => args.short("df") || args.long("delete") || args.long("force"),
        "reflog" => matches!(first, "expire" | "delete"),
        "gc" => args.begins(&["--prune=now", "--prune=all", "--aggressive"]),
        "prune" | "replace" => true,
        "repack" => args.short("d") && args.short("A"),
        "update-ref" => true,
        "worktree" => first == "remove" && (args.short("f") || args.long("force")),
        "rm" => !args.long("cached") && (args.short("f") || operands.iter().any(whole)),
        "fetch" => args.short("f") || args.long("force"),
        "read-tree" => args.long("reset") || args.short("u"),
        "remote" => matches!(first, "remove" | "rm" | "prune"),
        "lfs" => first == "prune",
        "submodule" => first == "deinit",
        _ => false,
    };
    lost.then_some("may throw away work that is nowhere else")
}

/// Options that run a program or write a file, whatever the command.
const RUNNING: &[&str] = &[
    "--upload-pack",
    "--receive-pack",
    "--exec",
    "--ext-diff",
    "--open-files-in-pager",
    "--template",
    "--config",
    "--output",
];

/// Whether something else would be run.
fn runs(name: &str, args: Args<'_>) -> Option<&'static str> {
    let operands = args.operands();
    let first = operands.first().map_or("", |word| word.text.as_str());
    let anywhere = args.begins(&["ext::"])
        || args.begins(RUNNING)
        // Any beginning that is long enough to be meant is taken for the whole.
        || RUNNING.iter().any(|option| option.strip_prefix("--").is_some_and(|name| args.long(name))) || operands.iter().any(|word| word.text.contains("ext::") || word.text.starts_with("fd::"));
    let here = match name {
        "rebase" => args.short("xi") || args.long("exec") || args.long("interactive"),
        "bisect" => first == "run",
        "submodule" => matches!(first, "foreach"),
        "clone" | "fetch" | "pull" | "ls-remote" => args.any(&["-u", "-c"]) && name != "pull",
        "grep" => args.short("O"),
        "config" => sets_program(args),
        "maintenance" => matches!(first, "start" | "register"),
        "archive" => args.long("remote"),
        "apply" => args.long("unsafe-paths"),
        "init" => args.long("separate-git-dir"),
        "help" => args.short("w") || args.long("web"),
        _ => false,
    };
    (anywhere || here).then_some("makes git run or write something else, now or later")
}

/// `git config` with a value: fine for what is known to be harmless, in this repository.
fn sets_program(args: Args<'_>) -> bool {
    let outside =
        args.any(&["--global", "--system", "-f", "--file", "--edit", "-e"]) || args.begins(&["--file="]);
    let mut operands = args.operands();
    if operands.first().is_some_and(|word| matches!(word.text.as_str(), "set" | "get" | "list" | "unset")) {
        operands.remove(0);
    }
    let reads =
        args.begins(&["--get", "--list", "-l", "--show"]) || args.any(&["get", "list"]) || operands.len() < 2;
    if reads {
        return args.any(&["--edit", "-e"])
            || args.begins(&["--unset", "--remove-section", "--rename-section"]) && outside;
    }
    let [key, value, ..] = operands.as_slice() else { return false };
    let setting = format!("{}={}", key.text, value.text);
    outside || !key.known || !is_harmless(&setting)
}

/// Where a command that makes directories would make them.
fn places(run: &mut Run<'_>, name: &str, args: Args<'_>) -> Judgement {
    let takes =
        &["-b", "--branch", "--depth", "-o", "--origin", "-B", "--reference", "--initial-branch", "-j"];
    let operands = args.operands_but(takes);
    let target = match name {
        "clone" => operands.get(1),
        "init" => operands.first(),
        "worktree" if operands.first().is_some_and(|word| word.text == "add") => operands.get(1),
        _ => None,
    };
    let mut worst = target.map_or(Judgement::Safe, |word| run.writes(word));
    if matches!(name, "archive" | "format-patch" | "bundle") {
        for out in args.values("-o", "--output") {
            worst = worst.worst(run.writes(&out));
        }
    }
    if matches!(name, "rm" | "mv") {
        for word in operands.iter().filter(|word| !word.glob) {
            let paths = run.scope.paths(word);
            run.out.writes.extend(
                paths.into_iter().filter(|path| run.at.roots.iter().any(|root| path.starts_with(root))),
            );
        }
    }
    worst
}
