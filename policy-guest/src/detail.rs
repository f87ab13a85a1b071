//! What a question shows: the real target of a call, safe to look at.

use std::borrow::Cow;
use std::string::String;

use toolwarden_text::{DETAIL_CHARS, clip};

use crate::model::{CwdJudgement, CwdWhy, Invocation, JsonKind};

/// A text, made safe and cut.
pub(crate) fn shown(text: &str) -> String {
    clip(text, DETAIL_CHARS).into_owned()
}

/// What `Delete` would delete.
pub(crate) fn delete(call: &Invocation) -> String {
    const NOTE: &str = " (a folder goes with everything in it)";
    clip(&value(call, "path"), DETAIL_CHARS - NOTE.len()).into_owned() + NOTE
}

/// What `SSHManager` would do, and to what.
pub(crate) fn ssh(call: &Invocation) -> String {
    let action = value(call, "action");
    let target = match &*action {
        "exec" => first(call, &["command"]),
        "send_input" => first(call, &["data"]),
        "sftp_rename" => pair(call, &["from_path"], &["to_path"]),
        "sftp_upload" => pair(call, &["from_path", "local_path"], &["to_path", "remote_path"]),
        "sftp_download" => pair(call, &["from_path", "remote_path"], &["to_path", "local_path"]),
        "sftp_write_text" | "sftp_mkdir" | "sftp_delete" => first(call, &["path"]),
        // What an unknown action acts on is unknown too, so everything is shown.
        _ => None,
    };
    shown(&std::format!("{action}: {}", target.unwrap_or_else(|| everything(call).into())))
}

/// A cwd, and why it is not inside.
pub(crate) fn cwd(call: &Invocation, judged: CwdJudgement) -> String {
    let why = std::format!(" ({}: {})", judged.class.word(), judged.why.word());
    let room = DETAIL_CHARS - why.len();
    let given = call.argument("cwd");
    let text = match given.kind {
        JsonKind::Absent => "no cwd",
        JsonKind::Text if given.text.is_empty() => "\"\"",
        _ => given.text,
    };
    clip(text, room).into_owned() + &why
}

/// Why a cwd is not inside, for a sentence.
pub(crate) const fn why(judged: CwdJudgement) -> &'static str {
    match judged.why {
        CwdWhy::None => "it could not be judged",
        CwdWhy::NoRoot => "the workspace has no absolute root to start from",
        CwdWhy::NotAString => "it is not a string",
        CwdWhy::Nul => "it holds a NUL character",
        CwdWhy::UnknownScheme => "it starts with an unknown scheme",
        CwdWhy::BadCharacter => "it holds a character that no Windows path may hold",
        CwdWhy::Stream => "it names an alternate data stream",
        CwdWhy::TrailingDotOrSpace => "a name in it ends with a dot or blank, which Windows drops",
        CwdWhy::DeviceName => "it names a device",
        CwdWhy::UnnamedSkill => "it names no skill",
        CwdWhy::SkillEscape => "it leads out of a skill",
        CwdWhy::Device => "it is in the device namespace",
        CwdWhy::Unc => "it is a network path",
        CwdWhy::Home => "it starts with `~`, which a shell expands",
        CwdWhy::Expansion => "it starts with something that a shell expands",
        CwdWhy::FileUrl => "it is a file URL",
        CwdWhy::DriveRelative => "it is relative to another drive's current folder",
        CwdWhy::DriveRoot => "it starts at the root of the current drive",
        CwdWhy::ParentEscape => "it holds a `..` segment",
        CwdWhy::Absolute => "it is an absolute path outside every root",
        CwdWhy::Link => "a link in it leads out of the workspace, or could not be followed",
    }
}

/// An argument as text; what is missing or of another type is said.
fn value<'c>(call: &Invocation<'c>, name: &'static str) -> Cow<'c, str> {
    let argument = call.argument(name);
    match argument.kind {
        JsonKind::Absent => std::format!("no {name}").into(),
        JsonKind::Text if argument.text.is_empty() => std::format!("empty {name}").into(),
        JsonKind::Text => argument.text.into(),
        _ => std::format!("{name} {}", argument.text).into(),
    }
}

/// The first of these arguments that the call has.
fn first<'c>(call: &Invocation<'c>, names: &[&'static str]) -> Option<Cow<'c, str>> {
    names.iter().find(|n| call.argument(n).kind != JsonKind::Absent).map(|n| value(call, n))
}

/// Both ends of a move or transfer.
fn pair<'c>(call: &Invocation<'c>, from: &[&'static str], to: &[&'static str]) -> Option<Cow<'c, str>> {
    let (from, to) = (first(call, from)?, first(call, to)?);
    Some(std::format!("{from} -> {to}").into())
}

/// Every argument but the action, so that a target under a name that we do not expect is shown too.
fn everything(call: &Invocation) -> String {
    let mut out = String::new();
    for argument in call.arguments.iter().filter(|a| a.name != "action") {
        if !out.is_empty() {
            out.push_str(", ");
        }
        out.push_str(argument.name);
        out.push('=');
        out.push_str(argument.text);
    }
    if out.is_empty() { "no target named".into() } else { out }
}
