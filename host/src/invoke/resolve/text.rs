//! What the text of a path says by itself.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf, Prefix};

/// Whether a text may be handed to a file-system call at all.
///
/// On Windows the mere question whether `\\server\share\x` exists makes the system connect to that machine and send it
/// the user's credentials (an NTLM hash, from which a password can be guessed or which can be passed on). To judge such
/// a path by looking at it would be the damage. So a text is refused by its form alone, before any look:
///
/// - it holds a NUL, where the text that the system sees would end;
/// - it starts with two separators of either kind: UNC, `\\?\`, `\\.\`, and on posix a form that a system may give a
///   meaning of its own;
/// - it starts with `\??\`, `\Device\`, `\GLOBAL??\` or `\DosDevices\`: names of the Windows kernel, which reach every
///   device and, through one of them, every machine. `/??/` counts too.
///
/// The answer is the same on every system, since a text may be written on one and used on another. Blanks in front are
/// skipped, since whoever uses the text may trim it. A relative text may be touched. Names such as `CON` are no matter
/// of form, since they are good names elsewhere; [`real_path`](super::real_path) refuses them on Windows.
///
/// ```
/// use toolwarden::invoke::may_touch;
///
/// assert!(may_touch("/repo/src"));
/// assert!(may_touch(r"C:\repo\src"));
/// assert!(!may_touch(r"\\server\share"));
/// assert!(!may_touch("/\\server/share"));
/// ```
#[must_use]
pub fn may_touch(text: &str) -> bool {
    form(text) == Form::Plain
}

/// The form of a path's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    Nul,
    Network,
}

/// Folders at the root of the Windows kernel's name space.
const KERNEL_FOLDERS: [&str; 3] = ["Device", "GLOBAL??", "DosDevices"];

pub(super) fn form(text: &str) -> Form {
    if text.contains('\0') {
        return Form::Nul;
    }
    let text = text.trim_start_matches(|c: char| is_blank(c) || c.is_control());
    let Some(rest) = text.strip_prefix(is_separator) else {
        return Form::Plain;
    };
    let first = rest.split(is_separator).next().unwrap_or(rest);
    let kernel = text.starts_with('\\') && KERNEL_FOLDERS.iter().any(|folder| folder.eq_ignore_ascii_case(first));
    if rest.starts_with(is_separator) || first == "??" || kernel { Form::Network } else { Form::Plain }
}

const fn is_separator(c: char) -> bool {
    matches!(c, '/' | '\\')
}

/// What some language's `trim` takes away.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}' | '\u{180e}' | '\u{200b}' | '\u{feff}')
}

/// Whose rules the names follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Posix,
    Windows,
}

impl Dialect {
    /// The system that this is built for.
    pub(super) const HERE: Self = if cfg!(windows) { Self::Windows } else { Self::Posix };

    /// Whether the system uses a name as it is written.
    pub(super) fn keeps(self, name: &str) -> bool {
        match self {
            Self::Posix => true,
            Self::Windows => {
                let changes =
                    |c: char| c.is_control() || matches!(c, '<' | '>' | ':' | '"' | '/' | '\\' | '|' | '?' | '*');
                !name.contains(changes) && !name.ends_with(|c| c == '.' || is_blank(c)) && !is_device_name(name)
            }
        }
    }
}

/// Whether Windows takes a name for a device, whatever folder and extension it has.
fn is_device_name(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_matches(is_blank).to_ascii_uppercase();
    let numbered = |prefix| {
        let digit = stem.strip_prefix(prefix).unwrap_or_default();
        matches!(digit, "¹" | "²" | "³") || (digit.len() == 1 && digit.chars().all(|c| c.is_ascii_digit()))
    };
    matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$") || numbered("COM") || numbered("LPT")
}

