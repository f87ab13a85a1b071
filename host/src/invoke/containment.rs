//! The host's own, coarse idea of where a cwd leads. The policy module judges finely; this is the floor beneath it, and what
//! the host needs to know before it touches the file system.
//!
//! Like the module it reads a text in several ways, but it knows only three outcomes: clearly below a root by name, in a
//! skill, or not clearly either.

use serde_json::Value;
use toolwarden_text::is_blank;

use super::resolve::may_touch;
use crate::call::{CwdFacts, Flavour, Resolution, Workspace};

/// One way to read a cwd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Below the workspace root, by this relative path.
    Relative(String),
    /// Below a root or skills root, by this absolute path.
    Absolute(String),
    /// In a skill, by this path below a skills root.
    Skill(String),
}

/// All ways to read a cwd. None where one of them is not clearly inside.
pub(super) fn places(cwd: Option<&Value>, workspace: &Workspace) -> Option<Vec<Place>> {
    /// Schemes before schemes that are followed. A longer chain is no cwd that anybody means.
    const CHAIN: usize = 8;
    let text = match cwd {
        None => "",
        Some(Value::String(text)) => text,
        Some(_) => return None,
    };
    if !is_absolute(&workspace.root, workspace.flavour) {
        return None;
    }
    let mut places = Vec::with_capacity(2);
    let mut texts = vec![text.to_owned()];
    for _ in 0..=CHAIN {
        let mut rests = Vec::new();
        for reading in texts.iter().flat_map(|text| readings(text, workspace.flavour)) {
            match scheme(&reading, "workspace") {
                // What stands behind the scheme is a text with readings of its own.
                Some(rest) => rests.push(rest.to_owned()),
                None => places.push(place(&reading, workspace)?),
            }
        }
        if rests.is_empty() {
            places.dedup();
            return Some(places);
        }
        rests.dedup();
        texts = rests;
    }
    None
}

/// Whether a cwd is clearly inside: by every way to read it, and, where links were followed, by every real path.
pub(super) fn is_contained(cwd: Option<&Value>, workspace: &Workspace, facts: &CwdFacts) -> bool {
    let Some(places) = places(cwd, workspace) else { return false };
    match facts.resolution {
        Resolution::NotAttempted => true,
        Resolution::Failed => false,
        Resolution::Resolved => {
            let skills = if facts.skills_roots.is_empty() { &workspace.skills } else { &facts.skills_roots };
            let in_skill = places.iter().any(|p| match p {
                Place::Skill(_) => true,
                Place::Absolute(path) => !below_any(path, &roots(workspace), workspace.flavour),
                Place::Relative(_) => false,
            });
            !facts.paths.is_empty()
                && facts.paths.iter().all(|path| {
                    below_any(path, &facts.roots, workspace.flavour)
                        || (in_skill && in_a_skill(path, skills, workspace.flavour))
                })
        }
    }
}

/// The roots that a cwd may lie below.
pub(super) fn roots(workspace: &Workspace) -> Vec<String> {
    std::iter::once(&workspace.root).chain(&workspace.extra_roots).cloned().collect()
}

/// As given and trimmed; on posix also with `\` as a separator.
fn readings(text: &str, flavour: Flavour) -> Vec<String> {
    let trimmed = text.trim_matches(is_blank);
    let mut readings = vec![text.to_owned(), trimmed.to_owned()];
    if flavour == Flavour::Posix && text.contains('\\') {
        readings.extend([text.replace('\\', "/"), trimmed.replace('\\', "/")]);
    }
    readings.dedup();
    readings
}

fn place(text: &str, workspace: &Workspace) -> Option<Place> {
    let flavour = workspace.flavour;
    if let Some(path) = scheme(text, "skill") {
        let path = path.trim_start_matches(|c| separates(c, flavour));
        // Whether blanks belong to a skill's name is anybody's guess.
        let padded = path.split(|c| separates(c, flavour)).any(|name| name.trim_matches(is_blank) != name);
        // Without a name it is the folder of all skills, which is no skill.
        let named = !matches!(path.split(|c| separates(c, flavour)).next(), None | Some("" | "."));
        return (named && !padded && plain_names(path, flavour)).then(|| Place::Skill(path.into()));
    }
    if text.trim_matches(is_blank).is_empty() {
        return Some(Place::Relative(String::new()));
    }
    if !may_touch(text) || text.starts_with(['~', '$', '`', '%']) {
        return None;
    }
    if is_absolute(text, flavour) {
        let names = match flavour {
            Flavour::Windows => text.get(2..)?,
            Flavour::Posix => text,
        };
        let below = below_any(text, &roots(workspace), flavour) || in_a_skill(text, &workspace.skills, flavour);
        return (below && plain_names(names, flavour)).then(|| Place::Absolute(text.into()));
    }
    let first = text.split(|c| separates(c, flavour)).next()?;
    (!first.is_empty() && !first.contains(':') && plain_names(text, flavour)).then(|| Place::Relative(text.into()))
}

/// What follows a scheme, in any letter case.
fn scheme<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (scheme, rest) = text.split_at_checked(name.len())?;
    if scheme.eq_ignore_ascii_case(name) { rest.strip_prefix(':') } else { None }
}

/// No way up, and on Windows no name that the system would read otherwise.
fn plain_names(path: &str, flavour: Flavour) -> bool {
    path.split(|c| separates(c, flavour)).all(|name| {
        let odd = flavour == Flavour::Windows && (name.contains(':') || (name != "." && name.ends_with(['.', ' '])));
        name.trim_matches(is_blank) != ".." && !odd
    })
}

