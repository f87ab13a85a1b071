//! When two names are so alike that what runs a call may take one for the other.

use toolwarden_text::{is_blank, is_deceptive};
use unicode_normalization::UnicodeNormalization as _;

/// A name as a careless reader sees it: without what cannot be seen, without outer blanks, in compatibility form and without
/// letter case.
pub(crate) fn fold(name: &str) -> String {
    let seen: String = name.chars().filter(|&c| !is_deceptive(c) && !c.is_control()).collect();
    seen.trim_matches(is_blank).nfkc().flat_map(char::to_lowercase).nfkc().collect()
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn what_looks_or_folds_alike_is_alike() {
        for name in [
            "Bash",
            "bash",
            "BASH ",
            "\u{a0}Bash",
            "Ba\u{17f}h",
            "\u{ff22}ash",
            "Bash\u{ad}",
            "Bash\u{2060}",
            "Bash\0",
            "\u{200b}bash",
        ] {
            assert_eq!(fold(name), "bash", "{name:?}");
        }
        for name in ["Ba sh", "Bash2", "B\u{430}sh"] {
            assert_ne!(fold(name), "bash", "{name:?}");
        }
    }
}
