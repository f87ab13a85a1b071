"""Where a cwd lies. Stricter than the default module, never looser.

"Inside" is said of plain paths alone, whose every reading lies below a root. Whatever holds a character that some shell, scheme
or system might read its own way is "invalid".
"""

import re

from wit_world.exports.decisions import (
    Argument,
    CwdClass,
    CwdFacts,
    CwdJudgement,
    CwdWhy,
    JsonKind,
    PathFlavour,
    Resolution,
    Workspace,
)

#: Segments that mean the same everywhere. No blank, no `~`, `$`, `%`, `:` or backslash, nothing beyond ASCII.
POSIX_SEGMENT = re.compile(r"[A-Za-z0-9._-]*")
#: Windows shortens names that end with a dot, so a dot is no plain character there.
WINDOWS_SEGMENT = re.compile(r"\.|[A-Za-z0-9_-]*")
#: Names that Windows takes for devices.
DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])", re.IGNORECASE | re.ASCII)
DRIVE = re.compile(r"[A-Za-z]:/")

INSIDE = CwdJudgement(CwdClass.INSIDE, CwdWhy.NONE)


def outside(why: CwdWhy) -> CwdJudgement:
    return CwdJudgement(CwdClass.OUTSIDE, why)


def invalid(why: CwdWhy) -> CwdJudgement:
    return CwdJudgement(CwdClass.INVALID, why)


def names(path: str, windows: bool) -> list[str] | None:
    """The names of an absolute path; none where it is not absolute. A network path counts as none."""
    slashed = path.replace("\\", "/") if windows else path
    absolute = DRIVE.match(slashed) if windows else slashed.startswith("/") and not slashed.startswith("//")
    return [name for name in slashed.split("/") if name not in ("", ".")] if absolute else None


def is_below(path: str, root: str, windows: bool) -> bool:
    """Whether a path is a root or lies below it, by whole names, letter case included."""
    below, above = names(path, windows), names(root, windows)
    if below is None or above is None or ".." in below or ".." in above:
        return False
    return below[: len(above)] == above


def by_name(given: Argument, workspace: Workspace) -> CwdJudgement:
    """What the text alone says."""
    windows = workspace.flavour == PathFlavour.WINDOWS
    at_root = invalid(CwdWhy.NO_ROOT) if names(workspace.root, windows) is None else INSIDE
    if given.kind == JsonKind.ABSENT:
        return at_root
    if given.kind != JsonKind.TEXT:
        return invalid(CwdWhy.NOT_A_STRING)
    if "\0" in given.text:
        return invalid(CwdWhy.NUL)
    if not given.text.strip(" \t"):
        return at_root

    slashed = given.text.replace("\\", "/") if windows else given.text
    drive = windows and DRIVE.match(slashed) is not None
    segments = (slashed[2:] if drive else slashed).split("/")
    plain = WINDOWS_SEGMENT if windows else POSIX_SEGMENT
    # `..` is plain enough to be told from what cannot be read at all.
    if not all(s == ".." or plain.fullmatch(s) for s in segments):
        return invalid(CwdWhy.BAD_CHARACTER)
    if windows and any(DEVICE.fullmatch(s) for s in segments):
        return invalid(CwdWhy.DEVICE_NAME)
    if slashed.startswith("//"):
        return outside(CwdWhy.UNC)
    if ".." in segments:
        return outside(CwdWhy.PARENT_ESCAPE)
    if windows and slashed.startswith("/"):
        return outside(CwdWhy.DRIVE_ROOT)
    if not drive and not slashed.startswith("/"):
        return at_root
    roots = [workspace.root, *workspace.extra_roots]
    return INSIDE if any(is_below(given.text, r, windows) for r in roots) else outside(CwdWhy.ABSOLUTE)


def judge(given: Argument, workspace: Workspace, facts: CwdFacts) -> CwdJudgement:
    """The text, and then what the host found on the real file system: a link out of the root makes "inside" outside."""
    judged = by_name(given, workspace)
    if judged.class_ != CwdClass.INSIDE or facts.resolution == Resolution.NOT_ATTEMPTED:
        return judged
    windows = workspace.flavour == PathFlavour.WINDOWS
    contained = (
        facts.resolution == Resolution.RESOLVED
        and len(facts.paths) > 0
        and all(any(is_below(path, root, windows) for root in facts.roots) for path in facts.paths)
    )
    return judged if contained else outside(CwdWhy.LINK)
