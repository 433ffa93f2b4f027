//! What a command or the name of a script is for.

/// What a command does for the one who works on the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Goal {
    Build,
    Test,
    Lint,
    Run,
}

use Goal::{Build, Lint, Run, Test};

/// By the name of a script, target or recipe: `test`, `test:unit`, `lint-fix`.
pub(crate) fn by_name(name: &str) -> Option<Goal> {
    let first = name.split([':', '-', '_', '.', '/', ' ']).next().unwrap_or(name);
    let goal = match first.to_ascii_lowercase().as_str() {
        "test" | "tests" | "spec" | "unittest" | "unit" | "e2e" | "integration" | "coverage" | "cov"
        | "pytest" | "jest" | "vitest" | "tested" => Test,
        "build" | "compile" | "bundle" | "dist" | "all" | "assemble" | "package" => Build,
        "lint" | "fmt" | "format" | "typecheck" | "types" | "clippy" | "eslint" | "prettier" | "style"
        | "vet" | "mypy" | "ruff" | "tsc" | "stylelint" | "typing" | "analyze" | "phpstan" => Lint,
        "start" | "dev" | "serve" | "run" | "server" | "preview" | "develop" => Run,
        "type" if name.contains("check") => Lint,
        "check" => Lint,
        _ => return None,
    };
    Some(goal)
}

/// Wrappers that run what follows.
const WRAPPERS: &[&[&str]] = &[
    &["uv", "run"],
    &["poetry", "run"],
    &["pdm", "run"],
    &["hatch", "run"],
    &["pipenv", "run"],
    &["pixi", "run"],
    &["rye", "run"],
    &["bundle", "exec"],
    &["npx"],
    &["pnpm", "exec"],
    &["yarn", "exec"],
    &["pnpm", "dlx"],
    &["bunx"],
    &["python", "-m"],
    &["python3", "-m"],
    &["py", "-m"],
    &["sudo"],
    &["time"],
    &["env"],
    &["xvfb-run"],
    &["cross-env"],
    &["coverage", "run", "-m"],
    &["dotenv", "--"],
    &["uvx"],
    &["exec"],
];

