//! Patterns for names: `*` stands for any characters, `?` for one; everything else, letter case included, for itself.

use std::string::String;

/// A pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Glob(String);

impl Glob {
    pub fn new(pattern: &str) -> Self {
        Self(pattern.into())
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the pattern stands for exactly one name.
    pub fn is_literal(&self) -> bool {
        !self.0.contains(['*', '?'])
    }

    /// Whether the pattern stands for this name.
    pub fn matches(&self, name: &str) -> bool {
        matches(&self.0, name)
    }
}

/// Linear but for the last `*`, to which it returns: at worst `pattern * name` steps, never exponential.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let (mut pattern, mut name) = (pattern.chars(), name.chars());
    let mut retry = None;
    loop {
        match (pattern.next(), name.clone().next()) {
            (Some('*'), _) => retry = Some((pattern.clone(), name.clone())),
            (Some(p), Some(n)) if p == '?' || p == n => {
                name.next();
            }
            (None, None) => return true,
            _ => {
                let Some((after_star, mut from)) = retry.take() else { return false };
                if from.next().is_none() {
                    return false;
                }
                (pattern, name) = (after_star.clone(), from.clone());
                retry = Some((after_star, from));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_pattern_stands_for_whole_names() {
        let rows = [
            ("", "", true),
            ("", "a", false),
            ("Bash", "Bash", true),
            ("Bash", "bash", false),
            ("Bash", "Bashx", false),
            ("*", "", true),
            ("*", "anything", true),
            ("mcp__github__*", "mcp__github__create_issue", true),
            ("mcp__github__*", "mcp__gitlab__create_issue", false),
            ("*_file", "read_file", true),
            ("*_file", "read_file_x", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("sftp_?", "sftp_x", true),
            ("sftp_?", "sftp_", false),
            ("?", "日", true),
            ("**", "a", true),
        ];
        for (pattern, name, expected) in rows {
            assert_eq!(matches(pattern, name), expected, "{pattern:?} {name:?}");
        }
    }

    #[test]
    fn many_stars_stay_cheap() {
        let pattern = "a*".repeat(1000) + "b";
        assert!(!matches(&pattern, &"a".repeat(5000)));
    }
}
