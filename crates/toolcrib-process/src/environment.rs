//! The environment of commands: a list of what may pass, never a list of what may not.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Level;

/// What passes from the program's own environment if it is there: who and where one is, languages, toolchains, and how
/// to trust a network. Ends in `*`: whatever begins so.
const PASSED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_*",
    "CARGO_PROFILE_*",
    "CARGO_NET_OFFLINE",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "RUSTFLAGS",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "GOPATH",
    "GOROOT",
    "GOBIN",
    "GOFLAGS",
    "GOPROXY",
    "GOTOOLCHAIN",
    "CGO_ENABLED",
    "JAVA_HOME",
    "JDK_HOME",
    "MAVEN_HOME",
    "M2_HOME",
    "GRADLE_HOME",
    "GRADLE_USER_HOME",
    "ANDROID_HOME",
    "NVM_DIR",
    "NVM_BIN",
    "NODE_ENV",
    "NODE_EXTRA_CA_CERTS",
    "PNPM_HOME",
    "BUN_INSTALL",
    "DENO_DIR",
    "VOLTA_HOME",
    "FNM_DIR",
    "COREPACK_HOME",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "CONDA_DEFAULT_ENV",
    "PYTHONPATH",
    "PYTHONDONTWRITEBYTECODE",
    "PIP_DISABLE_PIP_VERSION_CHECK",
    "UV_PYTHON",
    "RBENV_ROOT",
    "GEM_HOME",
    "GEM_PATH",
    "BUNDLE_PATH",
    "DOTNET_ROOT",
    "SDKMAN_DIR",
    "ASDF_DIR",
    "ASDF_DATA_DIR",
    "MISE_DATA_DIR",
    "OPAMROOT",
    "STACK_ROOT",
    "GHCUP_INSTALL_BASE_PREFIX",
    "CC",
    "CXX",
    "AR",
    "LD",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "MAKEFLAGS",
    "PKG_CONFIG_PATH",
    "CMAKE_PREFIX_PATH",
    "NIX_PATH",
    "NIX_PROFILES",
    "NIX_SSL_CERT_FILE",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "PIP_CERT",
    "SOURCE_DATE_EPOCH",
];

/// What a login shell adds that a desktop's environment lacks: the places of programs and toolchains.
const FROM_LOGIN: &[&str] = &[
    "PATH",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOROOT",
    "GOBIN",
    "JAVA_HOME",
    "NVM_DIR",
    "NVM_BIN",
    "PNPM_HOME",
    "BUN_INSTALL",
    "VOLTA_HOME",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "DOTNET_ROOT",
    "SDKMAN_DIR",
    "ASDF_DIR",
    "ANDROID_HOME",
    "LANG",
];

/// Nobody sits at the terminal: no pager, no prompt, no colours, no progress bars.
const FIXED: &[(&str, &str)] = &[
    ("CI", "1"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("EDITOR", "false"),
    ("VISUAL", "false"),
    ("GIT_EDITOR", "false"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "true"),
    ("SSH_ASKPASS", "false"),
    ("GIT_SSH_COMMAND", "ssh -o BatchMode=yes"),
    // A bare repository that a checkout hides in a folder could otherwise make `git status` run what its settings say.
    ("GIT_CONFIG_COUNT", "1"),
    ("GIT_CONFIG_KEY_0", "safe.bareRepository"),
    ("GIT_CONFIG_VALUE_0", "explicit"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("PIP_NO_INPUT", "1"),
    ("PYTHONUNBUFFERED", "1"),
    ("NO_COLOR", "1"),
    ("CARGO_TERM_PROGRESS_WHEN", "never"),
    ("npm_config_progress", "false"),
    ("npm_config_update_notifier", "false"),
];

/// Caches that programs cannot do without.
const CACHES: &[(&str, &str)] = &[
    ("GOCACHE", "go-build"),
    ("npm_config_cache", "npm"),
    ("YARN_CACHE_FOLDER", "yarn"),
    ("PIP_CACHE_DIR", "pip"),
    ("UV_CACHE_DIR", "uv"),
];

/// What the configuration adds.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct EnvironmentSettings {
    /// Names that pass although they are not on the list, secrets too.
    pub pass: Vec<String>,
    /// Variables with their values.
    pub set: BTreeMap<String, String>,
}

/// Whether a name is that of a secret: such variables pass only if the configuration names them.
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let parts = [
        "KEY",
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "CREDENTIAL",
        "CREDENTIALS",
        "AUTH",
        "COOKIE",
        "PAT",
    ];
    name.split(['_', '-']).any(|word| parts.contains(&word))
        || parts.iter().take(6).any(|part| name.ends_with(part))
}

fn is_passed(name: &str) -> bool {
    PASSED.iter().any(|known| match known.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == *known,
    })
}