/// Programs by their first words, and what they are for; the first that fits counts. `…` stands for anything between.
const PROGRAMS: &[(&str, Goal)] = &[
    ("cargo test", Test),
    ("cargo nextest", Test),
    ("cargo llvm-cov", Test),
    ("cargo tarpaulin", Test),
    ("cross test", Test),
    ("cargo miri test", Test),
    ("cargo hack … test", Test),
    ("cargo clippy", Lint),
    ("cargo fmt", Lint),
    ("cargo deny", Lint),
    ("cargo audit", Lint),
    ("cargo hack … clippy", Lint),
    ("cargo check", Build),
    ("cargo build", Build),
    ("cross build", Build),
    ("cargo run", Run),
    ("cargo xtask test", Test),
    ("cargo xtask lint", Lint),
    ("cargo xtask build", Build),
    ("cargo xtask dist", Build),
    ("rustfmt", Lint),
    ("pytest", Test),
    ("unittest", Test),
    ("tox", Test),
    ("nox", Test),
    ("nose2", Test),
    ("manage.py test", Test),
    ("python manage.py test", Test),
    ("python manage.py runserver", Run),
    ("ruff", Lint),
    ("mypy", Lint),
    ("pyright", Lint),
    ("flake8", Lint),
    ("pylint", Lint),
    ("black", Lint),
    ("isort", Lint),
    ("bandit", Lint),
    ("pre-commit run", Lint),
    ("build", Build),
    ("uv build", Build),
    ("poetry build", Build),
    ("hatch build", Build),
    ("python setup.py test", Test),
    ("python setup.py build", Build),
    ("flask run", Run),
    ("uvicorn", Run),
    ("gunicorn", Run),
    ("streamlit run", Run),
    ("jest", Test),
    ("vitest", Test),
    ("mocha", Test),
    ("ava", Test),
    ("playwright test", Test),
    ("cypress run", Test),
    ("node --test", Test),
    ("karma start", Test),
    ("ng test", Test),
    ("ng build", Build),
    ("ng lint", Lint),
    ("ng serve", Run),
    ("eslint", Lint),
    ("prettier", Lint),
    ("biome", Lint),
    ("stylelint", Lint),
    ("oxlint", Lint),
    ("tslint", Lint),
    ("tsc --noEmit", Lint),
    ("tsc … --noEmit", Lint),
    ("tsc -noEmit", Lint),
    ("tsc", Build),
    ("vue-tsc", Lint),
    ("vite build", Build),
    ("vite", Run),
    ("webpack serve", Run),
    ("webpack", Build),
    ("rollup", Build),
    ("esbuild", Build),
    ("tsup", Build),
    ("next build", Build),
    ("next lint", Lint),
    ("next dev", Run),
    ("next start", Run),
    ("nodemon", Run),
    ("turbo run test", Test),
    ("turbo run build", Build),
    ("turbo run lint", Lint),
    ("turbo test", Test),
    ("turbo build", Build),
    ("turbo lint", Lint),
    ("nx … test", Test),
    ("nx … build", Build),
    ("nx … lint", Lint),
    ("deno test", Test),
    ("deno lint", Lint),
    ("deno fmt", Lint),
    ("deno check", Lint),
    ("deno run", Run),
    ("bun test", Test),
    ("bun build", Build),
    ("go test", Test),
    ("gotestsum", Test),
    ("ginkgo", Test),
    ("go vet", Lint),
    ("golangci-lint", Lint),
    ("staticcheck", Lint),
    ("gofmt", Lint),
    ("goimports", Lint),
    ("go build", Build),
    ("go install ./", Build),
    ("go run", Run),
    ("mvn … test", Test),
    ("mvn … verify", Test),
    ("mvn … spring-boot:run", Run),
    ("mvn … checkstyle:check", Lint),
    ("mvn … package", Build),
    ("mvn … install", Build),
    ("mvn … compile", Build),
    ("gradle … test", Test),
    ("gradle … check", Test),
    ("gradle … spotlessCheck", Lint),
    ("gradle … lint", Lint),
    ("gradle … ktlintCheck", Lint),
    ("gradle … detekt", Lint),
    ("gradle … build", Build),
    ("gradle … assemble", Build),
    ("gradle … run", Run),
    ("gradle … bootRun", Run),
    ("sbt … test", Test),
    ("sbt … compile", Build),
    ("sbt … run", Run),
    ("ctest", Test),
    ("cmake --build … --target test", Test),
    ("cmake", Build),
    ("meson test", Test),
    ("meson setup", Build),
    ("meson compile", Build),
    ("ninja test", Test),
    ("ninja", Build),
    ("clang-format", Lint),
    ("clang-tidy", Lint),
    ("cppcheck", Lint),
    ("bazel test", Test),
    ("bazel build", Build),
    ("bazel run", Run),
    ("zig build test", Test),
    ("zig build", Build),
    ("dotnet test", Test),
    ("dotnet format", Lint),
    ("dotnet build", Build),
    ("dotnet publish", Build),
    ("dotnet run", Run),
    ("phpunit", Test),
    ("pest", Test),
    ("php artisan test", Test),
    ("php artisan serve", Run),
    ("phpstan", Lint),
    ("psalm", Lint),
    ("phpcs", Lint),
    ("php-cs-fixer", Lint),
    ("pint", Lint),
    ("rspec", Test),
    ("rails test", Test),
    ("rails server", Run),
    ("rails s", Run),
    ("rubocop", Lint),
    ("standardrb", Lint),
    ("mix test", Test),
    ("mix format", Lint),
    ("mix credo", Lint),
    ("mix dialyzer", Lint),
    ("mix compile", Build),
    ("mix phx.server", Run),
    ("flutter test", Test),
    ("flutter analyze", Lint),
    ("flutter build", Build),
    ("flutter run", Run),
    ("dart test", Test),
    ("dart analyze", Lint),
    ("dart format", Lint),
    ("dart run", Run),
    ("swift test", Test),
    ("swift build", Build),
    ("swift run", Run),
    ("swiftlint", Lint),
    ("xcodebuild … test", Test),
    ("xcodebuild", Build),
    ("stack test", Test),
    ("stack build", Build),
    ("cabal test", Test),
    ("cabal build", Build),
    ("dune test", Test),
    ("dune runtest", Test),
    ("dune build", Build),
    ("shellcheck", Lint),
    ("hadolint", Lint),
    ("yamllint", Lint),
    ("markdownlint", Lint),
    ("actionlint", Lint),
    ("typos", Lint),
    ("docker compose up", Run),
    ("docker build", Build),
    ("nix build", Build),
    ("nix flake check", Test),
    ("nix run", Run),
    ("terraform validate", Lint),
    ("terraform fmt", Lint),
];

/// Runners whose next word is the name of a script.
const RUNNERS: &[&str] = &["make", "just", "task", "rake", "poe", "composer", "npm", "pnpm", "yarn", "bun"];

