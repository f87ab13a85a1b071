//! Where a cwd lies. A pure function of text: it touches no file system, decodes nothing and expands nothing.
//!
//! The text is read in several ways, since nobody knows how the program that finally uses it will trim it or what it takes
//! for a separator; the worst reading stands.

mod reading;
mod roots;
mod windows;

use crate::model::{Argument, CwdFacts, CwdJudgement, CwdWhy, Flavour, JsonKind, Resolution, Workspace};
use crate::trail::Trail;
use reading::{Reading, is_drive};
use toolwarden_text::is_blank;

/// The class of a cwd.
///
/// ```
/// use toolwarden_policy::{Argument, CwdFacts, CwdJudgement, CwdWhy, Flavour, JsonKind, Trail, Workspace, classify_cwd};
///
/// let workspace = Workspace {
///     flavour: Flavour::Posix, root: "/repo", extra_roots: vec![], skills_roots: vec![], home: "/home/u",
/// };
/// let cwd = Argument { name: "cwd", kind: JsonKind::Text, text: "/repo/../etc" };
/// let judged = classify_cwd(cwd, &workspace, &CwdFacts::not_attempted(), &mut Trail::off());
/// assert_eq!(judged, CwdJudgement::outside(CwdWhy::ParentEscape));
/// ```
#[must_use]
pub fn classify_cwd(given: Argument, workspace: &Workspace, facts: &CwdFacts, trail: &mut Trail) -> CwdJudgement {
    let by_name = by_name(given, workspace);
    trail.cwd("cwd-by-name", by_name);
    let judged = followed(by_name, workspace, facts);
    if judged != by_name {
        trail.cwd("cwd-link", judged);
    }
    judged
}

/// The class by the text alone.
fn by_name(given: Argument, workspace: &Workspace) -> CwdJudgement {
    match given.kind {
        JsonKind::Absent => at_root(workspace),
        JsonKind::Text if given.text.contains('\0') => CwdJudgement::invalid(CwdWhy::Nul),
        JsonKind::Text => worst(given.text, workspace),
        _ => CwdJudgement::invalid(CwdWhy::NotAString),
    }
}

/// What the real file system says about a cwd that is inside, or a skill, by name. A link that leads out, or that could
/// not be followed, makes it outside.
fn followed(by_name: CwdJudgement, workspace: &Workspace, facts: &CwdFacts) -> CwdJudgement {
    let is_skill = by_name == CwdJudgement::SKILL;
    if by_name.escapes() {
        return by_name;
    }
    let contained = match facts.resolution {
        Resolution::NotAttempted => true,
        Resolution::Failed => false,
        Resolution::Resolved => {
            let below = |path: &str, roots: &[&str], names: usize| {
                roots.iter().any(|r| roots::is_below(path, r, workspace.flavour, names))
            };
            let skills = if facts.skills_roots.is_empty() { &workspace.skills_roots } else { &facts.skills_roots };
            // The folder of all skills is no skill, however it is reached.
            let is_in_place = |path: &str| below(path, &facts.roots, 0) || (is_skill && below(path, skills, 1));
            !facts.paths.is_empty() && facts.paths.iter().all(|path| is_in_place(path))
        }
    };
    if contained { by_name } else { CwdJudgement::outside(CwdWhy::Link) }
}

/// The worst class over all readings of a text; of equally bad ones the first. What stands behind `workspace:` is a text
/// with readings of its own; a long chain of them is a loop, so that it costs neither stack nor a second look at the rest.
fn worst(text: &str, workspace: &Workspace) -> CwdJudgement {
    let mut worst = CwdJudgement::NOT_APPLICABLE;
    let mut next = Some(text);
    while let Some(text) = next.take() {
        if text.chars().all(is_blank) {
            return worst_of(worst, at_root(workspace));
        }
        for reading in readings(text, workspace.flavour) {
            match read(reading, workspace) {
                Read::Judged(judged) => worst = worst_of(worst, judged),
                Read::Rest(rest) => next = next.or(Some(rest)),
            }
        }
    }
    worst
}

/// The worse of two judgements; of equally bad ones the first.
const fn worst_of(first: CwdJudgement, second: CwdJudgement) -> CwdJudgement {
    if (second.class as u8) < first.class as u8 { second } else { first }
}

/// The ways to read a text: as given and trimmed; on posix also with `\` as a separator.
fn readings(text: &str, flavour: Flavour) -> impl Iterator<Item = Reading<'_>> {
    let trimmed = text.trim_matches(is_blank);
    let given = (trimmed.len() != text.len()).then_some(text);
    let plain = flavour == Flavour::Posix;
    let slashed = flavour == Flavour::Windows || text.starts_with('\\') || text.contains('\\');
    [plain.then_some(false), slashed.then_some(true)]
        .into_iter()
        .flatten()
        .flat_map(move |backslash| given.into_iter().chain([trimmed]).map(move |text| Reading { text, backslash }))
}

