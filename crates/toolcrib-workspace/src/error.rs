//! What can go wrong with files, as one type.
//!
//! Messages name paths as the caller wrote them (or relative to the root), never host paths.

use std::fmt;
use std::io;

/// The result of a workspace operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of thing went wrong; each kind asks for another reaction of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Nothing has that name.
    NotFound,
    /// It is a directory, and a file was wanted.
    IsDirectory,
    /// It is a file, and a directory was wanted.
    NotADirectory,
    /// A FIFO, socket, device or anything else that is not a regular file.
    NotAFile,
    /// The path leads out of every root.
    OutsideWorkspace,
    /// Inside a root, but never to be changed.
    Protected,
    /// The root is read-only.
    ReadOnly,
    /// The path itself is impossible: NUL, too long, empty.
    InvalidPath,
    /// Something is there already.
    AlreadyExists,
    /// The file is no longer what the caller saw.
    Stale,
    /// Another change stands in the way of this one.
    Conflict,
    /// More bytes or entries than the caller allowed.
    TooLarge,
    /// The operating system refuses.
    PermissionDenied,
    /// No room, or over a quota or a file-size limit.
    NoSpace,
    /// State on disk that cannot be read.
    Corrupt,
    /// State on disk written by a newer version.
    NewerVersion,
    /// A pattern, regular expression or patch that cannot be understood.
    InvalidPattern,
    /// The caller asked to stop.
    Cancelled,
    /// Anything else.
    Io,
}

/// A failed workspace operation.
#[derive(Clone, Debug)]
pub struct Error {
    kind: ErrorKind,
    path: Option<String>,
    message: String,
    near: Vec<String>,
    partial: bool,
}

impl Error {
    /// An error of `kind` that says `message`.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, path: None, message: message.into(), near: Vec::new(), partial: false }
    }

    /// The same error, about `path`.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// The same error, with names that the caller may have meant.
    #[must_use]
    pub fn with_near(mut self, near: Vec<String>) -> Self {
        self.near = near;
        self
    }

    /// The same error, of a change that could not be taken back whole.
    #[must_use]
    pub(crate) fn partial(mut self) -> Self {
        self.partial = true;
        self
    }

    /// Whether a part of the change may have stayed. Otherwise a failed change has changed nothing.
    pub fn is_partial(&self) -> bool {
        self.partial
    }

    /// What kind of error this is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The path it is about.
    pub fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// What went wrong, without the path.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Names that the caller may have meant.
    pub fn near(&self) -> &[String] {
        &self.near
    }

    /// An operating system error about `path`.
    pub fn from_io(error: &io::Error, path: impl Into<String>) -> Self {
        let (kind, message) = classify(error);
        Self::new(kind, message).at(path)
    }
}

/// Maps an operating system error to a kind and a text of our own.
fn classify(error: &io::Error) -> (ErrorKind, String) {
    use io::ErrorKind as K;
    let regular = error.get_ref().is_none_or(|inner| !inner.is::<crate::fs::NotRegular>());
    let kind = match error.kind() {
        _ if !regular => ErrorKind::NotAFile,
        K::NotFound => ErrorKind::NotFound,
        K::PermissionDenied => ErrorKind::PermissionDenied,
        K::AlreadyExists => ErrorKind::AlreadyExists,
        K::IsADirectory => ErrorKind::IsDirectory,
        K::NotADirectory => ErrorKind::NotADirectory,
        // Our own limit; from the operating system it is about writing.
        K::FileTooLarge if error.raw_os_error().is_none() => ErrorKind::TooLarge,
        K::StorageFull | K::QuotaExceeded | K::FileTooLarge => ErrorKind::NoSpace,
        K::ReadOnlyFilesystem => ErrorKind::ReadOnly,
        K::InvalidFilename | K::InvalidInput => ErrorKind::InvalidPath,
        K::CrossesDevices => ErrorKind::OutsideWorkspace,
        _ => ErrorKind::Io,
    };
    let message = match kind {
        ErrorKind::NotFound => "no such file or directory".into(),
        ErrorKind::PermissionDenied => "the operating system refuses access".into(),
        ErrorKind::AlreadyExists => "something with that name exists".into(),
        ErrorKind::IsDirectory => "it is a directory".into(),
        ErrorKind::NotAFile => "it is not a regular file (a FIFO, socket, device or the like)".into(),
        ErrorKind::NotADirectory => "a part of the path is not a directory".into(),
        ErrorKind::NoSpace => "no space left on the disk, or a size limit was reached".into(),
        ErrorKind::TooLarge => "the file is too large to be kept for undoing".into(),
        ErrorKind::ReadOnly => "the file system is read-only".into(),
        ErrorKind::InvalidPath => {
            "the path is not a valid file name (too long, or with forbidden bytes)".into()
        }
        ErrorKind::OutsideWorkspace => "the path leads outside the workspace".into(),
        _ => error.kind().to_string(),
    };
    (kind, message)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{path}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Error {}
