//! The environment, as far as servers get to see it.

use std::collections::BTreeMap;

/// Variables that a server inherits. The official clients hand down the first six of Unix and those of Windows; language,
/// time zone and temporary folder are ours, since servers behave otherwise without them and none holds a secret.
pub const INHERITED: &[&str] = if cfg!(windows) {
    &[
        "APPDATA",
        "HOMEDRIVE",
        "HOMEPATH",
        "LOCALAPPDATA",
        "PATH",
        "PATHEXT",
        "PROCESSOR_ARCHITECTURE",
        "SYSTEMDRIVE",
        "SYSTEMROOT",
        "TEMP",
        "USERNAME",
        "USERPROFILE",
    ]
} else {
    &["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ"]
};

/// Variables of the environment, taken once.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment").field("variables", &self.0.len()).finish()
    }
}

impl Environment {
    /// That of this process. What is no Unicode is left out.
    #[must_use]
    pub fn of_process() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        std::env::vars_os().filter_map(text).collect()
    }

    /// A variable.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// What servers inherit. Shell functions that were exported as variables are code, and stay here.
    #[must_use]
    pub fn inherited(&self) -> BTreeMap<String, String> {
        let allowed = INHERITED.iter().filter_map(|name| self.0.get_key_value(*name));
        allowed
            .filter(|(_, value)| !value.starts_with("()"))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(variables: T) -> Self {
        Self(variables.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_inherit_the_least() {
        let environment: Environment =
            [("PATH", "/bin"), ("AWS_SECRET", "x"), ("HOME", "() { :; }"), ("LD_PRELOAD", "y")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into_iter()
                .collect();
        assert_eq!(environment.inherited(), BTreeMap::from([("PATH".to_owned(), "/bin".to_owned())]));
        assert_eq!(format!("{environment:?}"), "Environment { variables: 4 }");
    }
}
