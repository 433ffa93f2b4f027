//! How many words of a command say what it does: what a standing grant for it would cover.

use super::args::listed;
use super::programs::base;
use super::word::Word;

/// Programs of which a grant must cover the whole command: their first words say too little.
const WHOLE: &str = "rm curl wget mv cp chmod chown dd sed awk gawk perl find ln install rsync tee kill pkill killall \
    env export source . truncate unlink tar unzip zip patch ruby php lua deno osascript ssh scp nc \
    gdb expect ed ex xargs openssl";

/// Programs whose first word after the name says what is done.
const TWO: &str = "cargo git npm pnpm yarn bun go make gmake just rustup pip pip3 uv poetry pdm hatch rye pipenv \
    conda brew apt apt-get dotnet mvn gradle gradlew mix rake bundle gem composer php-artisan rails \
    django-admin terraform gh glab bazel buck2 nx turbo lerna npx bunx uvx deno zig swift stack \
    cabal dune opam nix flutter dart ninja meson tox nox pre-commit wasm-pack cross helm vercel \
    firebase task invoke python python3 node bash sh zsh tsx ts-node pytest-watch systemctl jj hg \
    svn";

/// Pairs of words whose next word says what is done.
const THREE: &[(&str, &str)] = &[
    ("npm", "run run-script exec"),
    ("pnpm", "run exec dlx"),
    ("yarn", "run dlx workspace"),
    ("bun", "run x"),
    ("deno", "task"),
    ("git", "stash remote worktree submodule bisect config notes"),
    ("cargo", "xtask run"),
    ("uv", "run pip tool"),
    ("poetry", "run"),
    ("pdm", "run"),
    ("rye", "run"),
    ("hatch", "run"),
    ("pipenv", "run"),
    ("bundle", "exec"),
    ("go", "mod tool"),
    ("gh", "pr issue repo run api"),
    ("python", "-m"),
    ("python3", "-m"),
    ("nix", "develop run"),
    ("dotnet", "tool"),
    ("rustup", "toolchain target component"),
];

/// How many leading words name what is done; 0: all of them.
pub(super) fn count(words: &[Word]) -> usize {
    let text = |nth: usize| words.get(nth).and_then(Word::value).unwrap_or_default();
    let name = base(text(0));
    if listed(WHOLE, name) {
        return 0;
    }
    let second = text(1);
    if THREE.iter().any(|(program, subs)| *program == name && listed(subs, second)) {
        let third = text(2);
        return if third.is_empty() || third.starts_with('-') { 2 } else { 3 };
    }
    if !listed(TWO, name) {
        return 1;
    }
    match second {
        // `make` alone, and `python3 -c code`, `git -C x`: no second word that says it.
        "" if words.len() <= 1 => 1,
        "" => 0,
        option if option.starts_with('-') => {
            if name == "make" {
                1
            } else {
                0
            }
        }
        _ => 2,
    }
}
