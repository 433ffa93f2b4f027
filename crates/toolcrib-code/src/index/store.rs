//! Facts on disk.
//!
//! One SQLite file in write-ahead mode, so that several processes can use it at once. It is a cache and nothing else:
//! what cannot be read is thrown away and built again, what cannot be written stays in memory, and its name carries the
//! version of everything that facts depend on.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};
use toolcrib_workspace::Hash;

use super::entry::{Content, FileEntry, Stamp};
use crate::facts::{ENGINE_VERSION, FileFacts, Skipped};
use crate::lang::{ALL, Language};

/// So many facts more than files, and those that no file has are cleared away.
const MAX_SPARE: i64 = 2000;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS facts (
        hash BLOB NOT NULL, language TEXT NOT NULL, errors INTEGER NOT NULL, names BLOB NOT NULL, body BLOB NOT NULL,
        PRIMARY KEY (hash, language));
    CREATE TABLE IF NOT EXISTS files (
        path TEXT PRIMARY KEY, language TEXT NOT NULL, hash BLOB NOT NULL, inode INTEGER NOT NULL,
        size INTEGER NOT NULL, modified BLOB NOT NULL, changed BLOB NOT NULL, skipped INTEGER NOT NULL) WITHOUT ROWID;
";

pub(super) struct Store {
    connection: Connection,
}

/// A file to store.
pub(super) struct Row<'a> {
    pub(super) entry: &'a FileEntry,
    pub(super) encoded: Option<&'a [u8]>,
}

/// What facts depend on besides the bytes of a file.
fn version() -> String {
    let mut text = format!("{ENGINE_VERSION}");
    for language in ALL {
        let grammar = language.grammar();
        let counts = (grammar.abi_version(), grammar.node_kind_count(), grammar.parse_state_count());
        text.push_str(&format!("{}{counts:?}", language.name));
    }
    Hash::of(text.as_bytes()).to_string().chars().take(12).collect()
}

impl Store {
    /// Opens or makes the store; none if there is no way to have one.
    pub(super) fn open(dir: &Path) -> Option<Self> {
        fs::create_dir_all(dir).ok()?;
        let name = format!("code-{}.sqlite", version());
        clear_others(dir, &name);
        let path = dir.join(name);
        match Self::connect(&path) {
            Ok(store) => Some(store),
            Err(_) => {
                remove(&path);
                Self::connect(&path).ok()
            }
        }
    }

