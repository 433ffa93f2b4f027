//! Files that are no source but say what names mean: `Cargo.toml`, `package.json`, `tsconfig.json`, `go.mod`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use toolcrib_workspace::Hash;

use crate::index::Snapshot;

/// The manifests of a workspace. What was read is remembered, since every answer that came from it falls with it.
pub(super) struct Manifests {
    snapshot: Arc<Snapshot>,
    read: Mutex<HashMap<String, Option<Hash>>>,
}

impl Manifests {
    pub(super) fn new(snapshot: Arc<Snapshot>) -> Self {
        Self { snapshot, read: Mutex::default() }
    }

    /// The source files beside them.
    pub(super) fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// The content of one, if it is there.
    pub(super) fn read(&self, path: &str) -> Option<Vec<u8>> {
        let content = self.snapshot.read(path);
        let hash = content.as_ref().map(|content| Hash::of(content));
        self.read.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), hash);
        content
    }

    /// Whether all that was read is as it was, and what was not there still is not.
    pub(super) fn are_fresh(&self) -> bool {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.iter()
            .all(|(path, before)| self.snapshot.read(path).map(|content| Hash::of(&content)) == *before)
    }
}
