//! The Unix socket, which only its owner can use.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, fchmod};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use rustix::process::geteuid;

/// The longest path of a socket on Linux, without its final zero.
const MAX_PATH: usize = 107;
const MODE: Mode = Mode::RUSR.union(Mode::WUSR);
const BACKLOG: i32 = 128;
/// The modes of a folder in which its group and others can create files.
const WRITABLE: u32 = 0o022;
/// The mode of a folder in which nobody removes the files of others.
const STICKY: u32 = 0o1000;

/// A socket that listens. It is removed when this value is dropped.
#[derive(Debug)]
pub struct Socket {
    listener: UnixListener,
    file: SocketFile,
}

/// The file of a socket.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    device: u64,
    inode: u64,
}

/// Why there can be no socket at a path.
#[derive(Debug, thiserror::Error)]
pub enum CannotBind {
    /// Linux does not support so long paths.
    #[error("the path of the socket has {0} bytes; Linux allows at most {MAX_PATH}")]
    TooLong(usize),
    /// Another process uses it.
    #[error("another process listens on {}", .0.display())]
    Held(PathBuf),
    /// Another plugin starts at the same time.
    #[error("another process creates a socket in {}; try again", .0.display())]
    Busy(PathBuf),
    /// Others could replace the socket, and then read the seeds.
    #[error("other users can replace the socket, because they can write to {}", .0.display())]
    Exposed(PathBuf),
    /// Another file is in its place.
    #[error("{} exists and is no socket", .0.display())]
    NotASocket(PathBuf),
    /// The system refuses it.
    #[error("cannot create the socket {}: {source}", path.display())]
    System {
        /// The path.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

impl Socket {
    /// Creates the socket. A socket that a process left behind is replaced.
    pub fn bind(path: &Path) -> Result<Self, CannotBind> {
        let length = path.as_os_str().as_bytes().len();
        if length > MAX_PATH {
            return Err(CannotBind::TooLong(length));
        }
        let refused = |source| CannotBind::System { path: path.to_owned(), source };
        let folder = folder_of(path);
        // Without the lock, two plugins could both find a stale socket, and the slower one would remove the
        // socket of the faster one.
        let lock = lock(folder).map_err(|error| match error {
            TryLockError::WouldBlock => CannotBind::Busy(folder.to_owned()),
            TryLockError::Error(source) => refused(source),
        })?;
        if is_exposed(&lock).map_err(refused)? {
            return Err(CannotBind::Exposed(folder.to_owned()));
        }
        make_room(path)?;
        listen(path).map_err(refused)
    }

    pub(crate) fn into_listener(self) -> io::Result<(tokio::net::UnixListener, SocketFile)> {
        let listener = tokio::net::UnixListener::from_std(self.listener)?;
        Ok((listener, self.file))
    }
}

impl SocketFile {
    /// Removes the file, unless another one has taken its place. With the lock, none can take it meanwhile.
    fn remove(&self) -> io::Result<()> {
        let _lock = lock(folder_of(&self.path))?;
        let found = fs::symlink_metadata(&self.path)?;
        match (found.dev(), found.ino()) == (self.device, self.inode) {
            true => fs::remove_file(&self.path),
            false => Ok(()),
        }
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        match self.remove() {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                tracing::warn!(%error, path = %self.path.display(), "cannot remove the socket");
            }
            _ => {}
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Locks a folder until the value is dropped, without waiting.
fn lock(folder: &Path) -> Result<File, TryLockError> {
    let opened = File::open(folder).map_err(TryLockError::Error)?;
    opened.try_lock()?;
    Ok(opened)
}

/// Whether users other than this one and root can remove files of a folder.
fn is_exposed(folder: &File) -> io::Result<bool> {
    let found = folder.metadata()?;
    let is_foreign = found.uid() != 0 && found.uid() != geteuid().as_raw();
    Ok(is_foreign || found.mode() & WRITABLE != 0 && found.mode() & STICKY == 0)
}

/// Removes a socket on which no process listens. Refuses everything else that exists.
fn make_room(path: &Path) -> Result<(), CannotBind> {
    let refused = |source| CannotBind::System { path: path.to_owned(), source };
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(refused(error)),
    };
    if !found.file_type().is_socket() {
        return Err(CannotBind::NotASocket(path.to_owned()));
    }
    match connect(path) {
        Err(Errno::CONNREFUSED) => fs::remove_file(path).map_err(refused),
        // A process whose queue is full is there too.
        Ok(()) | Err(Errno::AGAIN) => Err(CannotBind::Held(path.to_owned())),
        Err(error) => Err(refused(error.into())),
    }
}

/// Connects without waiting.
fn connect(path: &Path) -> rustix::io::Result<()> {
    rustix::net::connect(&new_socket()?, &SocketAddrUnix::new(path)?)
}

/// Creates the file with its mode. Linux takes the mode of the new file from the socket.
fn listen(path: &Path) -> io::Result<Socket> {
    let socket = new_socket()?;
    fchmod(&socket, MODE)?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    let created = fs::symlink_metadata(path)?;
    let file = SocketFile { path: path.to_owned(), device: created.dev(), inode: created.ino() };
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(Socket { listener: UnixListener::from(socket), file })
}

fn new_socket() -> rustix::io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
}
