//! The socket: its mode, who holds it, and its end.

use std::fs::{self, File, Permissions};
use std::mem::MaybeUninit;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};

use rustix::fs::inotify;
use rustix::io::Errno;

use super::{Folder, Running};
use crate::{CannotBind, Socket};

#[test]
fn only_its_owner_can_use_the_socket() {
    let folder = Folder::new();
    let _socket = Socket::bind(&folder.path("kms.sock")).unwrap();
    let mode = fs::metadata(folder.path("kms.sock")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn the_socket_has_its_mode_when_its_file_appears() {
    let folder = Folder::new();
    let changes = inotify::init(inotify::CreateFlags::NONBLOCK).unwrap();
    inotify::add_watch(&changes, folder.path(""), inotify::WatchFlags::ATTRIB).unwrap();
    let _socket = Socket::bind(&folder.path("kms.sock")).unwrap();
    let mut buffer = [MaybeUninit::uninit(); 512];
    let mut changes = inotify::Reader::new(&changes, &mut buffer);
    assert_eq!(changes.next().err(), Some(Errno::AGAIN));
}

#[test]
fn a_folder_in_which_others_can_replace_the_socket_is_refused() {
    let folder = Folder::new();
    for (mode, is_refused) in
        [(0o777, true), (0o720, true), (0o702, true), (0o1777, false), (0o755, false)]
    {
        fs::set_permissions(folder.path(""), Permissions::from_mode(mode)).unwrap();
        let bound = Socket::bind(&folder.path("kms.sock"));
        assert_eq!(matches!(bound, Err(CannotBind::Exposed(_))), is_refused, "{mode:o}: {bound:?}");
        assert_eq!(bound.is_err(), is_refused, "{mode:o}: {bound:?}");
    }
}

#[test]
fn a_socket_of_another_process_is_left_alone() {
    let folder = Folder::new();
    let path = folder.path("kms.sock");
    let other = UnixListener::bind(&path).unwrap();
    let refused = Socket::bind(&path).unwrap_err();
    assert!(matches!(refused, CannotBind::Held(_)), "{refused}");
    UnixStream::connect(&path).unwrap();
    other.accept().unwrap();
}

#[test]
fn a_socket_that_a_process_left_behind_is_replaced() {
    let folder = Folder::new();
    let path = folder.path("kms.sock");
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let _socket = Socket::bind(&path).unwrap();
    UnixStream::connect(&path).unwrap();
}

#[test]
fn another_file_is_left_alone() {
    let folder = Folder::new();
    fs::write(folder.path("kms.sock"), "kept").unwrap();
    std::os::unix::fs::symlink(folder.path("gone"), folder.path("link")).unwrap();
    for name in ["kms.sock", "link"] {
        let refused = Socket::bind(&folder.path(name)).unwrap_err();
        assert!(matches!(refused, CannotBind::NotASocket(_)), "{refused}");
    }
    assert_eq!(fs::read_to_string(folder.path("kms.sock")).unwrap(), "kept");
}

#[test]
fn a_path_has_at_most_107_bytes() {
    let folder = Folder::new();
    let rest = 107 - folder.path("").as_os_str().len();
    let longest = folder.path(&"x".repeat(rest));
    assert_eq!(longest.as_os_str().len(), 107);
    let _socket = Socket::bind(&longest).unwrap();
    UnixStream::connect(&longest).unwrap();
    let refused = Socket::bind(&folder.path(&"x".repeat(rest + 1))).unwrap_err();
    assert!(matches!(refused, CannotBind::TooLong(108)), "{refused}");
}

#[test]
fn a_missing_folder_is_named() {
    let folder = Folder::new();
    let refused = Socket::bind(&folder.path("missing/kms.sock")).unwrap_err().to_string();
    assert!(refused.contains("missing/kms.sock: No such file or directory"), "{refused}");
}

#[test]
fn of_plugins_that_start_together_one_gets_the_socket() {
    let folder = Folder::new();
    let path = folder.path("kms.sock");
    drop(UnixListener::bind(&path).unwrap());
    let bound: Vec<_> = std::thread::scope(|scope| {
        let starts: Vec<_> = (0..8).map(|_| scope.spawn(|| Socket::bind(&path))).collect();
        starts.into_iter().map(|start| start.join().unwrap()).collect()
    });
    assert_eq!(bound.iter().filter(|socket| socket.is_ok()).count(), 1, "{bound:?}");
    UnixStream::connect(&path).unwrap();
}

#[test]
fn while_another_process_replaces_sockets_none_is_created_or_removed() {
    let folder = Folder::new();
    let (path, other) = (folder.path("kms.sock"), File::open(folder.path("")).unwrap());
    let socket = Socket::bind(&path).unwrap();
    other.lock().unwrap();
    let refused = Socket::bind(&folder.path("second.sock")).unwrap_err();
    assert!(matches!(refused, CannotBind::Busy(_)), "{refused}");
    drop(socket);
    assert!(path.exists());
    other.unlock().unwrap();
    drop(Socket::bind(&path).unwrap());
    assert!(!path.exists());
}

#[tokio::test]
async fn the_socket_is_gone_after_the_last_call() {
    let plugin = Running::new().await;
    plugin.key().await;
    plugin.stop.send(()).unwrap();
    plugin.served.await.unwrap().unwrap();
    assert!(!plugin.folder.path("kms.sock").exists());
}

#[tokio::test]
async fn a_socket_that_took_its_place_stays() {
    let plugin = Running::new().await;
    let path = plugin.folder.path("kms.sock");
    fs::remove_file(&path).unwrap();
    let _other = UnixListener::bind(&path).unwrap();
    plugin.stop.send(()).unwrap();
    plugin.served.await.unwrap().unwrap();
    assert!(path.exists());
}
