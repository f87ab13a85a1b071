//! A slow reference model of `classify_cwd`, one block per row of its table, in table order.
//!
//! It favours being easy to check over everything else: it copies strings freely, and `workspace:`
//! is plain recursion. Keep inputs small: some hundreds of nested `workspace:` prefixes is the
//! limit of what it can be asked in reasonable time and stack.

/// Which rules of naming the workspace lives under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    Posix,
    Windows,
}

/// The cwd argument as the caller gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given<'a> {
    Absent,
    NotText,
    Text(&'a str),
}

/// What the host knows about the places.
#[derive(Clone, Copy, Debug)]
pub struct Workspace<'a> {
    pub root: &'a str,
    pub extra_roots: &'a [&'a str],
    pub skills: &'a [&'a str],
    pub flavour: Flavour,
}

/// The classes, worst first: a smaller value is a worse one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    Invalid,
    Outside,
    Skill,
    Inside,
}

/// A class and the word of the table for it; the word is empty for `Inside` and `Skill`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    pub class: Class,
    pub why: &'static str,
}

fn invalid(why: &'static str) -> Answer {
    Answer { class: Class::Invalid, why }
}

fn outside(why: &'static str) -> Answer {
    Answer { class: Class::Outside, why }
}

fn skill() -> Answer {
    Answer { class: Class::Skill, why: "" }
}

fn inside() -> Answer {
    Answer { class: Class::Inside, why: "" }
}

/// The whole function.
#[must_use]
pub fn classify(given: Given, workspace: &Workspace, resolved: Option<(&str, &str)>) -> Answer {
    let by_name = match given {
        // Row 1, absent.
        Given::Absent => nothing_given(workspace),
        // Row 2: not a string.
        Given::NotText => invalid("not-a-string"),
        // Every other row.
        Given::Text(text) => all_readings(text, workspace),
    };

    // Row "then": inside by name, but it leads to a place that is not below the resolved root.
    if by_name.class == Class::Inside
        && let Some((cwd, root)) = resolved
        && !stays_below(cwd, root, workspace.flavour)
    {
        return outside("link");
    }

    by_name
}

/// The readings of one text, the worst of which stands; of equal ones the first.
fn all_readings(text: &str, workspace: &Workspace) -> Answer {
    let as_given = text.to_string();
    let trimmed = trim_blanks(text);

    let mut readings = vec![as_given.clone(), trimmed.clone()];
    if workspace.flavour == Flavour::Posix {
        readings.push(as_given.replace('\\', "/"));
        readings.push(trimmed.replace('\\', "/"));
    }

    // The same text again has the same answer again: leave it out.
    let mut different: Vec<String> = Vec::new();
    for reading in readings {
        if !different.contains(&reading) {
            different.push(reading);
        }
    }

    let mut worst = one_reading(&different[0], workspace);
    for reading in &different[1..] {
        let answer = one_reading(reading, workspace);
        if answer.class < worst.class {
            worst = answer;
        }
    }
    worst
}

