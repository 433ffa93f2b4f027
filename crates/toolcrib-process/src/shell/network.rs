//! Which commands want the network, and which send something out.

use super::Judgement;
use super::args::{Args, listed};
use super::programs::Cmd;
use super::run::Run;

/// Programs that want the network, with the words that say so; none: always.
const WANTS: &[(&str, &str)] = &[
    (
        "curl wget wget2 http https xh aria2c ssh scp sftp nc ncat netcat socat telnet ftp lftp mosh \
        ping dig nslookup host whois traceroute nmap gh glab npx bunx uvx rclone aws gcloud az twine \
        tftp ngrok apt apt-get yum dnf apk pacman brew yt-dlp",
        "",
    ),
    ("git", "push fetch pull clone ls-remote send-email request-pull"),
    (
        "npm pnpm yarn bun",
        "install i ci add update upgrade publish audit outdated view search login create init dlx \
        remove x",
    ),
    (
        "pip pip3 pipx uv poetry pdm conda mamba rye",
        "install download add sync lock update search publish create wheel",
    ),
    ("cargo", "install fetch update add publish search login yank vendor generate-lockfile"),
    ("go", "get install mod"),
    (
        "gem bundle composer mix cpan cpanm luarocks opam stack cabal dart flutter nuget vcpkg conan \
        helm docker podman rustup terraform nix deno mvn gradle dotnet",
        "install update get pull push fetch restore add upgrade require login init publish self \
        deps.get toolchain target pub",
    ),
];

/// Short options of curl that send something or write a setting.
const CURL_SENDS: &str = "-d -F -T --data --form --upload-file --json --post-data --post-file --body-data --body-file -K \
    --config --netrc -n --use-askpass --proxy -x --url-query --unix-socket --socks --preproxy -b \
    --cookie -c --cookie-jar -E --cert --key --method --header=Authorization --execute -e --libcurl \
    --output-dir -Q --quote -u --user --resolve --load-cookies --input-file --mail-from \
    --telnet-option --dump-header --trace --stderr --etag-save --hsts --ca-directory \
    --directory-prefix -P";

/// Methods that change something at the other end.
const CHANGING: &[&str] = &["POST", "PUT", "DELETE", "PATCH"];

/// Notes whether a program evidently wants the network.
pub(super) fn note(run: &mut Run<'_>, name: &str, args: Args<'_>) {
    let pip_module = name.starts_with("python") && args.any(&["pip"]) && args.any(&["install", "download"]);
    let first = args.operands().first().map_or("", |word| word.text.as_str());
    let submodule = name == "git"
        && (args.any(&["submodule"]) && args.any(&["update", "add"])
            || args.any(&["remote"]) && args.any(&["update"]));
    let wants = WANTS.iter().any(|(names, words)| {
        listed(names, name)
            && (words.is_empty()
                || listed(words, first)
                || (name == "git" && args.0.iter().any(|word| listed(words, &word.text))))
    });
    run.out.network |= wants || pip_module || submodule || (name == "yarn" && first.is_empty());
}

/// `curl`, `wget` and the like: fetching is plain, sending is not.
pub(super) fn transfer(run: &mut Run<'_>, cmd: &Cmd<'_>) -> Judgement {
    let mut worst = Judgement::Plain;
    run.fetches = true;
    for place in
        cmd.args.values("-P", "--directory-prefix").iter().chain(&cmd.args.values("", "--output-dir"))
    {
        worst = worst.worst(run.writes(place));
    }
    for url in cmd.args.operands() {
        // `curl -O` and `wget` name the file after the address.
        let named = url.text.rsplit('/').next().filter(|name| !name.is_empty() && url.known);
        if let Some(name) = named {
            run.written.extend(run.scope.paths_of(name));
        }
    }
    let long_out = if cmd.name.starts_with("wget") { "--output-document" } else { "--output" };
    for short in ["-o", "-O"] {
        if short == "-O" && cmd.name == "curl" {
            continue;
        }
        for out in cmd.args.values(short, long_out).iter().filter(|out| out.text != "-") {
            worst = worst.worst(run.writes(out));
        }
    }
    let local = cmd.args.operands().iter().any(|word| is_local(&word.text));
    if cmd.args.unknown() {
        worst = worst.worst(Judgement::risky("sends what only running it would tell"));
    }
    if sends(cmd) && (!local || cmd.args.0.iter().any(|word| word.text.contains('@'))) {
        worst = worst.worst(Judgement::risky("sends something out"));
    }
    if cmd.args.begins(&["-K", "--config", "--use-askpass", "--libcurl", "--execute"])
        || cmd.args.operands().iter().any(|word| word.text.starts_with("file:"))
    {
        worst = worst.worst(Judgement::risky("does what a file says"));
    }
    worst
}

fn sends(cmd: &Cmd<'_>) -> bool {
    let methods = cmd.args.values("-X", "--request");
    let changing = methods.iter().any(|word| CHANGING.contains(&word.text.to_ascii_uppercase().as_str()));
    let httpie = matches!(cmd.name.as_str(), "http" | "https" | "xh") && cmd.args.any(CHANGING);
    let long = |word: &str| {
        CURL_SENDS.split_ascii_whitespace().any(|option| option.starts_with("--") && word.starts_with(option))
    };
    let short = |word: &str| {
        CURL_SENDS
            .split_ascii_whitespace()
            .any(|option| option.len() == 2 && word.starts_with(option) && !word.starts_with("--"))
    };
    // Clusters such as `-sd @file`: the last letters may take a value.
    let clustered = |word: &str| {
        cmd.name == "curl"
            && word.starts_with('-')
            && !word.starts_with("--")
            && word.len() <= 5
            && word.contains(['d', 'F', 'T', 'K'])
    };
    let wget_short = cmd.name.starts_with("wget");
    changing
        || httpie
        || cmd
            .args
            .0
            .iter()
            .any(|word| long(&word.text) || clustered(&word.text) || (!wget_short && short(&word.text)))
}

fn is_local(url: &str) -> bool {
    let host = url.split("://").last().unwrap_or(url);
    let host = host.split(['/', '?']).next().unwrap_or(host);
    if host.contains('@') {
        return false;
    }
    let name = host.strip_prefix("[::1]").map_or_else(|| host.split(':').next().unwrap_or(host), |_| "::1");
    matches!(name, "localhost" | "127.0.0.1" | "::1" | "0.0.0.0")
}