/// What one reading comes to.
enum Read<'a> {
    Judged(CwdJudgement),
    /// The text behind `workspace:`, to be judged by itself.
    Rest(&'a str),
}

/// One reading: the rows of the table in their order.
fn read<'a>(reading: Reading<'a>, workspace: &Workspace) -> Read<'a> {
    let windows = workspace.flavour == Flavour::Windows;
    if windows && windows::is_device_path(reading.text) {
        return Read::Judged(CwdJudgement::outside(CwdWhy::Device));
    }
    let leading = reading.leading_separators();
    if leading >= 2 {
        return Read::Judged(CwdJudgement::outside(CwdWhy::Unc));
    }
    if leading == 0 && reading.text.starts_with('~') {
        return Read::Judged(CwdJudgement::outside(CwdWhy::Home));
    }
    if leading == 0 && is_expansion(reading) {
        return Read::Judged(CwdJudgement::outside(CwdWhy::Expansion));
    }
    let drive = windows && is_drive(reading.text);
    match reading.scheme() {
        Some((scheme, rest)) if !drive => by_scheme(scheme, rest, workspace.flavour),
        _ => Read::Judged(by_path(reading, drive, leading == 1, workspace)),
    }
}

/// A reading that starts with a scheme.
fn by_scheme<'a>(scheme: &str, rest: Reading<'a>, flavour: Flavour) -> Read<'a> {
    if scheme.eq_ignore_ascii_case("workspace") {
        return Read::Rest(rest.text);
    }
    Read::Judged(if scheme.eq_ignore_ascii_case("skill") {
        skill(rest, flavour)
    } else if scheme.eq_ignore_ascii_case("file") {
        CwdJudgement::outside(CwdWhy::FileUrl)
    } else {
        CwdJudgement::invalid(CwdWhy::UnknownScheme)
    })
}

/// A reading that is a plain path, absolute or relative.
fn by_path(reading: Reading, drive: bool, leading: bool, workspace: &Workspace) -> CwdJudgement {
    let windows = workspace.flavour == Flavour::Windows;
    let behind_drive = reading.skip(if drive { 2 } else { 0 });
    if drive && behind_drive.leading_separators() == 0 {
        return CwdJudgement::outside(CwdWhy::DriveRelative);
    }
    if windows && leading {
        return CwdJudgement::outside(CwdWhy::DriveRoot);
    }
    if reading.segments().any(is_parent) {
        return CwdJudgement::outside(CwdWhy::ParentEscape);
    }
    if windows && let Some(why) = windows::bad_name(behind_drive) {
        return CwdJudgement::invalid(why);
    }
    if drive || leading { absolute(reading, workspace) } else { at_root(workspace) }
}

/// A relative cwd, or none: inside, if there is a root to start from.
fn at_root(workspace: &Workspace) -> CwdJudgement {
    if roots::is_absolute(workspace.root, workspace.flavour) {
        CwdJudgement::INSIDE
    } else {
        CwdJudgement::invalid(CwdWhy::NoRoot)
    }
}

/// An absolute cwd without any `..`.
fn absolute(reading: Reading, workspace: &Workspace) -> CwdJudgement {
    let below = |root: &str, deeper: usize| roots::reading_is_below(reading, root, workspace.flavour, deeper);
    if below(workspace.root, 0) || workspace.extra_roots.iter().any(|r| below(r, 0)) {
        CwdJudgement::INSIDE
    } else if workspace.skills_roots.iter().any(|r| below(r, 1)) {
        CwdJudgement::SKILL
    } else {
        CwdJudgement::outside(CwdWhy::Absolute)
    }
}

/// What stands behind `skill:`.
fn skill(rest: Reading, flavour: Flavour) -> CwdJudgement {
    let name = rest.segments().find(|s| !s.is_empty()).map(|s| s.trim_matches(is_blank)).unwrap_or_default();
    if name.is_empty() {
        return CwdJudgement::invalid(CwdWhy::UnnamedSkill);
    }
    if name == "." || rest.segments().any(is_parent) {
        return CwdJudgement::invalid(CwdWhy::SkillEscape);
    }
    if flavour == Flavour::Windows
        && let Some(why) = windows::bad_name(rest)
    {
        return CwdJudgement::invalid(why);
    }
    CwdJudgement::SKILL
}

fn is_parent(segment: &str) -> bool {
    segment.trim_matches(is_blank) == ".."
}

/// `$…`, a backtick, or `%NAME%` in the first segment.
fn is_expansion(reading: Reading) -> bool {
    let Some(rest) = reading.text.strip_prefix('%') else { return reading.text.starts_with(['$', '`']) };
    rest.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && rest.chars().take_while(|&c| !reading.separates(c)).any(|c| c == '%')
}
