//! Which places matter: those that must not be deleted, those that must not be written, those that hold secrets.
//!
//! Paths are compared by their text, with globs: `/e*` may be `/etc`, so it counts as it.

use super::Surroundings;
use std::path::{Component, Path, PathBuf};

/// Directories whose loss breaks a machine.
const SYSTEM: &str = "/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /media /mnt /nix /opt /proc /root /run /sbin \
    /srv /sys /tmp /usr /var /usr/bin /usr/lib /usr/lib64 /usr/local /usr/sbin /usr/share \
    /usr/include /usr/local/bin /usr/local/lib /var/lib /var/log /etc/ssh /var/tmp /var/cache \
    /Applications /Library /System /Users /Volumes /private /private/etc /private/var /cores /c \
    /mnt/c /mnt/c/Windows /mnt/c/Users";

/// Directories anyone may write to.
const TEMPORARY: &[&str] = &["/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/dev/shm"];

/// Devices that are no storage: writing to them changes nothing.
const HARMLESS_DEVICES: &[&str] =
    &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero", "/dev/full"];

/// How the names of raw devices begin.
const RAW_DEVICES: &str = "sd hd vd xvd nvme mmcblk disk rdisk dm- md loop nbd ram zram sr mapper mem kmem port bcache zd \
    drbd mtd ubi block fd0 nst st0 core root";

/// Files whose change hands over the machine.
const ACCOUNTS: &str = "/etc/passwd /etc/shadow /etc/gshadow /etc/group /etc/sudoers /etc/sudoers.d /etc/pam.d \
    /etc/ld.so.preload /etc/doas.conf /proc/sysrq-trigger /private/etc/passwd /private/etc/sudoers \
    /private/etc/master.passwd";

/// Names of files and directories that hold secrets, wherever they are.
const SECRET_NAMES: &str = ".ssh .aws .gnupg .netrc _netrc .azure .kube .pgpass .my.cnf .npmrc .pypirc .git-credentials \
    .vault-token .htpasswd .password-store .bash_history .zsh_history .python_history \
    .node_repl_history .psql_history .mysql_history .sqlite_history .boto .s3cfg .dockercfg \
    .terraformrc .env .envrc id_rsa id_dsa id_ecdsa id_ed25519 credentials.json service-account.json \
    login.keychain Keychains secrets.yml secrets.yaml secrets.json secrets.toml .secrets \
    credentials.toml key4.db logins.json";

/// Pairs of neighbouring names that hold secrets.
const SECRET_PAIRS: &[(&str, &str)] = &[
    (".config", "gh"),
    (".config", "gcloud"),
    (".config", "hub"),
    (".config", "op"),
    (".config", "rclone"),
    (".config", "sops"),
    (".config", "containers"),
    (".docker", "config.json"),
    (".cargo", "credentials"),
    (".gem", "credentials"),
    (".mozilla", "firefox"),
    (".local", "keyrings"),
    ("share", "keyrings"),
    ("google-chrome", "Default"),
    (".git", "credentials"),
];

/// Endings of files that hold keys.
const SECRET_ENDINGS: &str = ".pem .key .p12 .pfx .jks .keystore .kdbx .ppk _history .ovpn .asc .gpg";

/// Endings that make a secret-looking name a harmless example.
const EXAMPLES: &[&str] = &[".example", ".sample", ".template", ".dist", ".defaults", ".pub", ".md"];

/// A path with `.` and `..` undone by the text alone.
pub(super) fn normalise(path: &Path) -> PathBuf {
    let mut out = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::Normal(name) => out.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    out
}

/// Whether a pattern of `*`, `?` and `[…]` may be the name. A bracket stands for any one character.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let pattern = simplified(pattern);
    if name.starts_with('.') && !pattern.starts_with(&['.']) {
        return false;
    }
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n, mut star, mut back) = (0, 0, None, 0);
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some(p);
                back = n;
                p += 1;
            }
            Some(c) if *c == '?' || Some(c) == name.get(n) => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some(at) => {
                    p = at + 1;
                    back += 1;
                    n = back;
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(p).all(|c| *c == '*')
}

/// The pattern with each bracket expression as `?` and runs of stars as one.
fn simplified(pattern: &str) -> Vec<char> {
    let chars: Vec<char> = pattern.chars().collect();
    let last = chars.iter().rposition(|c| *c == ']').unwrap_or(0);
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(c) = chars.get(at).copied() {
        at += 1;
        if c == '[' && at < last {
            // `[]x]`: the first closing bracket may be an ordinary character.
            let end = chars.iter().skip(at + 1).position(|c| *c == ']');
            at = end.map_or(chars.len(), |end| at + end + 2);
            out.push('?');
        } else if !(c == '*' && out.last() == Some(&'*')) {
            out.push(c);
        }
    }
    out
}

/// Whether a name is a pattern that takes in about everything: `*`, `.*`, `?*`, `[a-z]*`.
pub(super) fn takes_all(name: &str) -> bool {
    is_glob(name) && simplified(name).iter().all(|c| matches!(c, '*' | '?' | '.'))
}