    fn connect(path: &Path) -> rusqlite::Result<Self> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.execute_batch(SCHEMA)?;
        // Reads the pages that everything hangs on: a file that is no database, or half of one, shows here.
        let _: i64 = connection.query_row("SELECT count(*) FROM files", [], |row| row.get(0))?;
        Ok(Self { connection })
    }

    /// The files as they were when last seen, by path.
    pub(super) fn files(&self) -> Vec<Arc<FileEntry>> {
        let mut files = self.read_files().unwrap_or_default();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files
    }

    fn read_files(&self) -> rusqlite::Result<Vec<Arc<FileEntry>>> {
        let mut statement = self.connection.prepare(
            "SELECT f.path, f.language, f.hash, f.inode, f.size, f.modified, f.changed, f.skipped, a.errors, a.names
             FROM files f LEFT JOIN facts a ON a.hash = f.hash AND a.language = f.language",
        )?;
        let rows = statement.query_map([], |row| {
            let language: String = row.get(1)?;
            let hash: Vec<u8> = row.get(2)?;
            let names: Option<Vec<u8>> = row.get(9)?;
            let content = match (row.get::<_, u8>(7)?, names) {
                (0, Some(names)) => Some(Content::Facts {
                    names: numbers(&names),
                    parse_errors: row.get(8)?,
                    loaded: OnceLock::new(),
                }),
                (0, None) => None,
                (why, _) => skipped(why).map(Content::Skipped),
            };
            let stamp = Stamp {
                inode: row.get::<_, i64>(3)? as u64,
                size: row.get::<_, i64>(4)? as u64,
                modified_ns: wide(&row.get::<_, Vec<u8>>(5)?),
                changed_ns: wide(&row.get::<_, Vec<u8>>(6)?),
            };
            let path: String = row.get(0)?;
            let found = (|| {
                let language = Language::by_name(&language)?;
                let hash = std::str::from_utf8(&hash).ok()?.parse().ok()?;
                let is_test = language.is_test(&path);
                let content = content?;
                Some(Arc::new(FileEntry { path, language, stamp, doubtful: false, hash, content, is_test }))
            })();
            Ok(found)
        })?;
        // One row that cannot be read makes the rest untrustworthy too: all is read from source then.
        rows.collect::<rusqlite::Result<Vec<_>>>().map(|rows| rows.into_iter().flatten().collect())
    }

    /// The names of known content.
    pub(super) fn names(&self, hash: &Hash, language: &Language) -> Option<(Box<[u32]>, u32)> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT names, errors FROM facts WHERE hash = ?1 AND language = ?2")
            .ok()?;
        let found = statement.query_row(params![hash.to_string().as_bytes(), language.name], |row| {
            Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, u32>(1)?))
        });
        let (names, errors) = found.optional().ok()??;
        Some((numbers(&names), errors))
    }

    /// The facts of known content.
    pub(super) fn facts(&self, hash: &Hash, language: &Language) -> Option<FileFacts> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT body FROM facts WHERE hash = ?1 AND language = ?2")
            .ok()?;
        let body: Vec<u8> = statement
            .query_row(params![hash.to_string().as_bytes(), language.name], |row| row.get(0))
            .optional()
            .ok()??;
        FileFacts::decode(&body)
    }

    /// Keeps files and facts. What fails is kept in memory only.
    pub(super) fn keep<'a>(&mut self, rows: impl Iterator<Item = Row<'a>>) {
        let _ = self.write(rows);
    }

    fn write<'a>(&mut self, rows: impl Iterator<Item = Row<'a>>) -> rusqlite::Result<()> {
        let transaction =
            self.connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        {
            let mut facts =
                transaction.prepare_cached("INSERT OR REPLACE INTO facts VALUES (?1, ?2, ?3, ?4, ?5)")?;
            let mut files = transaction
                .prepare_cached("INSERT OR REPLACE INTO files VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
            let mut forget = transaction.prepare_cached("DELETE FROM files WHERE path = ?1")?;
            for Row { entry, encoded } in rows {
                let hash = entry.hash.to_string();
                if let (Some(body), Content::Facts { names, parse_errors, .. }) = (encoded, &entry.content) {
                    facts.execute(params![
                        hash.as_bytes(),
                        entry.language.name,
                        parse_errors,
                        bytes(names),
                        body
                    ])?;
                }
                let skipped = match &entry.content {
                    Content::Facts { .. } => 0,
                    Content::Skipped(why) => 1 + *why as u8,
                    Content::Unreadable(_) => 0,
                };
                // A stamp that may not tell is not worth keeping: the next process could not know.
                if entry.doubtful || matches!(entry.content, Content::Unreadable(_)) {
                    forget.execute(params![entry.path])?;
                    continue;
                }
                let stamp = entry.stamp;
                files.execute(params![
                    entry.path,
                    entry.language.name,
                    hash.as_bytes(),
                    stamp.inode as i64,
                    stamp.size as i64,
                    stamp.modified_ns.to_le_bytes(),
                    stamp.changed_ns.to_le_bytes(),
                    skipped,
                ])?;
            }
        }
        let spare: i64 = transaction.query_row(
            "SELECT (SELECT count(*) FROM facts) - (SELECT count(*) FROM files)",
            [],
            |row| row.get(0),
        )?;
        if spare > MAX_SPARE {
            transaction.execute("DELETE FROM facts WHERE hash NOT IN (SELECT hash FROM files)", [])?;
        }
        transaction.commit()
    }

    /// Moves what was written ahead to its place; otherwise it lies there twice.
    pub(super) fn settle(&self) {
        let _ = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }

    /// Forgets files that are gone.
    pub(super) fn forget(&mut self, paths: &[String]) {
        let _ = self.connection.transaction().and_then(|transaction| {
            {
                let mut forget = transaction.prepare_cached("DELETE FROM files WHERE path = ?1")?;
                for path in paths {
                    forget.execute(params![path])?;
                }
            }
            transaction.commit()
        });
    }
}

fn bytes(numbers: &[u32]) -> Vec<u8> {
    // Sorted, so the distances are small.
    let mut last = 0;
    let mut bytes = Vec::with_capacity(numbers.len() * 4);
    for number in numbers {
        let mut rest = number.wrapping_sub(last);
        last = *number;
        while rest >= 0x80 {
            bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        bytes.push(rest as u8);
    }
    bytes
}

fn numbers(bytes: &[u8]) -> Box<[u32]> {
    let (mut numbers, mut last, mut value, mut shift) =
        (Vec::with_capacity(bytes.len() / 3), 0_u32, 0_u32, 0);
    for byte in bytes {
        value |= u32::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        shift += 7;
        if byte & 0x80 == 0 {
            last = last.wrapping_add(value);
            numbers.push(last);
            (value, shift) = (0, 0);
        }
    }
    numbers.into_boxed_slice()
}

fn wide(bytes: &[u8]) -> i128 {
    bytes.try_into().map_or(i128::MIN, i128::from_le_bytes)
}

fn skipped(number: u8) -> Option<Skipped> {
    let all = [Skipped::TooLarge, Skipped::Bundle, Skipped::Binary, Skipped::Unparsable];
    all.into_iter().find(|why| 1 + *why as u8 == number)
}

/// Removes the stores of other versions.
fn clear_others(dir: &Path, keep: &str) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|name| name.starts_with("code-") && name.contains(".sqlite"));
        if ours && !name.to_str().is_some_and(|name| name.starts_with(keep)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn remove(path: &Path) {
    for end in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        let _ = fs::remove_file(PathBuf::from(name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_there_and_back() {
        let all = [0, 1, 127, 128, 300, 70_000, u32::MAX - 1, u32::MAX];
        assert_eq!(&*numbers(&bytes(&all)), &all);
        assert!(numbers(&bytes(&[])).is_empty());
    }
}
