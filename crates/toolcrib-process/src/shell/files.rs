//! Programs that make, change and delete files, and single options that run or write something.

use super::Judgement;
use super::paths::{Loss, loss, takes_all};
use super::programs::Cmd;
use super::run::Run;
use super::variables::MKTEMP;
use super::word::Word;
use std::path::{Path, PathBuf};

/// `rm` and its kin.
pub(super) fn delete(run: &mut Run<'_>, cmd: &Cmd<'_>) -> Judgement {
    let recursive = cmd.args.short("rR")
        || cmd.args.long("recursive")
        || matches!(cmd.name.as_str(), "trash" | "trash-put" | "rip" | "rimraf" | "del-cli");
    let mut worst = Judgement::Plain;
    for word in cmd.args.operands() {
        worst = worst.worst(deleted(run, word, recursive));
    }
    // An unknown word may be an option or a path.
    if cmd.args.unknown() {
        worst = worst.worst(Judgement::risky("deletes what only running it would tell"));
    }
    worst
}

/// What deleting this would mean.
pub(super) fn deleted(run: &mut Run<'_>, word: &Word, recursive: bool) -> Judgement {
    if word.known && word.text.is_empty() {
        return Judgement::Plain;
    }
    let paths = run.scope.paths(word);
    if paths.is_empty() {
        return Judgement::risky("deletes what only running it would tell");
    }
    let mut worst = Judgement::Plain;
    for path in paths {
        let lost = loss(&path, run.at);
        let judgement = match lost {
            _ if lost.is_final() && recursive => Judgement::forbidden(format!("deletes {}", lost.name())),
            Loss::Inside => {
                if !word.glob {
                    run.out.writes.push(path);
                }
                Judgement::Plain
            }
            // What the same text made there is its own; anything else may be someone's.
            Loss::Temporary if !run.climbs_out(word, &path) && made_here(run, &path) => Judgement::Plain,
            Loss::Temporary => Judgement::risky("deletes something outside the workspace"),
            Loss::Outside => {
                Judgement::risky("deletes something outside the workspace").worst(run.writes(word))
            }
            _ => Judgement::risky(format!("deletes {}", lost.name())),
        };
        worst = worst.worst(judgement);
    }
    worst
}

/// Whether the same text made this, or a directory that holds it.
fn made_here(run: &Run<'_>, path: &Path) -> bool {
    path.starts_with(MKTEMP) || run.written.iter().any(|made| path.starts_with(made))
}

/// `mv`: what is moved away is lost where it was.
pub(super) fn rename(run: &mut Run<'_>, cmd: &Cmd<'_>) -> Judgement {
    let mut worst = copy(run, cmd);
    let operands = cmd.args.operands();
    let sources = operands.len().saturating_sub(usize::from(!has_target_option(cmd)));
    for word in operands.iter().take(sources) {
        worst = worst.worst(deleted(run, word, true));
    }
    worst
}

fn has_target_option(cmd: &Cmd<'_>) -> bool {
    cmd.args.short("t") || cmd.args.long("target-directory")
}

/// `cp`, `install`, `ln`: the last operand is written, or what `-t` names.
pub(super) fn copy(run: &mut Run<'_>, cmd: &Cmd<'_>) -> Judgement {
    let takes =
        &["-m", "-o", "-g", "-S", "--mode", "--owner", "--group", "--suffix", "-t", "--target-directory"];
    let operands = cmd.args.operands_but(takes);
    let mut worst = Judgement::Plain;
    let mut targets = cmd.args.values("-t", "--target-directory");
    let makes_directories = cmd.name.ends_with("install") && cmd.args.short("d");
    if makes_directories {
        targets.extend(operands.iter().map(|word| (*word).clone()));
    } else if targets.is_empty() && operands.len() > 1 {
        targets.extend(operands.last().map(|word| (*word).clone()));
    }
    for target in &targets {
        worst = worst.worst(run.writes(target));
    }
    if cmd.name.ends_with("install") && cmd.args.values("-m", "--mode").iter().any(|mode| sets_id(&mode.text))
    {
        worst = worst.worst(Judgement::risky("gives a program more rights"));
    }
    if matches!(cmd.name.as_str(), "ln" | "gln" | "link" | "create_symlink") {
        worst = worst.worst(links_outside(run, &operands));
    }
    if matches!(cmd.name.as_str(), "pax" | "cpio") {
        worst = worst.worst(Judgement::risky("writes where its input says"));
    }
    worst
}

