//! One way to read a cwd.

/// A text together with what counts as a separator in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading<'a> {
    /// The text of this reading.
    pub text: &'a str,
    /// Whether `\` separates as `/` does.
    pub backslash: bool,
}

impl<'a> Reading<'a> {
    /// Whether a character separates segments.
    pub fn separates(self, c: char) -> bool {
        c == '/' || (self.backslash && c == '\\')
    }

    /// The segments, empty ones included.
    pub fn segments(self) -> impl Iterator<Item = &'a str> + Clone {
        self.text.split(move |c| self.separates(c))
    }

    /// How many separators the text starts with, counted up to 2.
    pub fn leading_separators(self) -> usize {
        self.text.chars().take(2).take_while(|&c| self.separates(c)).count()
    }

    /// The reading without its first bytes.
    pub fn skip(self, bytes: usize) -> Self {
        Self { text: self.text.get(bytes..).unwrap_or_default(), ..self }
    }

    /// The part of the first segment before its first `:`, and what follows that. Looks no further than it must.
    pub fn scheme(self) -> Option<(&'a str, Self)> {
        let end = self.text.find(|c| c == ':' || self.separates(c))?;
        let (scheme, rest) = self.text.split_at(end);
        let rest = rest.strip_prefix(':')?;
        Some((scheme, Self { text: rest, ..self }))
    }
}

/// Whether a text starts with a drive: a letter and a colon.
pub(super) fn is_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}