/// Whether the text has a glob character.
pub(super) fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// The names that make up a path.
pub(super) fn names(path: &Path) -> Vec<&str> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect()
}

/// Whether the pattern may be exactly this path.
fn may_be(pattern: &Path, path: &Path) -> bool {
    let (pattern, path) = (names(pattern), names(path));
    pattern.len() == path.len() && pattern.iter().zip(&path).all(|(p, n)| matches(p, n))
}

/// What a path is, as far as deleting it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// The machine: `/`, `/etc`, a device directory.
    System,
    /// A home directory.
    Home,
    /// A workspace root, or a directory that holds one.
    Root,
    /// A repository's `.git`, or what makes it one.
    Repository,
    /// Something inside `.git`.
    GitInside,
    /// Everything in a workspace root.
    AllOfRoot,
    /// Outside the workspace, and not temporary.
    Outside,
    /// In a temporary directory.
    Temporary,
    /// Inside the workspace.
    Inside,
}

impl Loss {
    /// What it is, for a reason.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::System => "the system",
            Self::Home => "a home directory",
            Self::Root => "the workspace",
            Self::Repository => "the repository",
            Self::GitInside => "the repository's inner files",
            Self::AllOfRoot => "everything in the workspace",
            Self::Outside => "something outside the workspace",
            Self::Temporary => "a temporary file",
            Self::Inside => "a file",
        }
    }

    /// Whether losing it is out of the question.
    pub(super) fn is_final(self) -> bool {
        matches!(self, Self::System | Self::Home | Self::Root | Self::Repository)
    }
}

/// What would be lost with a path, which may be a pattern and must be normalised.
pub(super) fn loss(path: &Path, at: &Surroundings) -> Loss {
    let parts = names(path);
    if let Some(wild) = parts.iter().position(|name| name.contains("**")) {
        let above: PathBuf = Path::new("/").join(parts.iter().take(wild).collect::<PathBuf>()).join("*");
        let rest: PathBuf = parts.iter().skip(wild + 1).collect();
        let named = parts.iter().skip(wild + 1).any(|name| !takes_all(name));
        return match loss(&above, at) {
            Loss::AllOfRoot | Loss::Inside if named => inside(&rest),
            found => found,
        };
    }
    if let Some(found) = whole(path, at) {
        return found;
    }
    if parts.last().is_some_and(|last| takes_all(last))
        && let Some(parent) = path.parent()
    {
        match whole(parent, at) {
            Some(Loss::Root) if parts.last().is_some_and(|last| matches(last, ".git")) => {
                return Loss::Repository;
            }
            Some(Loss::Root) if at.roots.iter().any(|root| root == parent) => return Loss::AllOfRoot,
            Some(_) if is_temporary_root(parent) => return Loss::Outside,
            Some(found) => return found,
            None => {}
        }
    }
    if let Some(root) = at.roots.iter().find(|root| path.starts_with(root)) {
        return inside(path.strip_prefix(root).unwrap_or(path));
    }
    let in_home = at.home.as_deref().is_some_and(|home| path.starts_with(home));
    if is_temporary(path, at) && !in_home { Loss::Temporary } else { Loss::Outside }
}

fn whole(path: &Path, at: &Surroundings) -> Option<Loss> {
    if at
        .roots
        .iter()
        .flat_map(|root| root.ancestors())
        .any(|kept| kept != Path::new("/") && may_be(path, kept))
    {
        return Some(Loss::Root);
    }
    if at.home.as_deref().is_some_and(|home| may_be(path, home)) {
        return Some(Loss::Home);
    }
    let parts = names(path);
    if let [top, _] = parts.as_slice()
        && (matches(top, "home") || matches(top, "Users"))
    {
        return Some(Loss::Home);
    }
    SYSTEM.split_ascii_whitespace().any(|kept| may_be(path, Path::new(kept))).then_some(Loss::System)
}

fn inside(path: &Path) -> Loss {
    let parts = names(path);
    let Some(git) = parts.iter().position(|name| matches(name, ".git")) else { return Loss::Inside };
    match parts.get(git + 1) {
        None => Loss::Repository,
        Some(next) if ["objects", "refs", "HEAD"].iter().any(|kept| matches(next, kept)) => Loss::Repository,
        Some(_) => Loss::GitInside,
    }
}

fn is_temporary_root(path: &Path) -> bool {
    TEMPORARY.iter().any(|kept| Path::new(kept) == path)
}

/// Whether it lies in a temporary directory, and not beside a workspace that does too.
fn is_temporary(path: &Path, at: &Surroundings) -> bool {
    let kept = TEMPORARY.iter().map(Path::new).find(|kept| path.starts_with(kept) && path != *kept);
    let Some(kept) = kept else { return false };
    let beside = |root: &PathBuf| {
        let above = root.parent().filter(|above| above.starts_with(kept) && *above != kept);
        above.is_some_and(|above| {
            let top = above.strip_prefix(kept).ok().and_then(|rest| rest.components().next());
            top.is_some_and(|top| path.starts_with(kept.join(top)))
        })
    };
    !at.roots.iter().any(beside)
}