/// A link that leads out of the workspace lets later writes slip out.
fn links_outside(run: &Run<'_>, operands: &[&Word]) -> Judgement {
    let Some(first) = operands.first() else { return Judgement::Plain };
    let inside = |path: &PathBuf| run.at.roots.iter().any(|root| path.starts_with(root));
    let paths = run.scope.paths(first);
    if !paths.is_empty() && paths.iter().all(inside) {
        return Judgement::Plain;
    }
    Judgement::risky("makes a link that leads out of the workspace")
}

/// `rsync`, which can delete at its target and run programs.
pub(super) fn rsync(run: &mut Run<'_>, cmd: &Cmd<'_>) -> Judgement {
    let operands =
        cmd.args.operands_but(&["-e", "--rsh", "--exclude", "--include", "--filter", "-f", "--files-from"]);
    let mut worst = Judgement::Plain;
    if let Some(target) = operands.last().filter(|_| operands.len() > 1) {
        worst = worst.worst(run.writes(target));
        if cmd.args.begins(&["--del"]) {
            let found =
                run.scope.paths(target).iter().map(|path| loss(path, run.at)).find(|lost| lost.is_final());
            worst = worst.worst(match found {
                Some(lost) => Judgement::forbidden(format!("deletes in {}", lost.name())),
                None => Judgement::risky("deletes what the source does not have"),
            });
        }
    }
    if cmd.args.short("e")
        || cmd.args.long("rsh")
        || cmd.args.begins(&["--rsync-path", "--remove-source", "--daemon"])
    {
        worst = worst.worst(Judgement::risky("runs a program, or deletes its source"));
    }
    if operands.iter().any(|word| word.text.contains(':')) {
        run.out.network = true;
        worst = worst.worst(Judgement::risky("talks to another machine"));
    }
    worst
}

/// Programs whose operands are made or written.
pub(super) fn create(run: &mut Run<'_>, cmd: &Cmd<'_>) -> Judgement {
    let name = cmd.name.as_str();
    let takes = &[
        "-r",
        "-d",
        "-t",
        "-s",
        "-m",
        "-l",
        "-o",
        "--size",
        "--reference",
        "--date",
        "--mode",
        "-c",
        "-g",
        "-n",
        "-L",
        "-I",
        "-P",
        "-f",
        "-w",
    ];
    let operands = cmd.args.operands_but(match name {
        "tee" | "sponge" => &[],
        "uniq" => &["-f", "-s", "-w"],
        _ => takes,
    });
    let written: Vec<Word> = match name {
        "tree" => cmd.args.values("-o", ""),
        "uniq" | "xxd" => operands.iter().skip(1).map(|word| (*word).clone()).collect(),
        _ => operands.iter().map(|word| (*word).clone()).collect(),
    };
    let mut worst = if matches!(name, "tree" | "uniq" | "xxd") { Judgement::Safe } else { Judgement::Plain };
    for word in &written {
        worst = worst.worst(Judgement::Plain).worst(run.writes(word));
    }
    if name == "truncate" && !cmd.args.begins(&["-s+", "--size=+"]) {
        worst = worst.worst(Judgement::risky("cuts off what a file holds"));
    }
    if name == "mknod" {
        worst = worst.worst(Judgement::risky("makes a device"));
    }
    worst
}

/// `dd of=…`.
pub(super) fn dd(run: &mut Run<'_>, cmd: &Cmd<'_>) -> Judgement {
    let mut worst = Judgement::Plain;
    for word in cmd.args.0 {
        if let Some(target) = word.text.strip_prefix("of=") {
            worst = worst.worst(run.writes(&Word { text: target.to_owned(), ..word.clone() }));
        }
    }
    if cmd.args.0.iter().any(|word| !word.known) {
        worst = worst.worst(Judgement::risky("writes to a place that only running it would tell"));
    }
    worst
}

/// Whether a mode makes a program run with its owner's rights.
fn sets_id(mode: &str) -> bool {
    let octal = mode.chars().all(|c| c.is_digit(8)) && !mode.is_empty();
    if octal {
        let digits = mode.trim_start_matches('0');
        return digits.len() >= 4 && digits.starts_with(['2', '3', '4', '5', '6', '7']);
    }
    mode.split(',').any(|part| {
        part.contains(['+', '=']) && part.rsplit(['+', '=']).next().is_some_and(|set| set.contains('s'))
    })
}

