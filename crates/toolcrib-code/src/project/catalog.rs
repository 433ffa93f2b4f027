//! What a dependency or a file stands for. One line a fact: to know another framework, add a line.

/// What a fact is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Framework,
    Test,
    Linter,
}

/// A name as it is written, what it is called, and its role.
type Fact = (&'static str, &'static str, Role);

use Role::{Framework, Linter, Test};

/// Dependencies by ecosystem: the name in a manifest, what it is called, and its role. A name that ends in `*` stands
/// for all that begin so.
const DEPENDENCIES: &[(&[&str], &[Fact])] = &[
    (
        &["cargo"],
        &[
            ("actix-web", "Actix Web", Framework), ("axum", "Axum", Framework), ("rocket", "Rocket", Framework),
            ("warp", "Warp", Framework), ("poem", "Poem", Framework), ("tonic", "Tonic", Framework),
            ("tokio", "Tokio", Framework), ("async-std", "async-std", Framework), ("bevy", "Bevy", Framework),
            ("tauri", "Tauri", Framework), ("leptos", "Leptos", Framework), ("yew", "Yew", Framework),
            ("dioxus", "Dioxus", Framework), ("egui", "egui", Framework), ("iced", "iced", Framework),
            ("clap", "clap", Framework), ("diesel", "Diesel", Framework), ("sqlx", "SQLx", Framework),
            ("sea-orm", "SeaORM", Framework), ("ratatui", "Ratatui", Framework), ("hyper", "hyper", Framework),
            ("pyo3", "PyO3", Framework), ("wasm-bindgen", "wasm-bindgen", Framework),
            ("proptest", "proptest", Test), ("quickcheck", "QuickCheck", Test), ("rstest", "rstest", Test),
            ("insta", "insta", Test), ("criterion", "Criterion", Test), ("divan", "Divan", Test),
            ("trybuild", "trybuild", Test), ("assert_cmd", "assert_cmd", Test), ("mockall", "mockall", Test),
        ],
    ),
    (
        &["npm", "deno", "nx"],
        &[
            ("react", "React", Framework), ("next", "Next.js", Framework), ("vue", "Vue", Framework),
            ("nuxt", "Nuxt", Framework), ("@angular/core", "Angular", Framework), ("svelte", "Svelte", Framework),
            ("@sveltejs/kit", "SvelteKit", Framework), ("solid-js", "SolidJS", Framework),
            ("preact", "Preact", Framework), ("astro", "Astro", Framework), ("gatsby", "Gatsby", Framework),
            ("@remix-run/react", "Remix", Framework), ("express", "Express", Framework),
            ("fastify", "Fastify", Framework), ("koa", "Koa", Framework), ("hono", "Hono", Framework),
            ("@nestjs/core", "NestJS", Framework), ("@hapi/hapi", "hapi", Framework),
            ("electron", "Electron", Framework), ("react-native", "React Native", Framework),
            ("expo", "Expo", Framework), ("tailwindcss", "Tailwind CSS", Framework), ("prisma", "Prisma", Framework),
            ("@prisma/client", "Prisma", Framework), ("typeorm", "TypeORM", Framework),
            ("drizzle-orm", "Drizzle", Framework), ("@trpc/server", "tRPC", Framework),
            ("graphql", "GraphQL", Framework), ("three", "three.js", Framework), ("redux", "Redux", Framework),
            ("@reduxjs/toolkit", "Redux Toolkit", Framework),
            ("jest", "Jest", Test), ("vitest", "Vitest", Test), ("mocha", "Mocha", Test), ("ava", "AVA", Test),
            ("jasmine", "Jasmine", Test), ("karma", "Karma", Test), ("@playwright/test", "Playwright", Test),
            ("playwright", "Playwright", Test), ("cypress", "Cypress", Test), ("tap", "tap", Test),
            ("@testing-library/*", "Testing Library", Test), ("uvu", "uvu", Test), ("supertest", "SuperTest", Test),
            ("puppeteer", "Puppeteer", Test), ("storybook", "Storybook", Test),
            ("eslint", "ESLint", Linter), ("prettier", "Prettier", Linter), ("@biomejs/biome", "Biome", Linter),
            ("stylelint", "Stylelint", Linter), ("xo", "XO", Linter), ("standard", "standard", Linter),
            ("oxlint", "oxlint", Linter), ("tslint", "TSLint", Linter), ("jshint", "JSHint", Linter),
        ],
    ),
    (
        &["python", "conda"],
        &[
            ("django", "Django", Framework), ("djangorestframework", "Django REST framework", Framework),
            ("flask", "Flask", Framework), ("fastapi", "FastAPI", Framework), ("starlette", "Starlette", Framework),
            ("tornado", "Tornado", Framework), ("aiohttp", "aiohttp", Framework), ("sanic", "Sanic", Framework),
            ("pyramid", "Pyramid", Framework), ("litestar", "Litestar", Framework), ("bottle", "Bottle", Framework),
            ("celery", "Celery", Framework), ("sqlalchemy", "SQLAlchemy", Framework),
            ("pydantic", "Pydantic", Framework), ("torch", "PyTorch", Framework),
            ("tensorflow", "TensorFlow", Framework), ("jax", "JAX", Framework), ("numpy", "NumPy", Framework),
            ("pandas", "pandas", Framework), ("scikit-learn", "scikit-learn", Framework),
            ("transformers", "Transformers", Framework), ("streamlit", "Streamlit", Framework),
            ("gradio", "Gradio", Framework), ("scrapy", "Scrapy", Framework), ("click", "Click", Framework),
            ("typer", "Typer", Framework), ("langchain", "LangChain", Framework),
            ("pytest", "pytest", Test), ("hypothesis", "Hypothesis", Test), ("nose2", "nose2", Test),
            ("behave", "behave", Test), ("robotframework", "Robot Framework", Test),
            ("ruff", "Ruff", Linter), ("black", "Black", Linter), ("flake8", "Flake8", Linter),
            ("pylint", "Pylint", Linter), ("mypy", "mypy", Linter), ("pyright", "Pyright", Linter),
            ("isort", "isort", Linter), ("bandit", "Bandit", Linter), ("yapf", "YAPF", Linter), ("ty", "ty", Linter),
            ("basedpyright", "basedpyright", Linter),
        ],
    ),
    (
        &["go"],
        &[
            ("github.com/gin-gonic/gin", "Gin", Framework), ("github.com/labstack/echo*", "Echo", Framework),
            ("github.com/gofiber/fiber*", "Fiber", Framework), ("github.com/go-chi/chi*", "chi", Framework),
            ("github.com/gorilla/mux", "Gorilla", Framework), ("github.com/spf13/cobra", "Cobra", Framework),
            ("github.com/urfave/cli*", "urfave/cli", Framework), ("google.golang.org/grpc", "gRPC", Framework),
            ("gorm.io/gorm", "GORM", Framework), ("entgo.io/ent", "ent", Framework),
            ("github.com/charmbracelet/bubbletea*", "Bubble Tea", Framework),
            ("k8s.io/client-go", "Kubernetes client", Framework),
            ("sigs.k8s.io/controller-runtime", "controller-runtime", Framework),
            ("github.com/stretchr/testify", "Testify", Test), ("github.com/onsi/ginkgo*", "Ginkgo", Test),
            ("github.com/onsi/gomega", "Gomega", Test), ("gotest.tools*", "gotest.tools", Test),
        ],
    ),
    (
        &["maven", "gradle", "sbt"],
        &[
            ("spring-boot*", "Spring Boot", Framework), ("org.springframework.boot", "Spring Boot", Framework),
            ("quarkus*", "Quarkus", Framework), ("io.quarkus", "Quarkus", Framework),
            ("micronaut*", "Micronaut", Framework), ("io.micronaut*", "Micronaut", Framework),
            ("ktor-server*", "Ktor", Framework), ("hibernate-core", "Hibernate", Framework),
            ("jakarta.*", "Jakarta EE", Framework), ("vertx-core", "Vert.x", Framework),
            ("dropwizard-core", "Dropwizard", Framework), ("com.android.application", "Android", Framework),
            ("com.android.library", "Android", Framework), ("akka-actor*", "Akka", Framework),
            ("zio", "ZIO", Framework), ("cats-effect", "Cats Effect", Framework), ("play", "Play", Framework),
            ("junit-jupiter*", "JUnit 5", Test), ("org.junit.jupiter", "JUnit 5", Test), ("junit", "JUnit 4", Test),
            ("testng", "TestNG", Test), ("mockito*", "Mockito", Test), ("assertj-core", "AssertJ", Test),
            ("kotest*", "Kotest", Test), ("scalatest", "ScalaTest", Test), ("munit", "MUnit", Test),
            ("spock-core", "Spock", Test), ("testcontainers", "Testcontainers", Test),
            ("maven-checkstyle-plugin", "Checkstyle", Linter), ("checkstyle", "Checkstyle", Linter),
            ("spotbugs-maven-plugin", "SpotBugs", Linter), ("com.github.spotbugs", "SpotBugs", Linter),
            ("maven-pmd-plugin", "PMD", Linter), ("pmd", "PMD", Linter), ("com.diffplug.spotless", "Spotless", Linter),
            ("spotless-maven-plugin", "Spotless", Linter), ("io.gitlab.arturbosch.detekt", "detekt", Linter),
            ("org.jlleitschuh.gradle.ktlint", "ktlint", Linter),
        ],
    ),
    (
        &["dotnet"],
        &[
            ("Microsoft.NET.Sdk.Web", "ASP.NET Core", Framework), ("Microsoft.AspNetCore.*", "ASP.NET Core", Framework),
            ("Microsoft.EntityFrameworkCore*", "Entity Framework Core", Framework), ("Avalonia", "Avalonia", Framework),
            ("xunit*", "xUnit", Test), ("NUnit*", "NUnit", Test), ("MSTest*", "MSTest", Test), ("Moq", "Moq", Test),
            ("FluentAssertions", "FluentAssertions", Test), ("StyleCop.Analyzers", "StyleCop", Linter),
        ],
    ),
    (
        &["composer"],
        &[
            ("laravel/framework", "Laravel", Framework), ("symfony/framework-bundle", "Symfony", Framework),
            ("slim/slim", "Slim", Framework), ("cakephp/cakephp", "CakePHP", Framework),
            ("phpunit/phpunit", "PHPUnit", Test), ("pestphp/pest", "Pest", Test), ("codeception/codeception", "Codeception", Test),
            ("phpstan/phpstan", "PHPStan", Linter), ("vimeo/psalm", "Psalm", Linter),
            ("squizlabs/php_codesniffer", "PHP_CodeSniffer", Linter),
            ("friendsofphp/php-cs-fixer", "PHP CS Fixer", Linter), ("laravel/pint", "Pint", Linter),
        ],
    ),
    (
        &["bundler"],
        &[
            ("rails", "Rails", Framework), ("sinatra", "Sinatra", Framework), ("hanami", "Hanami", Framework),
            ("sidekiq", "Sidekiq", Framework), ("jekyll", "Jekyll", Framework), ("grape", "Grape", Framework),
            ("rspec*", "RSpec", Test), ("minitest", "Minitest", Test), ("test-unit", "test-unit", Test),
            ("cucumber", "Cucumber", Test), ("capybara", "Capybara", Test), ("rubocop*", "RuboCop", Linter),
            ("standard", "Standard", Linter), ("reek", "Reek", Linter), ("brakeman", "Brakeman", Linter),
        ],
    ),
    (
        &["mix"],
        &[
            ("phoenix", "Phoenix", Framework), ("phoenix_live_view", "Phoenix LiveView", Framework),
            ("ecto*", "Ecto", Framework), ("absinthe", "Absinthe", Framework), ("nerves", "Nerves", Framework),
            ("credo", "Credo", Linter), ("dialyxir", "Dialyxir", Linter), ("mox", "Mox", Test),
        ],
    ),
    (
        &["pub"],
        &[
            ("flutter", "Flutter", Framework), ("flutter_test", "flutter_test", Test), ("test", "package:test", Test),
            ("flutter_lints", "flutter_lints", Linter), ("lints", "lints", Linter),
        ],
    ),
    (
        &["swiftpm"],
        &[("vapor", "Vapor", Framework), ("swift-nio", "SwiftNIO", Framework), ("swift-argument-parser", "ArgumentParser", Framework)],
    ),
    (
        &["cmake", "meson"],
        &[
            ("Qt5", "Qt", Framework), ("Qt6", "Qt", Framework), ("Boost", "Boost", Framework),
            ("OpenCV", "OpenCV", Framework), ("SDL2", "SDL", Framework), ("SDL3", "SDL", Framework),
            ("GTest", "GoogleTest", Test), ("googletest", "GoogleTest", Test), ("Catch2", "Catch2", Test),
            ("doctest", "doctest", Test),
        ],
    ),
];

