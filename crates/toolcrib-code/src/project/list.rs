//! `projects`: the roots of the workspace and what is in them, by name.

use std::collections::HashMap;

use serde::Serialize;
use toolcrib_workspace::Result;

use super::detect::{folder_path, name_of};
use super::manifest::{self, Manifest};
use super::scan::Scan;

/// Projects listed at most.
const MAX_PROJECTS: usize = 1_000;

/// A project of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Project {
    /// As its manifest calls it; else its folder.
    pub name: String,
    /// Its folder.
    pub path: String,
    /// `cargo`, `npm`, `python`, …; `folder` for a root without a manifest.
    pub kind: &'static str,
    /// The folder of the monorepo that it is a member of; its own if it is none.
    pub root: String,
    /// `path:line` of what makes it a project.
    pub evidence: String,
}

/// The projects, and what makes the list less than it seems.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Projects {
    /// By path.
    pub projects: Vec<Project>,
    /// How many there are in all.
    pub total: usize,
    /// Manifests that could not be read, and such.
    pub warnings: Vec<String>,
}

/// Every project below the starts of a scan. `names` are what the starts are called, for those without a manifest.
pub fn projects(scan: &Scan<'_>, names: &[String]) -> Result<Projects> {
    let manifests = manifest::all(scan);
    let members = manifest::members(scan, &manifests);
    let mut roots: HashMap<usize, usize> = HashMap::new();
    for member in &members {
        roots.entry(member.manifest).or_insert(member.root);
    }
    let mut all: Vec<Project> = Vec::new();
    for (index, manifest) in manifests.iter().enumerate() {
        // The strongest manifest of a kind stands for its folder.
        let path = folder_path(&manifest.folder);
        if let Some(known) = all.iter_mut().find(|known| known.path == path && known.kind == manifest.kind) {
            if !named_by_manifest(&manifests, known) && manifest.name.is_some() {
                known.name = name_of(manifest);
            }
            continue;
        }
        // A list of requirements in some folder is not a project of its own.
        let own = scan.bases.contains(&manifest.folder);
        if manifest.path.ends_with("requirements.txt") && !own || manifest.path.ends_with("-requirements.txt")
        {
            continue;
        }
        let root = outermost(index, &roots).and_then(|root| manifests.get(root)).unwrap_or(manifest);
        all.push(Project {
            name: project_name(scan, names, manifest),
            root: folder_path(&root.folder),
            path,
            kind: manifest.kind,
            evidence: manifest.evidence(manifest.line),
        });
    }
    bare_roots(scan, names, &mut all);
    all.sort_by(|a, b| a.path.cmp(&b.path).then_with(|| a.kind.cmp(b.kind)));
    // The first root is what everything else is relative to.
    all.sort_by_key(|project| project.path != ".");
    let total = all.len();
    if total > MAX_PROJECTS {
        scan.warn(format!("{total} projects, of which {MAX_PROJECTS} are listed"));
        all.truncate(MAX_PROJECTS);
    }
    scan.check()?;
    Ok(Projects { projects: all, total, warnings: scan.warnings() })
}

/// The root of the root: workspaces can be nested (modules of Maven are).
fn outermost(index: usize, roots: &HashMap<usize, usize>) -> Option<usize> {
    let mut at = *roots.get(&index)?;
    for _ in 0..64 {
        match roots.get(&at) {
            Some(above) if *above != at => at = *above,
            _ => break,
        }
    }
    Some(at)
}

fn named_by_manifest(manifests: &[Manifest], project: &Project) -> bool {
    let own =
        |manifest: &&Manifest| manifest.kind == project.kind && folder_path(&manifest.folder) == project.path;
    manifests
        .iter()
        .filter(own)
        .any(|manifest| manifest.name.as_ref().is_some_and(|(name, _)| *name == project.name))
}

/// A root whose manifest has no name is called like its folder.
fn project_name(scan: &Scan<'_>, names: &[String], manifest: &Manifest) -> String {
    let start = scan.bases.iter().position(|base| *base == manifest.folder);
    match (manifest.name.as_ref(), start.and_then(|index| names.get(index))) {
        (None, Some(name)) => name.clone(),
        _ => name_of(manifest),
    }
}

/// Roots with files but without any project in them.
fn bare_roots(scan: &Scan<'_>, names: &[String], all: &mut Vec<Project>) {
    for (base, name) in scan.bases.iter().zip(names) {
        let path = folder_path(base);
        // Paths in other roots are absolute.
        let below = |path: &str| match base.as_str() {
            "" => !path.starts_with('/'),
            base => path.starts_with(base) || path == base.trim_end_matches('/'),
        };
        let first = scan.files.iter().find(|file| below(&file.path));
        if let Some(first) = first.filter(|_| !all.iter().any(|project| below(&project.path))) {
            let evidence = format!("{}:1", first.path);
            all.push(Project { name: name.clone(), root: path.clone(), path, kind: "folder", evidence });
        }
    }
}