/// By what a command line says: the first of its parts that is known.
pub(crate) fn by_words(line: &str) -> Option<Goal> {
    line.split("&&").flat_map(|part| part.split(';')).find_map(one)
}

fn one(command: &str) -> Option<Goal> {
    let mut words: Vec<&str> =
        command.split_whitespace().map(|word| word.trim_matches(['"', '\'', '@'])).collect();
    // `FOO=bar cmd`
    let assigned = words.iter().take_while(|word| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        })
    });
    let assigned = assigned.count();
    words.drain(..assigned);
    for _ in 0..3 {
        let Some(wrapper) = WRAPPERS.iter().find(|wrapper| words.starts_with(wrapper)) else { break };
        words.drain(..wrapper.len());
        // The wrapper's own options.
        let options = words.iter().take_while(|word| word.starts_with('-')).count();
        words.drain(..options);
    }
    // `+nightly`, and the folder of the program.
    words.retain(|word| !word.starts_with('+'));
    let first = words.first()?;
    let program = first.rsplit(['/', '\\']).next().unwrap_or(first);
    let program = match program {
        "mvnw" => "mvn",
        "gradlew" | "gradlew.bat" => "gradle",
        "python3" => "python",
        "docker-compose" => "docker compose",
        other => other,
    };
    if RUNNERS.contains(&program) {
        return runner(program, words.get(1..).unwrap_or_default());
    }
    let text = std::iter::once(program).chain(words.iter().skip(1).copied()).collect::<Vec<_>>().join(" ");
    let own_script = first.contains("script/") || first.contains("scripts/") || first.starts_with("./");
    let known = PROGRAMS.iter().find(|(pattern, _)| begins(&text, pattern)).map(|(_, goal)| *goal);
    known.or_else(|| own_script.then(|| by_name(program)).flatten())
}

fn runner(program: &str, words: &[&str]) -> Option<Goal> {
    let mut names = words.iter().filter(|word| {
        !word.starts_with('-') && !word.contains('=') && !matches!(**word, "run" | "run-script" | "-r")
    });
    match names.next() {
        None => (program == "make").then_some(Build),
        Some(name) if program == "make" && *name == "check" => Some(Test),
        Some(&"t") => Some(Test),
        Some(&("install" | "ci" | "add" | "publish" | "global" | "exec" | "dlx" | "audit" | "create")) => {
            None
        }
        Some(name) => by_name(name),
    }
}

/// Whether a text begins with the words of a pattern, where `…` lets others come between.
fn begins(text: &str, pattern: &str) -> bool {
    let whole = |rest: &str| rest.is_empty() || rest.starts_with([' ', ':']);
    match pattern.split_once(" … ") {
        None => text.strip_prefix(pattern).is_some_and(whole),
        Some((first, last)) => text.strip_prefix(first).is_some_and(|rest| {
            rest.starts_with(' ')
                && rest.split_whitespace().any(|word| {
                    word == last
                        || word.rsplit(':').next() == Some(last)
                        || last.contains(' ') && rest.contains(last)
                })
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_apart() {
        for (line, goal) in [
            ("cargo +nightly test --all", Some(Test)),
            ("RUST_BACKTRACE=1 cargo nextest run", Some(Test)),
            ("cargo fmt --all -- --check", Some(Lint)),
            ("uv run --frozen pytest -q", Some(Test)),
            ("python -m pytest tests", Some(Test)),
            ("python3 -m unittest", Some(Test)),
            ("npm ci", None),
            ("npm run build --workspaces", Some(Build)),
            ("pnpm -r test", Some(Test)),
            ("yarn lint", Some(Lint)),
            ("npx tsc --noEmit", Some(Lint)),
            ("tsc --incremental --noEmit", Some(Lint)),
            ("tsc -p .", Some(Build)),
            ("make -j4", Some(Build)),
            ("make check", Some(Test)),
            ("./gradlew :app:test", Some(Test)),
            ("./mvnw -B verify", Some(Test)),
            ("cmake -B build && cmake --build build", Some(Build)),
            ("./scripts/test", Some(Test)),
            ("echo test", None),
            ("pip install build", None),
            ("cargo install cargo-deny", None),
            ("apt-get install -y make", None),
            ("bundle exec rspec", Some(Test)),
        ] {
            assert_eq!(by_words(line), goal, "{line}");
        }
        for (name, goal) in
            [("test:unit", Some(Test)), ("type-check", Some(Lint)), ("deploy", None), ("dev", Some(Run))]
        {
            assert_eq!(by_name(name), goal, "{name}");
        }
    }
}
