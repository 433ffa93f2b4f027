//! What a build system offers wherever its manifest is: the evidence is the manifest, or the file that makes it work.

use super::Gather;
use super::classify::Goal::{self, Build, Lint, Run, Test};
use crate::project::manifest::Manifest;

pub(super) fn offered(gather: &mut Gather<'_, '_>, folder: &str) {
    let manifests = gather.manifests;
    for manifest in manifests.iter().filter(|manifest| manifest.folder == folder) {
        let mut add = |goal: Goal, line: usize, command: &str| {
            gather.add(goal, folder, "manifest", command.to_owned(), manifest.evidence(line));
        };
        match manifest.kind {
            "cargo" => {
                add(Build, manifest.line, "cargo build");
                add(Test, manifest.line, "cargo test");
                if let Some(line) = manifest.section("lints.clippy") {
                    add(Lint, line, "cargo clippy");
                }
                if let Some(entry) = manifest.entries.iter().find(|entry| entry.kind == "binary") {
                    add(Run, entry.line, "cargo run");
                }
                configured(gather, folder);
            }
            "go" => go(gather, manifest),
            "maven" => {
                let mvn = wrapper(gather, folder, "mvnw", "mvn");
                tool(gather, manifest, &[(Build, format!("{mvn} package")), (Test, format!("{mvn} test"))]);
            }
            "gradle" => {
                let gradle = wrapper(gather, folder, "gradlew", "gradle");
                tool(
                    gather,
                    manifest,
                    &[(Build, format!("{gradle} build")), (Test, format!("{gradle} test"))],
                );
                if let Some(line) = manifest.dependencies.iter().find(|one| one.name == "application") {
                    let evidence = manifest.evidence(line.line);
                    gather.add(Run, folder, "manifest", format!("{gradle} run"), evidence);
                }
            }
            "python" => python(gather, manifest),
            "dotnet" => {
                add(Build, manifest.line, "dotnet build");
                let tested = |name: &str| {
                    super::super::catalog::dependency("dotnet", name)
                        .is_some_and(|(_, role)| role == super::super::catalog::Role::Test)
                };
                if let Some(test) = manifest.dependencies.iter().find(|one| tested(&one.name)) {
                    add(Test, test.line, "dotnet test");
                }
                if let Some(line) = manifest.section("exe") {
                    add(Run, line, "dotnet run");
                }
            }
            "cmake" => {
                let line = manifest.line;
                add(Build, line, "cmake -S . -B build && cmake --build build");
                if let Some(line) = manifest.section("ctest") {
                    add(Test, line, "ctest --test-dir build");
                }
            }
            "mix" => {
                add(Build, manifest.line, "mix compile");
                add(Test, manifest.line, "mix test");
                if let Some(one) = manifest.dependencies.iter().find(|one| one.name == "phoenix") {
                    add(Run, one.line, "mix phx.server");
                }
            }
            "swiftpm" => {
                add(Build, manifest.line, "swift build");
                if let Some(line) = manifest.section("testTarget") {
                    add(Test, line, "swift test");
                }
            }
            "zig" => {
                add(Build, manifest.line, "zig build");
                if let Some(line) = manifest.section("zig test") {
                    add(Test, line, "zig build test");
                }
            }
            "bundler" => ruby(gather, manifest),
            "composer" => {
                if let Some(one) = manifest.dependencies.iter().find(|one| one.name == "phpunit/phpunit") {
                    add(Test, one.line, "vendor/bin/phpunit");
                }
                if let Some(one) = manifest.dependencies.iter().find(|one| one.name == "phpstan/phpstan") {
                    add(Lint, one.line, "vendor/bin/phpstan");
                }
            }
            "pub" => {
                let flutter = manifest.dependencies.iter().any(|one| one.name == "flutter");
                let program = if flutter { "flutter" } else { "dart" };
                if let Some(one) = manifest
                    .dependencies
                    .iter()
                    .find(|one| matches!(one.name.as_str(), "flutter_test" | "test"))
                {
                    add(Test, one.line, &format!("{program} test"));
                }
            }
            "sbt" => {
                add(Build, manifest.line, "sbt compile");
                add(Test, manifest.line, "sbt test");
            }
            "stack" => {
                add(Build, manifest.line, "stack build");
                add(Test, manifest.line, "stack test");
            }
            "dune" => {
                add(Build, manifest.line, "dune build");
                add(Test, manifest.line, "dune test");
            }
            "bazel" => {
                add(Build, manifest.line, "bazel build //...");
                add(Test, manifest.line, "bazel test //...");
            }
            "meson" => {
                add(Build, manifest.line, "meson setup build && meson compile -C build");
                if let Some(line) = manifest.section("meson test") {
                    add(Test, line, "meson test -C build");
                }
            }
            _ => {}
        }
    }
}

fn tool(gather: &mut Gather<'_, '_>, manifest: &Manifest, commands: &[(Goal, String)]) {
    for (goal, command) in commands {
        let evidence = manifest.evidence(manifest.line);
        gather.add(*goal, &manifest.folder, "manifest", command.clone(), evidence);
    }
}