/// `chmod`, `chown`, `chgrp`.
pub(super) fn rights(run: &mut Run<'_>, cmd: &Cmd<'_>) -> Judgement {
    let recursive = cmd.args.short("R") || cmd.args.long("recursive");
    let mode_like =
        |word: &Word| word.is_option() && word.text.chars().skip(1).all(|c| "rwxXstugo,+-=".contains(c));
    let named = cmd.args.0.iter().any(mode_like) || cmd.args.long("reference");
    let operands = cmd.args.operands();
    let mut worst = Judgement::Plain;
    let chmod = cmd.name.ends_with("chmod");
    if chmod && cmd.args.0.iter().any(|word| !word.is_option() && sets_id(&word.text)) {
        worst = worst.worst(Judgement::risky("gives a program more rights"));
    }
    for word in operands.iter().skip(usize::from(!named)) {
        worst = worst.worst(run.writes(word));
        for path in run.scope.paths(word) {
            let lost = loss(&path, run.at);
            let own = run.at.roots.contains(&path) || lost == Loss::Repository;
            if recursive && lost.is_final() && !own {
                worst = worst.worst(Judgement::forbidden(format!("changes the rights of {}", lost.name())));
            } else if lost.is_final() {
                worst = worst.worst(Judgement::risky(format!("changes the rights of {}", lost.name())));
            }
        }
    }
    worst
}

/// `find`: what it deletes and writes; what it runs is looked at on its own.
pub(super) fn find(run: &mut Run<'_>, cmd: &Cmd<'_>) -> Judgement {
    let leading = |word: &&Word| !word.is_option() && !matches!(word.text.as_str(), "(" | "!" | ",");
    let starts: Vec<Word> = cmd
        .args
        .0
        .iter()
        .skip_while(|word| matches!(word.text.as_str(), "-L" | "-P" | "-H"))
        .take_while(leading)
        .cloned()
        .collect();
    let starts = if starts.is_empty() { vec![Word::exact(".")] } else { starts };
    let mut worst = Judgement::Safe;
    for (nth, word) in cmd.args.0.iter().enumerate() {
        if matches!(word.text.as_str(), "-fprint" | "-fprint0" | "-fprintf" | "-fls") {
            worst = worst.worst(Judgement::risky("writes what it finds to a file"));
            if let Some(file) = cmd.args.0.get(nth + 1) {
                worst = worst.worst(run.writes(file));
            }
        }
    }
    let removes = cmd.args.any(&["-delete"]);
    let runs = cmd.args.any(&["-exec", "-execdir", "-ok", "-okdir"]);
    if runs {
        worst = worst.worst(Judgement::Plain);
    }
    let wipes = runs
        && cmd
            .args
            .0
            .iter()
            .any(|word| matches!(super::programs::base(&word.text), "rm" | "shred" | "unlink"));
    if removes || wipes {
        let recursive = removes || cmd.args.begins(&["-r", "-R", "-fr", "-fR", "--recursive"]);
        worst = worst.worst(find_deletes(run, cmd, &starts, recursive));
    }
    worst
}

fn find_deletes(run: &Run<'_>, cmd: &Cmd<'_>, starts: &[Word], recursive: bool) -> Judgement {
    // A test that is negated, or one of several, does not narrow what is found.
    let either = cmd.args.any(&["-o", "-or", ","]);
    let negated = |at: usize| {
        at > 0 && cmd.args.0.get(at - 1).is_some_and(|word| matches!(word.text.as_str(), "!" | "-not"))
    };
    let value_after = |names: &[&str]| {
        let words = cmd.args.0.iter().enumerate();
        let at = words
            .filter(|(at, _)| !either && !negated(*at))
            .find(|(_, word)| names.contains(&word.text.as_str()));
        at.and_then(|(at, _)| cmd.args.0.get(at + 1))
    };
    let named = value_after(&["-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex"]);
    let by_name = named.is_some_and(|word| !takes_all(&word.text) && word.text != ".*");
    let narrowed = by_name
        || value_after(&[
            "-mtime",
            "-mmin",
            "-atime",
            "-ctime",
            "-cmin",
            "-newer",
            "-size",
            "-inum",
            "-samefile",
        ])
        .is_some()
        || cmd.args.any(&["-empty"]);
    for start in starts {
        for path in run.scope.paths(start) {
            let lost = loss(&path, run.at);
            let all = match lost {
                Loss::System | Loss::Home => !by_name,
                Loss::Root | Loss::Repository => !narrowed && recursive,
                _ => false,
            };
            if all {
                return Judgement::forbidden(format!("deletes what is in {}", lost.name()));
            }
        }
    }
    Judgement::risky("deletes what it finds")
}

