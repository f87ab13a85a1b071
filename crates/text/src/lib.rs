//! Text that is safe to show.
//!
//! A file name, a command or a server's description may hold characters that a person does not see or that turn what
//! they see around. [`visible`] spells those out, [`clip`] does the same and cuts to a length. The policy module and the
//! host both show text, so both use these two functions and no other.
//!
//! ```
//! use toolwarden_text::{clip, visible};
//!
//! assert_eq!(visible("a\u{202e}b"), "a\\u{202e}b");
//! assert_eq!(clip("aaaa", 3), "aaa…");
//! ```

#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

extern crate alloc;

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt::Write as _;

use unicode_segmentation::UnicodeSegmentation as _;

/// Characters of a detail at most, unit: Unicode scalar values. Source: the gate's rules.
pub const DETAIL_CHARS: usize = 200;

/// A grapheme longer than this, in characters, is a stack of combining marks that hides its neighbours; it is shown one
/// character at a time, and may be cut inside.
const LONGEST_GRAPHEME: usize = 16;

/// Whether a character is shown as an escape: controls, line and paragraph separators, bidi controls, zero-width and
/// otherwise invisible characters, tags, private use, and what is no character at all.
#[must_use]
pub fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
            | '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' | '\u{f0000}'..='\u{10ffff}')
        || u32::from(c) & 0xfffe == 0xfffe
}

/// What some language's trim takes off the ends of a string: Unicode white space (Rust, Go), the byte order mark
/// (JavaScript), the file separators U+001C to U+001F (Python), and U+180E and U+200B (older runtimes). Nobody knows which of
/// them the program that finally uses a text is written in.
#[must_use]
pub fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}' | '\u{180e}' | '\u{200b}' | '\u{feff}')
}

/// The text with every [deceptive](is_deceptive) character spelled out, as `\n` or `\u{202e}`. A text without any is
/// handed back as it is. Saying it twice changes nothing.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        push_visible(&mut out, c);
    }
    Cow::Owned(out)
}

/// [`visible`], cut to at most `limit` characters and `…`. The cut falls between two graphemes, and never inside an escape.
#[must_use]
pub fn clip(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit && is_plain(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len().min(4 * limit) + 3);
    let mut room = limit;
    for grapheme in text.graphemes(true) {
        let long = grapheme.chars().nth(LONGEST_GRAPHEME).is_some();
        let whole = if long { 0 } else { grapheme.chars().map(shown_chars).sum() };
        if !long && whole > room {
            out.push('…');
            return Cow::Owned(out);
        }
        for c in grapheme.chars() {
            let Some(left) = room.checked_sub(shown_chars(c)) else {
                out.push('…');
                return Cow::Owned(out);
            };
            room = left;
            push_visible(&mut out, c);
        }
    }
    Cow::Owned(out)
}

/// Whether nothing needs an escape. ASCII, the common case, is decided byte by byte.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, 0x20..=0x7e)) || !text.chars().any(is_deceptive)
}

fn push_visible(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if is_deceptive(c) => {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
        c => out.push(c),
    }
}

/// How many characters [`push_visible`] adds.
fn shown_chars(c: char) -> usize {
    match c {
        '\n' | '\r' | '\t' => 2,
        c if is_deceptive(c) => {
            let digits = (u32::BITS - u32::from(c).leading_zeros()).div_ceil(4).max(1);
            4 + digits as usize
        }
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString as _;
    use alloc::vec::Vec;

    #[test]
    fn plain_text_is_borrowed() {
        assert!(matches!(visible("ls -la /repo"), Cow::Borrowed(_)));
        assert!(matches!(visible("日本語 é"), Cow::Borrowed(_)));
        assert!(matches!(clip("ls", DETAIL_CHARS), Cow::Borrowed(_)));
    }

    #[test]
    fn what_deceives_is_spelled_out() {
        let rows = [
            ("a\nb\r\tc", "a\\nb\\r\\tc"),
            ("\0", "\\u{0}"),
            ("\u{1b}[2J", "\\u{1b}[2J"),
            ("x\u{202e}gpj.exe", "x\\u{202e}gpj.exe"),
            ("\u{200b}\u{feff}\u{2066}", "\\u{200b}\\u{feff}\\u{2066}"),
            ("\u{e0069}", "\\u{e0069}"),
            ("\u{2028}", "\\u{2028}"),
        ];
        for (raw, shown) in rows {
            assert_eq!(visible(raw), shown);
            assert_eq!(visible(shown), shown, "saying it twice changes nothing");
        }
    }

    #[test]
    fn the_length_of_an_escape_is_foreseen() {
        for c in (0..=0x0010_ffff).filter_map(char::from_u32) {
            let mut out = String::new();
            push_visible(&mut out, c);
            assert_eq!(out.chars().count(), shown_chars(c), "{:x}", u32::from(c));
        }
    }

    #[test]
    fn a_cut_falls_between_graphemes_and_never_in_an_escape() {
        assert_eq!(clip("ae\u{301}x", 2), "a…");
        assert_eq!(clip("ae\u{301}x", 3), "ae\u{301}…");
        assert_eq!(clip("👩\u{1f3fd}b", 1), "…");
        assert_eq!(clip("ab\u{202e}", 5), "ab…");
        assert_eq!(clip("ab\u{202e}", 10), "ab\\u{202e}");
        assert_eq!(clip("abc", 3), "abc");
        assert_eq!(clip("", 0), "");
    }

    #[test]
    fn a_tower_of_marks_is_cut_inside() {
        let tower: String = core::iter::once('a').chain(core::iter::repeat_n('\u{301}', 1000)).collect();
        assert_eq!(clip(&tower, 200).chars().count(), 201);
    }

    #[test]
    fn no_cut_is_longer_than_asked() {
        let hard: Vec<char> = "a\u{301}\u{202e}\n日👩\u{200d}🔧".chars().collect();
        for length in 0..60 {
            let text: String = (0..length).filter_map(|i| hard.get(i * 7 % hard.len())).collect();
            for limit in 0..40 {
                let shown = clip(&text, limit).to_string();
                assert!(shown.chars().count() <= limit + 1, "{text:?} {limit}");
                assert!(!shown.chars().any(is_deceptive));
            }
        }
    }
}