/// The project's own copy of a build tool, if it has one.
fn wrapper(gather: &Gather<'_, '_>, folder: &str, script: &str, plain: &str) -> String {
    let own = gather.scan.has(&format!("{folder}{script}"));
    if own { format!("./{script}") } else { plain.to_owned() }
}

/// Checks that a file of settings speaks for.
fn configured(gather: &mut Gather<'_, '_>, folder: &str) {
    let files = [
        ("clippy.toml", "cargo clippy"),
        (".clippy.toml", "cargo clippy"),
        ("rustfmt.toml", "cargo fmt --check"),
        (".rustfmt.toml", "cargo fmt --check"),
    ];
    for (file, command) in files {
        let path = format!("{folder}{file}");
        if gather.scan.has(&path) {
            gather.add(Lint, folder, "manifest", command.into(), format!("{path}:1"));
        }
    }
}

fn go(gather: &mut Gather<'_, '_>, manifest: &Manifest) {
    let folder = manifest.folder.as_str();
    if !manifest.package {
        return;
    }
    let evidence = manifest.evidence(manifest.line);
    gather.add(Build, folder, "manifest", "go build ./...".into(), evidence);
    let below = |ending: &str| {
        let files = gather.scan.files.iter().filter(|file| !file.vendored);
        let mut own = files.filter(|file| file.path.starts_with(folder) && file.path.ends_with(ending));
        own.next().map(|file| format!("{}:1", file.path))
    };
    let (tests, golangci) = (below("_test.go"), below(".golangci.yml").or_else(|| below(".golangci.yaml")));
    if let Some(evidence) = tests {
        gather.add(Test, folder, "manifest", "go test ./...".into(), evidence);
    }
    if let Some(evidence) = golangci {
        gather.add(Lint, folder, "manifest", "golangci-lint run".into(), evidence);
    }
    if let Some(entry) = manifest.entries.iter().find(|entry| entry.path.ends_with("main.go")) {
        gather.add(Run, folder, "manifest", "go run .".into(), format!("{}:1", entry.path));
    }
}

fn ruby(gather: &mut Gather<'_, '_>, manifest: &Manifest) {
    let programs = [
        ("rspec", Test, "bundle exec rspec"),
        ("rspec-rails", Test, "bundle exec rspec"),
        ("rubocop", Lint, "bundle exec rubocop"),
        ("rails", Run, "bundle exec rails server"),
    ];
    for (gem, goal, command) in programs {
        if let Some(one) = manifest.dependencies.iter().find(|one| one.name == gem) {
            let evidence = manifest.evidence(one.line);
            gather.add(goal, &manifest.folder, "manifest", command.into(), evidence);
        }
    }
}

fn python(gather: &mut Gather<'_, '_>, manifest: &Manifest) {
    const MANAGERS: &[&str] = &["uv", "poetry", "pdm", "pipenv"];
    let folder = manifest.folder.as_str();
    let manager = gather.manager(folder, MANAGERS);
    let run = manager.map_or(String::new(), |manager| format!("{manager} run "));
    let build = match manager {
        Some("uv") => "uv build",
        Some("poetry") => "poetry build",
        _ => "python -m build",
    };
    let mut found: Vec<(Goal, String, String)> = Vec::new();
    if let Some((_, line)) = manifest.sections.iter().find(|(section, _)| section.starts_with("backend ")) {
        found.push((Build, build.to_owned(), manifest.evidence(*line)));
    }
    let programs = [
        ("tox", Test, "tox"),
        ("pytest", Test, "pytest"),
        ("ruff", Lint, "ruff check"),
        ("mypy", Lint, "mypy ."),
        ("flake8", Lint, "flake8"),
        ("black", Lint, "black --check ."),
        ("pyright", Lint, "pyright"),
    ];
    for (name, goal, command) in programs {
        let depended = manifest.dependencies.iter().find(|one| one.name == name).map(|one| one.line);
        let line = depended
            .or_else(|| manifest.section(&format!("tool.{name}")))
            .or_else(|| manifest.section(&format!("tool:{name}")));
        found.extend(line.map(|line| (goal, format!("{run}{command}"), manifest.evidence(line))));
    }
    for file in ["pytest.ini", "conftest.py", "tests/conftest.py"] {
        let path = format!("{folder}{file}");
        if gather.scan.has(&path) {
            found.push((Test, format!("{run}pytest"), format!("{path}:1")));
        }
    }
    if gather.scan.has(&format!("{folder}manage.py")) {
        let evidence = format!("{folder}manage.py:1");
        found.push((Test, format!("{run}python manage.py test"), evidence.clone()));
        found.push((Run, format!("{run}python manage.py runserver"), evidence));
    }
    for (goal, command, evidence) in found {
        gather.add(goal, folder, "manifest", command, evidence);
    }
}