/// The table, for one reading.
fn one_reading(text: &str, workspace: &Workspace) -> Answer {
    let flavour = workspace.flavour;
    let windows = flavour == Flavour::Windows;

    // Row 1: only blanks.
    if text.chars().all(is_blank) {
        return nothing_given(workspace);
    }

    // Row 2 is about values that are not a string: none of them comes here.

    // Row 3: holds NUL.
    if text.contains('\0') {
        return invalid("nul");
    }

    // Row 4, windows: a device prefix.
    if windows && starts_as_device(text) {
        return outside("device");
    }

    // Row 5: two separators.
    if starts_with_two_separators(text, flavour) {
        return outside("unc");
    }

    let segments = split(text, flavour);
    let first = segments[0].clone();
    let has_drive = windows && starts_with_drive(&first);

    // Row 6: home.
    if first.starts_with('~') {
        return outside("home");
    }

    // Row 7: expansion.
    if first.starts_with('$') || first.starts_with('`') || starts_with_percent_name(&first) {
        return outside("expansion");
    }

    // Row 8: a scheme.
    if first.contains(':') && !has_drive {
        let (scheme, rest) = text.split_once(':').expect("the first segment has a colon");
        return match scheme.to_ascii_lowercase().as_str() {
            "skill" => skill_rules(rest, flavour),
            "workspace" => all_readings(rest, workspace),
            "file" => outside("file-url"),
            _ => invalid("unknown-scheme"),
        };
    }

    // Row 9, windows: a drive without a separator.
    if has_drive && !is_drive_path(text) {
        return outside("drive-relative");
    }

    // Row 10, windows: a leading separator without a drive.
    if windows && starts_with_separator(text, flavour) {
        return outside("drive-root");
    }

    // Row 11: `..` anywhere.
    if segments.iter().any(|segment| trim_blanks(segment) == "..") {
        return outside("parent-escape");
    }

    // The names that rows 12 to 15 speak of: all segments but the drive. Row 9 has seen to it
    // that a drive is a segment of its own.
    let mut names = segments.clone();
    if has_drive {
        names.remove(0);
    }

    // Row 12, windows: a character that no name may hold.
    if windows && row_12_bad_character(&names) {
        return invalid("bad-character");
    }

    // Row 13, windows: a colon after the drive.
    if windows && row_13_stream(&names) {
        return invalid("stream");
    }

    // Row 14, windows: a dot or blank at the end of a segment.
    if windows && row_14_trailing(&names) {
        return invalid("trailing-dot-or-space");
    }

    // Row 15, windows: a device name.
    if windows && row_15_device_name(&names) {
        return invalid("device-name");
    }

    if is_absolute(text, flavour) {
        // Row 16: a root, or below one.
        let mut roots = vec![workspace.root];
        roots.extend(workspace.extra_roots);
        for root in roots {
            if segments_below(text, root, flavour).is_some() {
                return inside();
            }
        }

        // Row 17: below a skills root.
        for root in workspace.skills {
            if let Some(count) = segments_below(text, root, flavour)
                && count >= 1
            {
                return skill();
            }
        }

        // Row 18: absolute otherwise.
        return outside("absolute");
    }

    // Row 19: relative to nothing.
    if !is_absolute(workspace.root, flavour) {
        return invalid("no-root");
    }

    // Row 20: relative.
    inside()
}

/// Row 1, both ways to get there.
fn nothing_given(workspace: &Workspace) -> Answer {
    if is_absolute(workspace.root, workspace.flavour) { inside() } else { invalid("no-root") }
}

/// The skill rules, for what stands after `skill:`.
fn skill_rules(rest: &str, flavour: Flavour) -> Answer {
    let segments: Vec<String> = split(rest, flavour).into_iter().filter(|segment| !segment.is_empty()).collect();

    // No name.
    if segments.is_empty() || trim_blanks(&segments[0]).is_empty() {
        return invalid("unnamed-skill");
    }

    // A name that is the folder itself, or a way up.
    if trim_blanks(&segments[0]) == "." {
        return invalid("skill-escape");
    }
    if segments.iter().any(|segment| trim_blanks(segment) == "..") {
        return invalid("skill-escape");
    }

    // Rows 12 to 15, windows.
    if flavour == Flavour::Windows {
        if row_12_bad_character(&segments) {
            return invalid("bad-character");
        }
        if row_13_stream(&segments) {
            return invalid("stream");
        }
        if row_14_trailing(&segments) {
            return invalid("trailing-dot-or-space");
        }
        if row_15_device_name(&segments) {
            return invalid("device-name");
        }
    }

    skill()
}

fn row_12_bad_character(names: &[String]) -> bool {
    names.iter().any(|name| name.chars().any(|c| c.is_control() || "<>\"|?*".contains(c)))
}

fn row_13_stream(names: &[String]) -> bool {
    names.iter().any(|name| name.contains(':'))
}

fn row_14_trailing(names: &[String]) -> bool {
    names.iter().filter(|name| *name != ".").any(|name| name.ends_with('.') || name.ends_with(is_blank))
}

fn row_15_device_name(names: &[String]) -> bool {
    names.iter().any(|name| is_device_name(name))
}