/// `tar`, `zip` and the like: options that run something, and where they write.
pub(super) fn archive(run: &mut Run<'_>, cmd: &Cmd<'_>) -> Judgement {
    let mut worst = Judgement::Plain;
    let runs = [
        "--checkpoint-action",
        "--to-command",
        "--use-compress-program",
        "--rsh-command",
        "--info-script",
        "--new-volume-script",
        "-TT",
        "--unzip-command",
        "-I",
        "--absolute-names",
        "--remove-files",
        "-F",
    ];
    let abbreviated = |option: &&str| {
        cmd.args.0.iter().any(|word| {
            let given = word.text.split('=').next().unwrap_or_default();
            given.len() > 5 && option.starts_with(given)
        })
    };
    if cmd.args.begins(&runs)
        || runs.iter().any(abbreviated)
        || (cmd.name.ends_with("tar") && cmd.args.short("P"))
    {
        worst = worst.worst(Judgement::risky("runs a program, or writes where the archive says"));
    }
    for target in cmd.args.values("-C", "--directory").iter().chain(&cmd.args.values("-d", "--one-top-level"))
    {
        worst = worst.worst(run.writes(target));
    }
    if cmd.name.ends_with("tar") {
        let mode = cmd.args.0.first().map_or("", |word| word.text.trim_start_matches('-'));
        let creates = cmd.args.long("create") || (!mode.contains('=') && mode.contains(['c', 'r', 'u']));
        let file = cmd
            .args
            .values("-f", "--file")
            .first()
            .cloned()
            .or_else(|| mode.ends_with('f').then(|| cmd.args.0.get(1).cloned()).flatten());
        if let Some(file) = file.filter(|file| creates && file.text != "-") {
            worst = worst.worst(run.writes(&file));
        }
    } else if cmd.name == "zip"
        && let Some(file) = cmd.args.operands().first()
    {
        worst = worst.worst(run.writes(file));
    }
    worst
}

/// `cd` and the like.
pub(super) fn change_directory(run: &mut Run<'_>, cmd: &Cmd<'_>) -> Judgement {
    let operands = cmd.args.operands();
    let home = run.home();
    if cmd.name == "popd" {
        run.scope.cwds.clear();
        return Judgement::Plain;
    }
    run.scope.cd(operands.first().copied(), home);
    if cmd.args.0.iter().all(|word| word.literal) && cmd.name == "cd" {
        Judgement::Safe
    } else {
        Judgement::Plain
    }
}

/// Programs of the shell that change its variables or options.
pub(super) fn set_variables(run: &mut Run<'_>, cmd: &Cmd<'_>) -> Judgement {
    run.unproved = true;
    let mut worst = Judgement::Plain;
    if matches!(cmd.name.as_str(), "mapfile" | "readarray") && cmd.args.short("C") {
        worst = worst.worst(Judgement::risky("runs something for each line it reads"));
    }
    if let Some(at) = cmd.args.0.iter().position(|word| cmd.name == "set" && word.text == "--") {
        run.scope.bind_arguments(cmd.args.0.get(at + 1..).unwrap_or_default());
    }
    for word in cmd.args.operands() {
        if word.text.contains("$(") || word.text.contains('`') {
            worst = worst.worst(Judgement::risky("an index that runs something"));
        }
        let (name, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
        if matches!(cmd.name.as_str(), "set" | "shopt" | "unalias") {
            continue;
        }
        run.scope.set(name, None);
        run.scope.set_array(name, None, false);
        if word.text.contains('=') {
            worst = worst.worst(run.variable_set(name, word.known.then_some(value)));
        }
    }
    if let Some(input) = &cmd.io.input {
        read_input(run, cmd, input);
    }
    worst
}

/// `read x <<< text`, `mapfile a <<< text`: what the variables may then hold.
fn read_input(run: &mut Run<'_>, cmd: &Cmd<'_>, input: &str) {
    let mapfile = matches!(cmd.name.as_str(), "mapfile" | "readarray");
    let takes: &[&str] = if mapfile {
        &["-d", "-n", "-O", "-s", "-u", "-C", "-c"]
    } else {
        &["-a", "-d", "-i", "-n", "-N", "-p", "-t", "-u"]
    };
    let names = cmd.args.operands_but(takes);
    let lines = input.lines().take(16);
    if mapfile {
        let name = names.last().map_or("MAPFILE", |word| word.text.as_str());
        run.scope.set_array(name, Some(lines.map(str::to_owned).collect()), false);
    } else if cmd.name == "read" {
        let lines: Vec<&str> = lines.collect();
        for (nth, name) in names.iter().enumerate() {
            let last = nth + 1 == names.len();
            let part = |line: &&str| {
                let words = line.split_whitespace().skip(nth);
                if last { words.collect::<Vec<_>>().join(" ") } else { words.take(1).collect() }
            };
            run.scope.set_any(&name.text, lines.iter().map(part).collect());
        }
    }
}
