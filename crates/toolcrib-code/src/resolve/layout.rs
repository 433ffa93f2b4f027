//! Where things lie: files by their name, folders by their end, manifests that were read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::program::Program;

/// What is found out about the layout of the workspace when it is first asked for.
#[derive(Default)]
pub(super) struct Layout {
    by_name: OnceLock<HashMap<String, Vec<u32>>>,
    folders: OnceLock<HashMap<String, Vec<Arc<str>>>>,
    manifests: Mutex<HashMap<String, Option<Arc<str>>>>,
}

impl Program {
    /// The C and C++ files with a name, whatever the folder.
    pub(super) fn files_named(&self, name: &str) -> &[u32] {
        let by_name = self.layout().by_name.get_or_init(|| {
            let mut by_name: HashMap<String, Vec<u32>> = HashMap::new();
            for (index, file) in self.snapshot().files().iter().enumerate() {
                if matches!(file.language.name, "c" | "cpp") {
                    let name = file.path.rsplit('/').next().unwrap_or_default();
                    by_name.entry(name.to_owned()).or_default().push(index as u32);
                }
            }
            by_name
        });
        by_name.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// The folders with Java files whose path ends like this, whole names only.
    pub(super) fn folders_ending(&self, end: &str) -> Vec<Arc<str>> {
        let folders = self.layout().folders.get_or_init(|| {
            let mut folders: HashMap<String, Vec<Arc<str>>> = HashMap::new();
            let mut last = None;
            for file in self.snapshot().files().iter().filter(|file| file.language.name == "java") {
                let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
                if last != Some(folder) {
                    let name = folder.rsplit('/').next().unwrap_or_default();
                    let known = folders.entry(name.to_owned()).or_default();
                    if !known.iter().any(|other| **other == *folder) {
                        known.push(folder.into());
                    }
                    last = Some(folder);
                }
            }
            folders
        });
        let ends = |folder: &&Arc<str>| {
            let before = folder.strip_suffix(end);
            before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
        };
        let name = end.rsplit('/').next().unwrap_or_default();
        folders.get(name).into_iter().flatten().filter(ends).cloned().collect()
    }

    /// The text of a manifest, read once.
    pub(super) fn manifest(&self, path: &str) -> Option<Arc<str>> {
        let kept = self.layout().manifests.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned();
        kept.unwrap_or_else(|| {
            let text = self.read(path).map(|bytes| String::from_utf8_lossy(&bytes).into());
            let mut manifests = self.layout().manifests.lock().unwrap_or_else(PoisonError::into_inner);
            manifests.insert(path.to_owned(), text.clone());
            text
        })
    }
}