/// What a dependency of an ecosystem stands for.
pub(crate) fn dependency(kind: &str, name: &str) -> Option<(&'static str, Role)> {
    let (_, known) = DEPENDENCIES.iter().find(|(kinds, _)| kinds.contains(&kind))?;
    let hit = known.iter().find(|(pattern, ..)| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => *pattern == name,
    })?;
    Some((hit.1, hit.2))
}

/// Sections of manifests that configure a program.
pub(crate) const SECTIONS: &[(&str, &str, Role)] = &[
    ("tool.pytest", "pytest", Test), ("tool:pytest", "pytest", Test), ("tool.ruff", "Ruff", Linter),
    ("tool.black", "Black", Linter), ("tool.mypy", "mypy", Linter), ("tool.isort", "isort", Linter),
    ("tool.pylint", "Pylint", Linter), ("tool.pyright", "Pyright", Linter), ("tool.basedpyright", "basedpyright", Linter),
    ("tool.bandit", "Bandit", Linter), ("tool.yapf", "YAPF", Linter), ("tool.ty", "ty", Linter),
    ("flake8", "Flake8", Linter), ("mypy", "mypy", Linter), ("isort", "isort", Linter), ("jest", "Jest", Test),
    ("mocha", "Mocha", Test), ("ava", "AVA", Test), ("tap", "tap", Test), ("eslintConfig", "ESLint", Linter),
    ("prettier", "Prettier", Linter), ("xo", "XO", Linter), ("standard", "standard", Linter),
    ("lints.clippy", "Clippy", Linter), ("ctest", "CTest", Test), ("useJUnitPlatform", "JUnit 5", Test),
    ("testTarget", "XCTest", Test), ("meson test", "meson test", Test), ("zig test", "zig test", Test),
    ("deno lint", "deno lint", Linter), ("deno fmt", "deno fmt", Linter), ("deno test", "deno test", Test),
];