/// What a path is, as far as writing to it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Writing there changes nothing that lasts.
    Nowhere,
    /// A raw device.
    Device,
    /// Accounts and rights of the machine.
    Accounts,
    /// A network connection, by bash's own names.
    Network,
    /// A repository's inner files.
    Git,
    /// Inside the workspace.
    Inside,
    /// A temporary directory.
    Temporary,
    /// A settings file in a home directory.
    HomeSettings,
    /// Elsewhere.
    Outside,
}

/// Where a normalised path, which may be a pattern, would be written.
pub(super) fn place(path: &Path, at: &Surroundings) -> Place {
    let text = path.to_string_lossy();
    if HARMLESS_DEVICES.contains(&text.as_ref())
        || path.starts_with("/dev/fd")
        || path.starts_with("/dev/pts")
    {
        return Place::Nowhere;
    }
    if path.starts_with("/dev/tcp") || path.starts_with("/dev/udp") {
        return Place::Network;
    }
    let parts = names(path);
    if let ["dev", device, ..] = parts.as_slice()
        && *device != "shm"
    {
        let raw = RAW_DEVICES.split_ascii_whitespace().any(|raw| device.starts_with(raw)) || is_glob(device);
        return if raw { Place::Device } else { Place::Outside };
    }
    if ACCOUNTS.split_ascii_whitespace().any(|kept| path.starts_with(kept) || may_be(path, Path::new(kept))) {
        return Place::Accounts;
    }
    let in_home = at.home.as_deref().and_then(|home| path.strip_prefix(home).ok());
    let settings = in_home.is_some_and(|rest| names(rest).first().is_some_and(|name| name.starts_with('.')));
    if let Some(root) = at.roots.iter().find(|root| path.starts_with(root)) {
        if settings && at.home.as_deref().is_some_and(|home| home.starts_with(root)) {
            return Place::HomeSettings;
        }
        let rest = names(path.strip_prefix(root).unwrap_or(path));
        return if rest.iter().any(|name| matches(name, ".git")) { Place::Git } else { Place::Inside };
    }
    if settings {
        return Place::HomeSettings;
    }
    // A home may lie in a temporary directory; what is in it is a person's all the same.
    if in_home.is_none() && is_temporary(path, at) {
        return Place::Temporary;
    }
    Place::Outside
}

/// Whether the path evidently holds secrets.
pub(super) fn is_secret(path: &Path) -> bool {
    let parts = names(path);
    if let [.., last] = parts.as_slice()
        && EXAMPLES.iter().any(|end| last.ends_with(end))
    {
        return false;
    }
    let named =
        parts.iter().any(|name| SECRET_NAMES.split_ascii_whitespace().any(|kept| stands_for(name, kept)));
    let paired = parts.windows(2).any(|pair| match pair {
        [a, b] => SECRET_PAIRS.iter().any(|(x, y)| matches(a, x) && (matches(b, y) || b.starts_with(y))),
        _ => false,
    });
    named || paired || is_secret_file(&parts)
}

/// Whether a name or a pattern that begins like it is this one.
fn stands_for(name: &str, kept: &str) -> bool {
    name.eq_ignore_ascii_case(kept)
        || (is_glob(name) && !name.starts_with(['*', '?', '[']) && matches(name, kept))
        || (is_glob(name) && kept.starts_with('.') && name.starts_with(".") && matches(name, kept))
}

fn is_secret_file(parts: &[&str]) -> bool {
    let Some(last) = parts.last() else { return false };
    if last.starts_with(".env.") || (last.starts_with("id_") && parts.contains(&".ssh")) {
        return true;
    }
    if SECRET_ENDINGS.split_ascii_whitespace().any(|end| last.len() > end.len() && last.ends_with(end)) {
        return true;
    }
    match parts {
        ["dev", device, ..] => RAW_DEVICES.split_ascii_whitespace().any(|raw| device.starts_with(raw)),
        ["proc", _, "environ" | "mem" | "maps" | "auxv", ..] => true,
        ["proc", _, "task", _, "environ" | "mem", ..] => true,
        ["proc", _, "root" | "cwd" | "fd", ..] => true,
        ["proc", _, name] => is_glob(name) && matches(name, "environ"),
        ["run", "secrets", ..] | ["var", "run", "secrets", ..] => true,
        ["etc", name] => {
            ["shadow", "shadow-", "gshadow", "sudoers", "master.passwd"].iter().any(|s| matches(name, s))
        }
        ["etc", "ssl", "private", ..] | ["etc", "ssh", ..] | ["proc", "kcore"] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_names() {
        for (pattern, name, expected) in [
            ("*", "etc", true),
            ("*", ".git", false),
            (".*", ".git", true),
            ("e?c", "etc", true),
            ("[e]tc", "etc", true),
            ("[!a]*", "etc", true),
            ("x*", "etc", false),
            ("**c", "etc", true),
            ("[", "[", true),
            ("", "", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
        assert!(takes_all("*") && takes_all("[a-z]*") && !takes_all("*.o") && !takes_all("a"));
    }
}