/// The environment of a command at this level: from the program's own, the login shell's and the configuration.
pub(crate) fn build(
    own: impl Iterator<Item = (String, String)>,
    login: &BTreeMap<String, String>,
    settings: &EnvironmentSettings,
    temp: &Path,
    level: Level,
    terminal: bool,
) -> Vec<(String, String)> {
    let named = |name: &str| settings.pass.iter().any(|pass| pass == name);
    let mut all: BTreeMap<String, String> =
        own.filter(|(name, _)| named(name) || (is_passed(name) && !is_secret(name))).collect();
    for name in FROM_LOGIN {
        if let Some(value) = login.get(*name) {
            all.insert((*name).to_owned(), value.clone());
        }
    }
    all.extend(FIXED.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    all.insert("TERM".into(), if terminal { "xterm-256color" } else { "dumb" }.into());
    all.insert("TMPDIR".into(), temp.display().to_string());
    // Where caches would be by themselves cannot be written, and without one nothing is built or installed.
    if level > Level::Policy {
        for (name, folder) in CACHES {
            all.insert((*name).to_owned(), temp.join(folder).display().to_string());
        }
    }
    all.insert("TOOLCRIB_SANDBOX".into(), level.as_str().into());
    all.entry("PATH".into()).or_insert_with(|| "/usr/local/bin:/usr/bin:/bin".into());
    all.extend(settings.set.clone());
    all.into_iter().collect()
}

/// What the answer of the login shell depends on: which one it is, and the files that it reads.
pub(crate) fn login_key() -> String {
    const FILES: &[&str] = &[
        ".profile",
        ".bash_profile",
        ".bash_login",
        ".bashrc",
        ".zprofile",
        ".zshenv",
        ".zshrc",
        ".zlogin",
        ".config/fish/config.fish",
    ];
    let home = std::env::var_os("HOME").map(std::path::PathBuf::from).unwrap_or_default();
    let files =
        FILES.iter().map(|name| home.join(name)).chain(["/etc/profile".into(), "/etc/environment".into()]);
    let times: Vec<_> = files.map(|file| file.metadata().and_then(|meta| meta.modified()).ok()).collect();
    format!("{} {:?} {} {times:?}", env!("CARGO_PKG_VERSION"), std::env::var_os("SHELL"), home.display())
}

/// What a login shell printed by `env -0`, as far as it is of use.
pub(crate) fn parse_login(bytes: &[u8]) -> BTreeMap<String, String> {
    bytes
        .split(|byte| *byte == 0)
        .filter_map(|entry| std::str::from_utf8(entry).ok()?.split_once('='))
        // A profile may print greetings before the first entry.
        .map(|(name, value)| (name.rsplit('\n').next().unwrap_or(name), value))
        .filter(|(name, value)| FROM_LOGIN.contains(name) && !value.is_empty())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_name() {
        for name in [
            "API_KEY",
            "OPENAI_API_KEY",
            "GITHUB_TOKEN",
            "npm_token",
            "AWS_SECRET_ACCESS_KEY",
            "DB_PASSWORD",
            "PGPASSWORD",
            "AUTH_HEADER",
            "GH_PAT",
            "SECRET",
            "MY_CREDENTIALS",
            "CARGO_BUILD_TOKEN",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["PATH", "HOME", "MONKEY_HOUSE", "XDG_CONFIG_HOME", "TOKENIZER", "KEYBOARD"] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn only_what_is_listed_passes() {
        let own = [
            ("PATH", "/bin"),
            ("LD_PRELOAD", "x.so"),
            ("OPENAI_API_KEY", "k"),
            ("CARGO_BUILD_TOKEN", "t"),
            ("BASH_ENV", "x"),
            ("FOO", "f"),
            ("LC_ALL", "C"),
            ("BASH_FUNC_ls%%", "() { x; }"),
            ("WANTED_TOKEN", "w"),
        ];
        let own = own.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let settings = EnvironmentSettings {
            pass: vec!["WANTED_TOKEN".into()],
            set: [("EXTRA".to_owned(), "1".to_owned())].into(),
        };
        let built = build(own, &BTreeMap::new(), &settings, Path::new("/t"), Level::Full, false);
        let get = |name: &str| built.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        for gone in ["LD_PRELOAD", "OPENAI_API_KEY", "CARGO_BUILD_TOKEN", "BASH_ENV", "FOO", "BASH_FUNC_ls%%"]
        {
            assert_eq!(get(gone), None, "{gone}");
        }
        assert_eq!((get("PATH"), get("LC_ALL"), get("EXTRA")), (Some("/bin"), Some("C"), Some("1")));
        assert_eq!((get("WANTED_TOKEN"), get("PAGER"), get("TMPDIR")), (Some("w"), Some("cat"), Some("/t")));
    }

    #[test]
    fn a_greeting_does_not_spoil_the_login_environment() {
        let found = parse_login(b"Welcome!\nPATH=/opt/bin:/bin\0SECRET=x\0GOPATH=\0LANG=C\0");
        assert_eq!(found.get("PATH").map(String::as_str), Some("/opt/bin:/bin"));
        assert_eq!(found.len(), 2);
    }
}
