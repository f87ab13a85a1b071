//! Names that Windows reads otherwise than they are written.

use toolwarden_text::is_blank;

use super::reading::Reading;
use crate::model::CwdWhy;

/// `\\?\`, `\\.\` and `\??\`, with either slash.
pub(super) fn is_device_path(text: &str) -> bool {
    let slash = |b: u8| b == b'/' || b == b'\\';
    match *text.as_bytes() {
        [a, b, b'?' | b'.', c, ..] if slash(a) && slash(b) && slash(c) => true,
        [a, b'?', b'?', c, ..] => slash(a) && slash(c),
        _ => false,
    }
}

/// What is wrong with the names in a path that has no drive (any more). Each fault is looked for in the whole path before
/// the next one.
pub(super) fn bad_name(path: Reading) -> Option<CwdWhy> {
    let any = |fault: fn(&str) -> bool| path.segments().any(fault);
    if any(|s| s.contains(|c: char| c.is_control() || matches!(c, '<' | '>' | '"' | '|' | '?' | '*'))) {
        return Some(CwdWhy::BadCharacter);
    }
    if any(|s| s.contains(':')) {
        return Some(CwdWhy::Stream);
    }
    if any(|s| s != "." && s.ends_with(|c| c == '.' || is_blank(c))) {
        return Some(CwdWhy::TrailingDotOrSpace);
    }
    any(is_device_name).then_some(CwdWhy::DeviceName)
}

/// `CON`, `nul.txt`, `COM1`, `LPT²` and their like: the part before the first dot counts, in any letter case.
fn is_device_name(segment: &str) -> bool {
    const NAMES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];
    let stem = segment.split('.').next().unwrap_or_default().trim_matches(is_blank);
    if NAMES.iter().any(|name| stem.eq_ignore_ascii_case(name)) {
        return true;
    }
    let Some((port, number)) = stem.split_at_checked(3) else { return false };
    let mut number = number.chars();
    let one_digit = matches!((number.next(), number.next()), (Some('0'..='9' | '¹' | '²' | '³'), None));
    one_digit && (port.eq_ignore_ascii_case("COM") || port.eq_ignore_ascii_case("LPT"))
}
