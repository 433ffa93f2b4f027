//! Real files: the sources of this workspace's dependencies, and its own.

use std::path::{Path, PathBuf};

use fastrand::Rng;

pub struct Source {
    pub name: String,
    pub text: String,
    pub lines: Vec<String>,
    bare: Vec<String>,
}

impl Source {
    pub fn new(name: String, text: String) -> Source {
        let lines: Vec<String> =
            text.strip_suffix('\n').unwrap_or(&text).split('\n').map(str::to_owned).collect();
        let bare = lines.iter().map(|l| l.trim().to_owned()).filter(|l| !l.is_empty()).collect();
        Source { name, text, lines, bare }
    }

    /// How often these lines occur, whitespace and blank lines aside.
    pub fn count_bare(&self, region: &[String]) -> usize {
        let region: Vec<&str> = region.iter().map(|l| l.trim()).filter(|l| !l.is_empty()).collect();
        if region.is_empty() {
            return 0;
        }
        self.bare.windows(region.len()).filter(|w| w.iter().eq(region.iter())).count()
    }
}

/// How many files take part.
const FILES: usize = 90;

pub fn load(rng: &mut Rng) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = Vec::new();
    walk(&root.join("crates"), &mut paths);
    let own = paths.len();
    for directory in dependencies(&root) {
        walk(&directory, &mut paths);
    }
    paths.sort();
    rng.shuffle(&mut paths);
    let mut sources = Vec::new();
    for path in paths {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let plain = !text.contains('\r') && !text.contains('\u{feff}') && text.ends_with('\n');
        if !plain || !(1_500..25_000).contains(&text.len()) {
            continue;
        }
        let name = path.components().rev().take(4).collect::<Vec<_>>();
        let name: PathBuf = name.into_iter().rev().collect();
        sources.push(Source::new(name.display().to_string(), text));
        if sources.len() == FILES {
            break;
        }
    }
    assert!(own > 0, "the repository's own sources are always there");
    sources
}

/// Source directories of the packages in the lock file, as far as they are on this machine.
fn dependencies(root: &Path) -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let Some(registries) = home.and_then(|home| std::fs::read_dir(home.join("registry/src")).ok()) else {
        return Vec::new();
    };
    let registries: Vec<PathBuf> = registries.flatten().map(|entry| entry.path()).collect();
    let lock = std::fs::read_to_string(root.join("Cargo.lock")).unwrap_or_default();
    let mut out = Vec::new();
    for package in lock.split("[[package]]").skip(1) {
        let field = |name: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(&format!("{name} = \"")))?;
            line.strip_suffix('"').map(str::to_owned)
        };
        let (Some(name), Some(version)) = (field("name"), field("version")) else { continue };
        out.extend(
            registries
                .iter()
                .map(|registry| registry.join(format!("{name}-{version}")))
                .filter(|p| p.is_dir()),
        );
    }
    out
}

fn walk(directory: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        if kind.is_dir() {
            walk(&path, out);
        } else if matches!(
            extension,
            "rs" | "md" | "toml" | "c" | "h" | "py" | "js" | "json" | "yml" | "sh" | "S"
        ) {
            out.push(path);
        }
    }
}
