//! The token that requests over loopback carry.

use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use thiserror::Error;

/// Characters of a token at least: 128 bits in hexadecimal.
const SHORTEST: usize = 32;

/// Bytes of a token's file at most.
const LARGEST: u64 = 4096;

/// A secret that whoever asks must know.
#[derive(Clone, PartialEq, Eq)]
pub struct Token([u8; 32]);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Why there is no token.
#[derive(Debug, Error)]
pub enum TokenError {
    /// The file cannot be read or written.
    #[error("the token's file `{0}`: {1}")]
    File(PathBuf, io::Error),
    /// Somebody else can read it.
    #[error("the token's file `{0}` can be read by others; chmod 600 it, and write a new token")]
    Readable(PathBuf),
    /// It is too short to be a secret.
    #[error(
        "the token in `{0}` is shorter than {SHORTEST} characters, or has others than ASCII letters, digits, `-` and `_`"
    )]
    Weak(PathBuf),
}

impl TokenError {
    /// Stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::File(..) => "token-file",
            Self::Readable(_) => "token-readable",
            Self::Weak(_) => "token-weak",
        }
    }
}

impl Token {
    /// A token of this text. Only its digest is kept.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(Sha256::digest(text).into())
    }

    /// Whether this is it. The comparison is of digests, so its time tells nothing about the token.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        Self::new(text) == *self
    }

    /// The token in a file. Where there is no file, one is written, for its owner alone, with a token of 256 random bits.
    ///
    /// # Errors
    ///
    /// [`TokenError`].
    pub fn of_file(path: &Path) -> Result<Self, TokenError> {
        let failed = |error| TokenError::File(path.into(), error);
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Self::written(path).map_err(failed),
            Err(error) => return Err(failed(error)),
        };
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(failed(io::Error::other("it is no regular file")));
        }
        if is_readable_by_others(&file).map_err(failed)? {
            return Err(TokenError::Readable(path.into()));
        }
        let mut text = String::new();
        (&mut file).take(LARGEST).read_to_string(&mut text).map_err(failed)?;
        let text = text.trim();
        let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        if text.len() < SHORTEST || !is_plain {
            return Err(TokenError::Weak(path.into()));
        }
        Ok(Self::new(text))
    }

    fn written(path: &Path) -> io::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        let mut text = String::with_capacity(64);
        for byte in bytes {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        // Beside it and renamed, so that nobody reads half a token; whoever was faster keeps his.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist_noclobber(path)?;
        Ok(Self::new(&text))
    }
}

#[cfg(unix)]
fn is_readable_by_others(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(file.metadata()?.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "the same shape as where it can fail")]
fn is_readable_by_others(_file: &File) -> io::Result<bool> {
    // Files in a user's folders are that user's there.
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_written_once_and_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let token = Token::of_file(&path).unwrap();
        assert_eq!(Token::of_file(&path).unwrap(), token);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(token.is(&text) && !token.is("") && !token.is(&text.to_uppercase()) && text.len() == 64);
        assert_eq!(format!("{token:?}"), "Token(..)");
    }

    #[test]
    #[cfg(unix)]
    fn what_others_read_and_what_can_be_guessed_is_no_token() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        Token::of_file(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(Token::of_file(&path).unwrap_err().code(), "token-readable");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        for text in ["", "secret", &"x".repeat(31), &" x".repeat(40), "\u{e4}".repeat(40).as_str()] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(Token::of_file(&path).unwrap_err().code(), "token-weak", "{text:?}");
        }
        assert_eq!(Token::of_file(folder.path()).unwrap_err().code(), "token-file");
    }
}