/// Files that configure a program. A name that ends in `*` stands for all that begin so.
pub(crate) const FILES: &[(&str, &str, Role)] = &[
    ("clippy.toml", "Clippy", Linter), (".clippy.toml", "Clippy", Linter), ("rustfmt.toml", "rustfmt", Linter),
    (".rustfmt.toml", "rustfmt", Linter), ("deny.toml", "cargo-deny", Linter), (".eslintrc*", "ESLint", Linter),
    ("eslint.config.*", "ESLint", Linter), (".prettierrc*", "Prettier", Linter),
    ("prettier.config.*", "Prettier", Linter), ("biome.json*", "Biome", Linter), (".stylelintrc*", "Stylelint", Linter),
    (".oxlintrc*", "oxlint", Linter), ("ruff.toml", "Ruff", Linter), (".ruff.toml", "Ruff", Linter),
    (".flake8", "Flake8", Linter), ("mypy.ini", "mypy", Linter), (".mypy.ini", "mypy", Linter),
    (".pylintrc", "Pylint", Linter), ("pylintrc", "Pylint", Linter), ("pyrightconfig.json", "Pyright", Linter),
    (".golangci.*", "golangci-lint", Linter), (".rubocop.yml", "RuboCop", Linter),
    (".clang-format", "clang-format", Linter), (".clang-tidy", "clang-tidy", Linter),
    (".pre-commit-config.yaml", "pre-commit", Linter), ("checkstyle.xml", "Checkstyle", Linter),
    ("phpstan.neon*", "PHPStan", Linter), ("psalm.xml", "Psalm", Linter), (".php-cs-fixer*", "PHP CS Fixer", Linter),
    (".credo.exs", "Credo", Linter), (".formatter.exs", "mix format", Linter), ("analysis_options.yaml", "dart analyze", Linter),
    (".swiftlint.yml", "SwiftLint", Linter), (".markdownlint*", "markdownlint", Linter), (".yamllint*", "yamllint", Linter),
    (".shellcheckrc", "ShellCheck", Linter), (".hadolint.yaml", "hadolint", Linter), ("detekt.yml", "detekt", Linter),
    ("typos.toml", "typos", Linter), (".scalafmt.conf", "scalafmt", Linter), (".editorconfig", "EditorConfig", Linter),
    ("pytest.ini", "pytest", Test), ("conftest.py", "pytest", Test), ("jest.config.*", "Jest", Test),
    ("vitest.config.*", "Vitest", Test), ("playwright.config.*", "Playwright", Test), ("cypress.config.*", "Cypress", Test),
    (".mocharc*", "Mocha", Test), ("karma.conf.*", "Karma", Test), ("phpunit.xml*", "PHPUnit", Test),
    (".rspec", "RSpec", Test), ("tox.ini", "tox", Test), ("noxfile.py", "nox", Test), ("nextest.toml", "cargo-nextest", Test),
    ("angular.json", "Angular", Framework), ("next.config.*", "Next.js", Framework), ("nuxt.config.*", "Nuxt", Framework),
    ("svelte.config.*", "Svelte", Framework), ("astro.config.*", "Astro", Framework), ("manage.py", "Django", Framework),
    ("tauri.conf.json", "Tauri", Framework), ("helmfile.yaml", "Helmfile", Framework), ("Chart.yaml", "Helm", Framework),
];

