//! The one error type of the core.
//!
//! Every failure carries what a program needs (a stable [`Error::code`], the path, the line, the
//! entry) and a sentence that says what happened and, where it helps, what to do. I/O failures keep
//! the names of the operating system (`ENOENT`, `ENOSPC`), because callers already test for those.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Result of everything in the core that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, with the data to say so.
#[derive(Debug)]
pub enum Error {
    /// An entry id that the session does not have.
    EntryNotFound {
        /// The id as it was given.
        id: String,
    },
    /// A non-empty file without a usable header, or a line that cannot be read where it must be.
    Corrupt {
        /// The file.
        path: PathBuf,
        /// 1-based number of the first line that is in the way.
        line: u64,
        /// Byte offset of that line.
        offset: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A file that cannot be repaired, as nothing in it can be read.
    NothingToSalvage {
        /// The file.
        path: PathBuf,
    },
    /// The file is not the one this session was reading and writing.
    Conflict {
        /// The file.
        path: PathBuf,
        /// What was found instead.
        reason: String,
    },
    /// Another process held the lock for too long.
    Locked {
        /// The file.
        path: PathBuf,
        /// How long the lock was tried for, in milliseconds.
        waited_ms: u64,
    },
    /// A value that the operation cannot take.
    InvalidArgument {
        /// What is wrong, naming the argument.
        reason: String,
    },
    /// A failed call to the operating system.
    Io {
        /// The file or directory of the call.
        path: PathBuf,
        /// The call, by its POSIX name.
        syscall: &'static str,
        /// The cause.
        source: io::Error,
    },
}

impl Error {
    /// An I/O failure of `syscall` on `path`.
    pub fn io(syscall: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Error::Io { path: path.into(), syscall, source }
    }

    /// Stable name of the failure: an `ERR_*` of this package or the system's own.
    pub fn code(&self) -> &'static str {
        match self {
            Error::EntryNotFound { .. } => "ERR_ENTRY_NOT_FOUND",
            Error::Corrupt { .. } | Error::NothingToSalvage { .. } => "ERR_SESSION_CORRUPT",
            Error::Conflict { .. } => "ERR_SESSION_CONFLICT",
            Error::Locked { .. } => "ERR_SESSION_LOCKED",
            Error::InvalidArgument { .. } => "ERR_INVALID_ARGUMENT",
            Error::Io { source, .. } => errno_name(source),
        }
    }

    /// The file concerned, if there is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Error::Corrupt { path, .. }
            | Error::NothingToSalvage { path }
            | Error::Conflict { path, .. }
            | Error::Locked { path, .. }
            | Error::Io { path, .. } => Some(path),
            Error::EntryNotFound { .. } | Error::InvalidArgument { .. } => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::EntryNotFound { id } => write!(f, "Entry {id} not found"),
            Error::Corrupt { path, line, reason, .. } => write!(
                f,
                "{} is not a valid session file: line {line}: {reason}. The file was left as it is; \
                 SessionManager.verify(path) says what can be read, SessionManager.repair(path) salvages it",
                path.display()
            ),
            Error::NothingToSalvage { path } => write!(
                f,
                "{}: nothing in it can be read as a session. The file was left as it is; put a copy of \
                 it back from a backup, or move it away",
                path.display()
            ),
            Error::Conflict { path, reason } => {
                write!(f, "{}: {reason}. Nothing was overwritten; open the session again", path.display())
            }
            Error::Locked { path, waited_ms } => write!(
                f,
                "{} is locked by another process (tried for {waited_ms} ms). Nothing is lost: what is \
                 not written yet is written by the next append, flush or close",
                path.display()
            ),
            Error::InvalidArgument { reason } => f.write_str(reason),
            Error::Io { path, syscall, source, .. } => {
                write!(f, "{}: {}, {syscall} '{}'", errno_name(source), system_text(source), path.display())
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// The system's words for an I/O failure, which begin in lower case as those of Node.js do.
fn system_text(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}", first.to_ascii_lowercase(), letters.as_str()))
}

/// The system's name of an I/O failure, as Node.js spells it in `error.code`.
fn errno_name(error: &io::Error) -> &'static str {
    #[cfg(unix)]
    if let Some(number) = error.raw_os_error() {
        let named = [
            (libc::EACCES, "EACCES"),
            (libc::EBADF, "EBADF"),
            (libc::EBUSY, "EBUSY"),
            (libc::EDQUOT, "EDQUOT"),
            (libc::EEXIST, "EEXIST"),
            (libc::EFBIG, "EFBIG"),
            (libc::EINVAL, "EINVAL"),
            (libc::EIO, "EIO"),
            (libc::EISDIR, "EISDIR"),
            (libc::ELOOP, "ELOOP"),
            (libc::EMFILE, "EMFILE"),
            (libc::ENAMETOOLONG, "ENAMETOOLONG"),
            (libc::ENFILE, "ENFILE"),
            (libc::ENOENT, "ENOENT"),
            (libc::ENOMEM, "ENOMEM"),
            (libc::ENOSPC, "ENOSPC"),
            (libc::ENOTDIR, "ENOTDIR"),
            (libc::ENOTEMPTY, "ENOTEMPTY"),
            (libc::EPERM, "EPERM"),
            (libc::EROFS, "EROFS"),
            (libc::ESTALE, "ESTALE"),
            (libc::EXDEV, "EXDEV"),
        ];
        if let Some((_, name)) = named.iter().find(|(value, _)| *value == number) {
            return name;
        }
    }
    match error.kind() {
        io::ErrorKind::NotFound => "ENOENT",
        io::ErrorKind::PermissionDenied => "EACCES",
        io::ErrorKind::AlreadyExists => "EEXIST",
        io::ErrorKind::StorageFull => "ENOSPC",
        io::ErrorKind::NotADirectory => "ENOTDIR",
        io::ErrorKind::IsADirectory => "EISDIR",
        io::ErrorKind::InvalidInput => "EINVAL",
        _ => "EIO",
    }
}
