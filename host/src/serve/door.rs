//! Where requests come in.

use std::io;
use std::net::SocketAddr;
#[cfg(unix)]
use std::path::{Path, PathBuf};

use thiserror::Error;
use tokio::net::TcpListener;
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};

/// Why no request comes in.
#[derive(Debug, Error)]
pub enum DoorError {
    /// The address is one that other machines reach.
    #[error("`{0}` is no loopback address; other machines would reach it")]
    NotLoopback(SocketAddr),
    /// Somebody serves there.
    #[error("`{0}` is in use: another sidecar, or what else listens there")]
    InUse(String),
    /// Something else is there.
    #[error("`{0}` is there already, and no socket")]
    NotASocket(String),
    /// The system refuses.
    #[error("`{0}`: {1}")]
    System(String, io::Error),
}

impl DoorError {
    /// Stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotLoopback(_) => "not-loopback",
            Self::InUse(_) => "address-in-use",
            Self::NotASocket(_) => "not-a-socket",
            Self::System(..) => "not-listening",
        }
    }
}

/// Where requests come in.
#[derive(Debug)]
pub enum Door {
    /// A socket of our own, which is gone when this is.
    #[cfg(unix)]
    Socket(Socket),
    /// The loopback interface.
    Loopback(TcpListener, SocketAddr),
}

/// A Unix socket, its owner's alone.
#[cfg(unix)]
#[derive(Debug)]
pub struct Socket {
    pub(super) listener: UnixListener,
    path: PathBuf,
}

#[cfg(unix)]
impl Drop for Socket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Door {
    /// Opens a Unix socket. One that nobody serves any more is replaced.
    ///
    /// # Errors
    ///
    /// [`DoorError`].
    #[cfg(unix)]
    pub async fn socket(path: &Path) -> Result<Self, DoorError> {
        use std::os::unix::fs::FileTypeExt as _;
        let shown = || path.display().to_string();
        let failed = |error| DoorError::System(shown(), error);
        match path.symlink_metadata() {
            Ok(metadata) if !metadata.file_type().is_socket() => return Err(DoorError::NotASocket(shown())),
            Ok(_) if UnixStream::connect(path).await.is_ok() => return Err(DoorError::InUse(shown())),
            Ok(_) => std::fs::remove_file(path).map_err(failed)?,
            Err(_) => {}
        }
        // Nobody else may ever connect, not even before the mode is set.
        let before = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o177));
        let listener = UnixListener::bind(path);
        rustix::process::umask(before);
        Ok(Self::Socket(Socket { listener: listener.map_err(failed)?, path: path.into() }))
    }

    /// Listens on a loopback address; port 0 takes any that is free.
    ///
    /// # Errors
    ///
    /// [`DoorError`].
    pub async fn loopback(address: SocketAddr) -> Result<Self, DoorError> {
        if !address.ip().is_loopback() {
            return Err(DoorError::NotLoopback(address));
        }
        let listener = TcpListener::bind(address).await.map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => DoorError::InUse(address.to_string()),
            _ => DoorError::System(address.to_string(), error),
        })?;
        let address = listener.local_addr().map_err(|error| DoorError::System(address.to_string(), error))?;
        Ok(Self::Loopback(listener, address))
    }

    /// Where it is, as a person writes it.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            #[cfg(unix)]
            Self::Socket(socket) => socket.path.display().to_string(),
            Self::Loopback(_, address) => format!("http://{address}"),
        }
    }
}
