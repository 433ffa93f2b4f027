//! Where the files are: the user's folder and the project's.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use toolcrib_workspace::fs::directory::EntryKind;
use toolcrib_workspace::{Error, ErrorKind, ReadWorkspace, state};

use crate::manifest::MAX_BYTES;

/// The project's folder, in its first root.
pub const PROJECT_FOLDER: &str = ".toolcrib/tools";
/// How a file's name ends.
pub const SUFFIX: &str = ".tool.toml";
/// How many files of a folder are looked at.
const MAX_FILES: usize = 200;

/// Whose a tool is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The user's own.
    User,
    /// The project's.
    Project,
}

impl Origin {
    /// Both, in the order in which names are given away.
    pub const ALL: [Origin; 2] = [Origin::User, Origin::Project];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// The folders that tools come from.
#[derive(Clone)]
pub struct ToolFolders {
    user: Option<PathBuf>,
    project: Option<ReadWorkspace>,
}

/// What is in a folder.
#[derive(Default)]
pub(crate) struct Scan {
    /// Each file's name with its content, or why there is none; sorted.
    pub(crate) files: Vec<(String, Result<Vec<u8>, String>)>,
    /// Why there may be more.
    pub(crate) problem: Option<String>,
    /// Whether it could be looked at at all.
    pub(crate) failed: bool,
    /// Whether a file is a link, so that it can change without the folder's changing.
    pub(crate) links: bool,
}

impl Scan {
    fn failed(why: String) -> Self {
        Self { problem: Some(why), failed: true, ..Self::default() }
    }
}

impl ToolFolders {
    /// The user's folder, `tools` in the configuration directory, and that of this project.
    pub fn usual(project: &ReadWorkspace) -> Self {
        let user = state::config_dir().ok().map(|folder| folder.join("tools"));
        Self { user, project: Some(project.clone()) }
    }

    /// These folders.
    pub fn of(user: Option<PathBuf>, project: Option<ReadWorkspace>) -> Self {
        Self { user, project }
    }

    /// A folder on the host; it may not exist.
    pub fn path(&self, origin: Origin) -> Option<PathBuf> {
        match origin {
            Origin::User => self.user.clone(),
            Origin::Project => {
                Some(self.project.as_ref()?.roots().first()?.path.as_ref()?.join(PROJECT_FOLDER))
            }
        }
    }

    /// How a file of a folder is called to people.
    pub fn shown(&self, origin: Origin, file: &str) -> String {
        match (origin, &self.user) {
            (Origin::User, Some(folder)) => folder.join(file).display().to_string(),
            _ => format!("{PROJECT_FOLDER}/{file}"),
        }
    }

    pub(crate) fn scan(&self, origin: Origin) -> Scan {
        let mut scan = match (origin, &self.user, &self.project) {
            (Origin::User, Some(folder), _) => scan_user(folder),
            (Origin::Project, _, Some(project)) => scan_project(project),
            _ => Scan::default(),
        };
        scan.files.sort_by(|(a, _), (b, _)| a.cmp(b));
        scan
    }
}

/// Takes the names of tool files, sorted, at most so many.
fn chosen(names: impl Iterator<Item = String>, scan: &mut Scan) -> Vec<String> {
    let mut names: Vec<String> =
        names.filter(|name| name.ends_with(SUFFIX) && !name.starts_with('.')).take(100 * MAX_FILES).collect();
    names.sort();
    if names.len() > MAX_FILES {
        scan.problem = Some(format!("{} files: only the first {MAX_FILES} are read", names.len()));
        names.truncate(MAX_FILES);
    }
    names
}

fn scan_user(folder: &Path) -> Scan {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Scan::default();
        }
        Err(error) => return Scan::failed(error.kind().to_string()),
    };
    let mut scan = Scan::default();
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    for name in chosen(names, &mut scan) {
        let path = folder.join(&name);
        scan.links |= path.is_symlink();
        // A file that went meanwhile is as good as one that was never there.
        match read_user(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => {}
            read => scan.files.push((name, read.map_err(|error| error.to_string()))),
        }
    }
    scan
}

fn read_user(path: &Path) -> io::Result<Vec<u8>> {
    // A FIFO would never open.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Only the folder and the files themselves: behind a link lies what tools can change, or what is not the
/// project's.
fn scan_project(project: &ReadWorkspace) -> Scan {
    let gone = |error: &Error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
    match project.locate(PROJECT_FOLDER) {
        Ok(location) if location.display != PROJECT_FOLDER => {
            return Scan { problem: Some("it is reached through a symbolic link".into()), ..Scan::default() };
        }
        Ok(_) => {}
        Err(error) if gone(&error) => return Scan::default(),
        Err(error) => return Scan::failed(error.message().to_owned()),
    }
    let entries = match project.list(PROJECT_FOLDER) {
        Ok(entries) => entries,
        Err(error) if gone(&error) => return Scan::default(),
        Err(error) => return Scan::failed(error.message().to_owned()),
    };
    let mut scan = Scan::default();
    let names = entries.into_iter().filter_map(|(entry, _)| {
        let name = entry.name.into_string().ok()?;
        (entry.kind != EntryKind::Dir).then_some(name)
    });
    for name in chosen(names, &mut scan) {
        let path = format!("{PROJECT_FOLDER}/{name}");
        match project.read(&path, MAX_BYTES as u64) {
            Ok(file) if file.path == path => scan.files.push((name, Ok(file.bytes))),
            Ok(_) => scan.files.push((name, Err("it is a symbolic link".into()))),
            Err(error) if gone(&error) => {}
            Err(error) => scan.files.push((name, Err(error.message().to_owned()))),
        }
    }
    scan
}
