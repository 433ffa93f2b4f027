//! Where Toolcrib keeps what it must remember: under the XDG directories, keyed by workspace, for nobody else to read.
//!
//! The directories above `toolcrib` are the user's and are followed as they are; below it everything is created with
//! mode 0700 (files 0600) and no symlink is followed, so nobody can plant one that leads elsewhere.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::fs::{Attributes, Folder, disk, sweep};
use crate::{Error, ErrorKind, Hash, Result};

/// The state and cache directories of one workspace. Nothing is created before it is used.
#[derive(Clone, Debug)]
pub struct StateDir {
    state: Place,
    cache: Place,
    /// Directories that belong to Toolcrib as a whole: no tool may change them.
    own: Vec<PathBuf>,
}

/// The user's own configuration directory of Toolcrib; it may not exist. No tool may change it.
pub fn config_dir() -> Result<PathBuf> {
    Ok(base(&|name: &str| std::env::var_os(name), "XDG_CONFIG_HOME", ".config")?.join("toolcrib"))
}

/// A directory of the XDG specification.
fn base(get: &dyn Fn(&str) -> Option<OsString>, variable: &str, fallback: &str) -> Result<PathBuf> {
    // The specification says to ignore relative values.
    let absolute = |name: &str| get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home =
        || get("HOME").or_else(|| get("USERPROFILE")).map(PathBuf::from).filter(|home| home.is_absolute());
    absolute(variable).or_else(|| home().map(|home| home.join(fallback))).ok_or_else(|| {
        let message = format!("there is no home directory to keep state in: set HOME or {variable}");
        Error::new(ErrorKind::NotFound, message)
    })
}

/// A directory that exists (or is the user's to have), and names that are ours below it.
#[derive(Clone, Debug)]
struct Place {
    base: PathBuf,
    below: Vec<OsString>,
}

impl Place {
    fn path(&self) -> PathBuf {
        self.below.iter().fold(self.base.clone(), |path, name| path.join(name))
    }
}

impl StateDir {
    /// The directories for a workspace of these roots, from the environment of this process.
    pub fn for_roots(roots: &[PathBuf]) -> Result<Self> {
        Self::from_environment(roots, |name| std::env::var_os(name))
    }

    /// The same with another environment.
    pub fn from_environment(roots: &[PathBuf], get: impl Fn(&str) -> Option<OsString>) -> Result<Self> {
        let base = |variable: &str, fallback: &str| base(&get, variable, fallback);
        let key = workspace_key(roots);
        let place = |base: PathBuf| Place { base, below: vec!["toolcrib".into(), key.clone().into()] };
        let (state, cache) = (base("XDG_STATE_HOME", ".local/state")?, base("XDG_CACHE_HOME", ".cache")?);
        let config = base("XDG_CONFIG_HOME", ".config")?;
        let own = [&state, &cache, &config].map(|base| base.join("toolcrib")).to_vec();
        Ok(Self { state: place(state), cache: place(cache), own })
    }