fn is_device_name(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or("");
    let stem = trim_blanks(stem).to_ascii_uppercase();

    let mut devices: Vec<String> = Vec::new();
    for word in ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"] {
        devices.push(word.to_string());
    }
    for digit in "0123456789¹²³".chars() {
        devices.push(format!("COM{digit}"));
        devices.push(format!("LPT{digit}"));
    }
    devices.contains(&stem)
}

/// `%NAME%` at the start, where NAME starts with a letter or `_` and ends at the next `%`.
fn starts_with_percent_name(first: &str) -> bool {
    let Some(after) = first.strip_prefix('%') else {
        return false;
    };
    let Some((name, _)) = after.split_once('%') else {
        return false;
    };
    name.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// `\\?\`, `\\.\` or `\??\`, in either slash.
fn starts_as_device(text: &str) -> bool {
    let text = text.replace('/', "\\");
    text.starts_with(r"\\?\") || text.starts_with(r"\\.\") || text.starts_with(r"\??\")
}

fn starts_with_two_separators(text: &str, flavour: Flavour) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| is_separator(c, flavour)) && chars.next().is_some_and(|c| is_separator(c, flavour))
}

fn starts_with_separator(text: &str, flavour: Flavour) -> bool {
    text.chars().next().is_some_and(|c| is_separator(c, flavour))
}

/// An ASCII letter and a colon.
fn starts_with_drive(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic()) && chars.next() == Some(':')
}

/// An ASCII letter, a colon and a separator.
fn is_drive_path(text: &str) -> bool {
    starts_with_drive(text) && starts_with_separator(&text[2..], Flavour::Windows)
}

fn is_absolute(path: &str, flavour: Flavour) -> bool {
    match flavour {
        Flavour::Posix => path.starts_with('/'),
        Flavour::Windows => is_drive_path(path) || starts_with_two_separators(path, flavour),
    }
}

fn is_separator(c: char, flavour: Flavour) -> bool {
    match flavour {
        Flavour::Posix => c == '/',
        Flavour::Windows => c == '/' || c == '\\',
    }
}

/// All segments, the empty ones too; the first is what stands before the first separator.
fn split(text: &str, flavour: Flavour) -> Vec<String> {
    text.split(|c| is_separator(c, flavour)).map(str::to_string).collect()
}

/// The segments that count in a comparison, in the form in which they are compared.
fn segments_to_compare(path: &str, flavour: Flavour) -> Vec<String> {
    split(path, flavour)
        .into_iter()
        .filter(|segment| !segment.is_empty() && segment != ".")
        .map(|segment| match flavour {
            Flavour::Posix => segment,
            Flavour::Windows => segment.to_ascii_lowercase(),
        })
        .collect()
}

/// How an absolute path begins. Two that begin in different ways are never below each other.
fn beginning(path: &str, flavour: Flavour) -> &'static str {
    match flavour {
        Flavour::Posix => "slash",
        Flavour::Windows if starts_as_device(path) => "device",
        Flavour::Windows if starts_with_two_separators(path, flavour) => "share",
        Flavour::Windows => "drive",
    }
}

/// How many segments the path lies below the root: `None` where it does not lie there at all, or
/// where one of the two is not absolute.
fn segments_below(path: &str, root: &str, flavour: Flavour) -> Option<usize> {
    if !is_absolute(path, flavour) || !is_absolute(root, flavour) {
        return None;
    }
    if beginning(path, flavour) != beginning(root, flavour) {
        return None;
    }
    let path = segments_to_compare(path, flavour);
    let root = segments_to_compare(root, flavour);
    if path.starts_with(&root) { Some(path.len() - root.len()) } else { None }
}

/// Whether a resolved path is the resolved root or lies below it. A path with `..` in it is not
/// resolved, and stays nowhere.
fn stays_below(cwd: &str, root: &str, flavour: Flavour) -> bool {
    for path in [cwd, root] {
        if split(path, flavour).iter().any(|segment| trim_blanks(segment) == "..") {
            return false;
        }
    }
    segments_below(cwd, root, flavour).is_some()
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{FEFF}' || c == '\u{200B}' || c == '\u{180E}' || ('\u{001C}'..='\u{001F}').contains(&c)
}

fn trim_blanks(text: &str) -> String {
    text.trim_matches(is_blank).to_string()
}