/// `\\?\C:\x` as `C:\x`: what `canonicalize` and `read_link` hand out on Windows for a plain local path. Anything else,
/// and everything on posix, as it is.
pub(super) fn without_verbatim(path: &Path) -> Cow<'_, Path> {
    let mut components = path.components();
    let letter = match components.next() {
        Some(Component::Prefix(prefix)) => match prefix.kind() {
            Prefix::VerbatimDisk(letter) => letter,
            _ => return Cow::Borrowed(path),
        },
        _ => return Cow::Borrowed(path),
    };
    // Without a root it names the volume, not its top folder.
    if components.next() != Some(Component::RootDir) {
        return Cow::Borrowed(path);
    }
    let mut plain = PathBuf::from(format!("{}:\\", char::from(letter)));
    for component in components {
        // Not `push`: a name with a colon would replace the path instead of making it longer.
        if plain.as_os_str().as_encoded_bytes().last() != Some(&b'\\') {
            plain.as_mut_os_string().push("\\");
        }
        plain.as_mut_os_string().push(component);
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn may_touch_goes_by_the_form() {
        let good = [
            "",
            ".",
            "a",
            "a//b",
            "a\\\\b",
            "/",
            "\\",
            "/a",
            "/repo/src",
            "/a//b",
            "C:\\repo",
            "C:/repo",
            "C:\\\\a",
            "c:a",
            "\\a",
            "/Device/x",
            "/dev/null",
            "\\Devices\\x",
            "/aux/con",
            "/?",
            "/a/??/b",
            "??",
            " /a",
            "~/a",
            "é",
        ];
        for text in good {
            assert!(may_touch(text), "{text:?}");
        }
        let bad = [
            "//",
            "\\\\",
            "/\\",
            "\\/",
            "//server/share",
            "\\\\server\\share",
            "/\\server/x",
            "\\/server\\x",
            "///a",
            "\\\\?\\C:\\a",
            "\\\\.\\pipe\\x",
            "//?/UNC/server/share",
            "//./PhysicalDrive0",
            "\\??\\C:\\a",
            "/??/C:/a",
            "\\??",
            "\\??\\UNC\\server\\share",
            "\\Device\\Mup\\server\\share",
            "\\device\\HarddiskVolume1",
            "\\GLOBAL??\\C:",
            "\\global??/C:",
            "\\DosDevices\\C:\\a",
            "a\0b",
            "\0",
            " \\\\server\\share",
            "\t\n//server",
            "\u{a0}//server",
            "\u{feff}//server",
            "\\\\server@SSL\\DavWWWRoot",
        ];
        for text in bad {
            assert!(!may_touch(text), "{text:?}");
        }
    }

    #[test]
    fn windows_keeps_plain_names_only() {
        let kept =
            ["a", "a.b", ".a", "..a", "a b", "com", "com10", "comx", "lpt", "console", "nul1", "a.con", "é", "COM¹x"];
        for name in kept {
            assert!(Dialect::Windows.keeps(name), "{name:?}");
        }
        let rewritten = [
            "a.",
            "a ",
            "...",
            "a:b",
            "D:x",
            "a\\b",
            "a/b",
            "a\u{1}",
            "a?",
            "a*",
            "a|b",
            "<",
            ">",
            "\"",
            "con",
            "NUL",
            "nul.txt",
            "Aux.tar.gz",
            "nul .txt",
            "com1",
            "LPT9.x",
            "com²",
            "CONIN$",
            "conout$",
        ];
        for name in rewritten {
            assert!(!Dialect::Windows.keeps(name), "{name:?}");
            assert!(Dialect::Posix.keeps(name), "{name:?}");
        }
    }

    #[cfg(not(windows))]
    #[test]
    fn posix_knows_no_verbatim_form() {
        for text in ["/a/b", "a", "\\\\?\\C:\\a", "C:\\a"] {
            assert_eq!(without_verbatim(Path::new(text)), Cow::Borrowed(Path::new(text)));
        }
    }

    #[cfg(windows)]
    #[test]
    fn a_verbatim_drive_becomes_plain() {
        let rows = [
            ("\\\\?\\C:\\", "C:\\"),
            ("\\\\?\\C:\\a\\b", "C:\\a\\b"),
            ("\\\\?\\C:\\a\\D:x", "C:\\a\\D:x"),
            ("\\\\?\\C:\\a\\..\\b", "C:\\a\\..\\b"),
            ("\\\\?\\C:", "\\\\?\\C:"),
            ("\\\\?\\UNC\\s\\h", "\\\\?\\UNC\\s\\h"),
            ("C:\\a", "C:\\a"),
        ];
        for (given, plain) in rows {
            assert_eq!(without_verbatim(Path::new(given)).as_os_str(), plain);
        }
    }
}