fn below_any(path: &str, roots: &[String], flavour: Flavour) -> bool {
    roots.iter().any(|root| is_below(path, root, flavour))
}

/// Whether a path lies below a skills root by a name: the folder of all skills is no skill.
fn in_a_skill(path: &str, skills: &[String], flavour: Flavour) -> bool {
    let depth = |text: &str| names(text, flavour).count();
    skills.iter().any(|root| is_below(path, root, flavour) && depth(path) > depth(root))
}

fn is_below(path: &str, root: &str, flavour: Flavour) -> bool {
    let same = |a: &str, b: &str| match flavour {
        Flavour::Posix => a == b,
        Flavour::Windows => a.eq_ignore_ascii_case(b),
    };
    let names = |text| names(text, flavour);
    let mut path_names = names(path);
    is_absolute(path, flavour)
        && is_absolute(root, flavour)
        && names(root).all(|name| path_names.next().is_some_and(|p| same(p, name)))
        && !names(path).any(|name| name == "..")
}

fn names(path: &str, flavour: Flavour) -> impl Iterator<Item = &str> {
    path.split(move |c| separates(c, flavour)).filter(|s| !matches!(*s, "" | "."))
}

fn separates(c: char, flavour: Flavour) -> bool {
    c == '/' || (flavour == Flavour::Windows && c == '\\')
}

fn is_absolute(path: &str, flavour: Flavour) -> bool {
    match (flavour, path.as_bytes()) {
        (Flavour::Posix, [b'/', ..]) | (Flavour::Windows, [b'/' | b'\\', b'/' | b'\\', ..]) => true,
        (Flavour::Windows, [letter, b':', b'/' | b'\\', ..]) => letter.is_ascii_alphabetic(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(flavour: Flavour) -> Workspace {
        let (root, skills) = match flavour {
            Flavour::Posix => ("/repo", "/skills"),
            Flavour::Windows => ("C:\\repo", "C:\\skills"),
        };
        Workspace { root: root.into(), extra_roots: vec![], flavour, home: String::new(), skills: vec![skills.into()] }
    }

    #[test]
    fn only_what_is_clearly_inside_is_contained() {
        let rows: &[(Flavour, Value, bool)] = &[
            (Flavour::Posix, "src".into(), true),
            (Flavour::Posix, "  ".into(), true),
            (Flavour::Posix, "/repo/src".into(), true),
            (Flavour::Posix, "workspace:src".into(), true),
            (Flavour::Posix, "skill://demo".into(), true),
            (Flavour::Posix, "skill://".into(), false),
            (Flavour::Posix, "skill:".into(), false),
            (Flavour::Posix, "skill:/./x".into(), false),
            (Flavour::Posix, "/skills/demo".into(), true),
            (Flavour::Posix, "/skills".into(), false),
            (Flavour::Posix, "/skills/.".into(), false),
            (Flavour::Posix, "/etc".into(), false),
            (Flavour::Posix, " /etc".into(), false),
            (Flavour::Posix, "workspace:/etc".into(), false),
            (Flavour::Posix, "workspace: workspace:/etc".into(), false),
            (Flavour::Posix, "skill: demo".into(), false),
            (Flavour::Posix, "%link".into(), false),
            (Flavour::Posix, "workspace:".repeat(9).into(), false),
            (Flavour::Posix, "a\\..\\b".into(), false),
            (Flavour::Posix, "//srv/x".into(), false),
            (Flavour::Posix, "\\\\srv\\x".into(), false),
            (Flavour::Posix, "~/x".into(), false),
            (Flavour::Posix, "a:b".into(), false),
            (Flavour::Posix, 7.into(), false),
            (Flavour::Posix, Value::Null, false),
            (Flavour::Windows, "src".into(), true),
            (Flavour::Windows, "c:/REPO/x".into(), true),
            (Flavour::Windows, "C:x".into(), false),
            (Flavour::Windows, "\\x".into(), false),
            (Flavour::Windows, "C:\\repo\\x:y".into(), false),
            (Flavour::Windows, "\\\\?\\C:\\repo".into(), false),
        ];
        for (flavour, cwd, expected) in rows {
            let contained = is_contained(Some(cwd), &workspace(*flavour), &CwdFacts::NOT_ATTEMPTED);
            assert_eq!(contained, *expected, "{flavour:?} {cwd}");
        }
    }

    #[test]
    fn a_real_path_outside_is_not_contained() {
        let facts = |path: &str| CwdFacts {
            resolution: Resolution::Resolved,
            paths: vec![path.into()],
            roots: vec!["/repo".into()],
            skills_roots: vec![],
        };
        let posix = workspace(Flavour::Posix);
        let contained = |cwd: &str, facts: &CwdFacts| is_contained(Some(&cwd.into()), &posix, facts);
        assert!(contained("link", &facts("/repo/x")));
        assert!(!contained("link", &facts("/etc")));
        assert!(!contained("link", &facts("/skills/demo")), "no skill was named");
        assert!(contained("skill:demo", &facts("/skills/demo")));
        assert!(!contained("skill:demo", &facts("/etc")));
        assert!(!contained("link", &CwdFacts::FAILED));
        assert!(!contained("link", &CwdFacts { paths: vec![], ..facts("") }), "no path is no proof");
    }
}