/// Lock files, and the package manager that writes them.
pub(crate) const LOCKS: &[(&str, &str)] = &[
    ("Cargo.lock", "cargo"), ("pnpm-lock.yaml", "pnpm"), ("package-lock.json", "npm"), ("npm-shrinkwrap.json", "npm"),
    ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun"), ("deno.lock", "deno"), ("uv.lock", "uv"),
    ("poetry.lock", "poetry"), ("pdm.lock", "pdm"), ("Pipfile.lock", "pipenv"), ("pixi.lock", "pixi"),
    ("conda-lock.yml", "conda"), ("go.sum", "go modules"), ("Gemfile.lock", "bundler"), ("composer.lock", "composer"),
    ("mix.lock", "mix"), ("pubspec.lock", "pub"), ("Package.resolved", "swiftpm"), ("packages.lock.json", "nuget"),
    ("gradle.lockfile", "gradle"), ("Podfile.lock", "cocoapods"), ("flake.lock", "nix"), ("conan.lock", "conan"),
    ("vcpkg.json", "vcpkg"), ("stack.yaml.lock", "stack"),
];

/// Files that build systems go by which are no manifests.
pub(crate) const BUILD_FILES: &[(&str, &str)] = &[
    ("Makefile", "make"), ("GNUmakefile", "make"), ("makefile", "make"), ("justfile", "just"), ("Justfile", "just"),
    (".justfile", "just"), ("Taskfile.yml", "task"), ("Taskfile.yaml", "task"), ("Rakefile", "rake"),
    ("Dockerfile", "docker"), ("docker-compose.yml", "docker compose"), ("docker-compose.yaml", "docker compose"),
    ("compose.yaml", "docker compose"), ("compose.yml", "docker compose"), ("turbo.json", "turborepo"),
    ("nx.json", "nx"), ("lerna.json", "lerna"), ("configure.ac", "autotools"), ("build.xml", "ant"),
    ("vite.config.ts", "vite"), ("vite.config.js", "vite"), ("vite.config.mjs", "vite"), ("webpack.config.js", "webpack"),
    ("webpack.config.ts", "webpack"), ("rollup.config.js", "rollup"), ("rollup.config.mjs", "rollup"),
    ("esbuild.config.js", "esbuild"), ("tsconfig.json", "tsc"), ("flake.nix", "nix"), ("SConstruct", "scons"),
    ("xmake.lua", "xmake"), ("BUCK", "buck"), ("pants.toml", "pants"), ("mise.toml", "mise"), ("Tiltfile", "tilt"),
    ("skaffold.yaml", "skaffold"),
];

/// Files that pin a toolchain.
pub(crate) const PINS: &[(&str, &str)] = &[
    ("rust-toolchain.toml", "rust"), ("rust-toolchain", "rust"), (".nvmrc", "node"), (".node-version", "node"),
    (".python-version", "python"), (".ruby-version", "ruby"), (".go-version", "go"), (".java-version", "java"),
    (".tool-versions", ""), ("global.json", ".net"), (".sdkmanrc", "java"), (".swift-version", "swift"),
];

/// Whether the name of a file fits a pattern of the tables.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => pattern == name,
    }
}