    /// An explicit directory; the cache lies inside it.
    pub fn at(path: impl AsRef<Path>) -> Result<Self> {
        let path = std::path::absolute(path.as_ref()).map_err(|error| broken(&error))?;
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Error::new(ErrorKind::InvalidPath, "a state directory needs a name"));
        };
        let state = Place { base: parent.to_path_buf(), below: vec![name.to_os_string()] };
        let mut cache = state.clone();
        cache.below.push("cache".into());
        Ok(Self { state, cache, own: vec![path.clone()] })
    }

    /// Where state is kept; it may not exist yet.
    pub fn path(&self) -> PathBuf {
        self.state.path()
    }

    /// Where the cache is kept; it may not exist yet.
    pub fn cache_path(&self) -> PathBuf {
        self.cache.path()
    }

    /// Directories that no tool may change.
    pub fn protected(&self) -> &[PathBuf] {
        &self.own
    }

    /// Creates a subdirectory of the state (`journal`, `spill`, `sessions`) and gives its path.
    pub fn ensure(&self, sub: &str) -> Result<PathBuf> {
        self.folder(sub, true)?;
        Ok(self.path().join(sub))
    }

    /// Creates a subdirectory of the cache and gives its path.
    pub fn ensure_cache(&self, sub: &str) -> Result<PathBuf> {
        descend(&self.cache, sub, true)?;
        Ok(self.cache_path().join(sub))
    }

    /// Writes a file of the state whole, for the user alone.
    pub fn write(&self, sub: &str, name: &str, bytes: &[u8]) -> Result<()> {
        let Some(folder) = self.folder(sub, true)? else {
            return Err(broken(&io::ErrorKind::NotFound.into()));
        };
        sweep(&*folder);
        let staged = folder.stage(bytes, &Attributes::with_mode(0o600), true);
        let written = staged.and_then(|staged| staged.publish_over(OsStr::new(name)));
        written.and_then(|()| folder.sync()).map_err(|error| broken(&error))
    }

    /// Reads a file of the state, or `None` when there is none.
    pub fn read(&self, sub: &str, name: &str, max_bytes: u64) -> Result<Option<Vec<u8>>> {
        let Some(folder) = self.folder(sub, false)? else { return Ok(None) };
        let reader = match folder.open(OsStr::new(name)) {
            Ok((reader, _)) => reader,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(broken(&error)),
        };
        let mut bytes = Vec::new();
        reader.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| broken(&error))?;
        if bytes.len() as u64 > max_bytes {
            return Err(Error::new(ErrorKind::TooLarge, "a state file is larger than it can be"));
        }
        Ok(Some(bytes))
    }

    /// A subdirectory of the state; `None` when it does not exist and must not be created.
    pub(crate) fn folder(&self, sub: &str, create: bool) -> Result<Option<Arc<dyn Folder>>> {
        descend(&self.state, sub, create)
    }
}

fn descend(place: &Place, sub: &str, create: bool) -> Result<Option<Arc<dyn Folder>>> {
    if create {
        create_base(&place.base).map_err(|error| broken(&error))?;
    }
    let mut at = match disk::open_root(&place.base, false) {
        Ok(base) => base,
        Err(error) if !create && error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(broken(&error)),
    };
    for name in place.below.iter().map(OsString::as_os_str).chain([OsStr::new(sub)]) {
        at = match open_or_create(&*at, name, create) {
            Ok(next) => next,
            Err(error) if !create && error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(broken(&error)),
        };
    }
    Ok(Some(at))
}

/// Opens a subdirectory, private and created if missing; never through a symlink.
pub(crate) fn open_or_create(at: &dyn Folder, name: &OsStr, create: bool) -> io::Result<Arc<dyn Folder>> {
    match at.folder(name) {
        Err(error) if create && error.kind() == io::ErrorKind::NotFound => {}
        other => return other,
    }
    match at.make_folder(name, Some(0o700)) {
        // Somebody else was faster.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    at.sync()?;
    at.folder(name)
}

fn create_base(base: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(base)
}

fn broken(error: &io::Error) -> Error {
    let known = Error::from_io(error, "state directory");
    let hint = "set XDG_STATE_HOME to a directory that can be written";
    Error::new(known.kind(), format!("{}; {hint}", known.message())).at("state directory")
}

/// A name for a set of roots that a person recognises and that no other set has.
fn workspace_key(roots: &[PathBuf]) -> String {
    let mut text = Vec::new();
    for root in roots {
        let canonical = root.canonicalize().unwrap_or_else(|_| root.clone());
        text.extend_from_slice(canonical.as_os_str().as_encoded_bytes());
        text.push(0);
    }
    let name = roots.first().and_then(|root| {
        root.canonicalize().unwrap_or_else(|_| root.clone()).file_name().map(OsStr::to_os_string)
    });
    let name = name.unwrap_or_else(|| "root".into());
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '_' };
    let readable: String = name.to_string_lossy().chars().map(plain).take(40).collect();
    let hash: String = Hash::of(&text).to_string().chars().take(16).collect();
    format!("{readable}-{hash}")
}
