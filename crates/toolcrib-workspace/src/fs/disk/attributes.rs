//! What a file keeps when its content is replaced, on every unix.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

use xattr::FileExt;

use crate::fs::Attributes;

/// Attributes that vouch for the content they were set on, so a new content must not inherit them.
const CONTENT_BOUND: [&str; 3] = ["security.capability", "security.ima", "security.evm"];

/// Owner, mode, extended attributes (and with them access lists) of an open file.
pub(super) fn read(file: &File) -> io::Result<Attributes> {
    let metadata = file.metadata()?;
    let mut xattrs = Vec::new();
    if let Ok(names) = file.list_xattr() {
        for name in names.filter(|name| !CONTENT_BOUND.iter().any(|bound| name == *bound)) {
            if let Ok(Some(value)) = file.get_xattr(&name) {
                xattrs.push((name, value));
            }
        }
    }
    // As after any write, the set-user and set-group bits don't survive a change of content.
    let mode = Some(metadata.mode() & 0o1777);
    Ok(Attributes { mode, owner: Some((metadata.uid(), metadata.gid())), xattrs })
}

/// Sets owner, attributes and mode; says whether the owner is what was asked for.
pub(super) fn apply(file: &File, attributes: &Attributes) -> io::Result<bool> {
    let mut owner_kept = true;
    if let Some((uid, gid)) = attributes.owner {
        let now = file.metadata()?;
        if (now.uid(), now.gid()) != (uid, gid) {
            owner_kept = fchown(file, Some(uid), Some(gid)).is_ok();
            if !owner_kept {
                // The group alone can often be kept.
                let _ = fchown(file, None, Some(gid));
            }
        }
    }
    for (name, value) in &attributes.xattrs {
        // Some name spaces are for the privileged only: kept as far as allowed.
        let _ = file.set_xattr(name, value);
    }
    if let Some(mode) = attributes.mode {
        file.set_permissions(Permissions::from_mode(mode))?;
    }
    Ok(owner_kept)
}
