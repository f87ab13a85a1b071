//! What a change is about, in a few words.

use toolwarden_text::clip;

use super::change::Change;
use super::grade::Grade;
use super::pointer::split_first;
use super::summary::Language;

/// Characters of a name or pointer that are shown.
const SHOWN: usize = 80;

/// What changed and how, such as `description changed`.
pub(super) fn label(change: &Change, language: Language) -> String {
    let is_tool = change.tool.is_some();
    let name = |value: Option<&serde_json::Value>| {
        clip(value.and_then(serde_json::Value::as_str).unwrap_or_default(), SHOWN).into_owned()
    };
    match (change.grade, language) {
        (Grade::Renamed, Language::English) => format!("renamed from `{}`", name(change.old.as_ref())),
        (Grade::Renamed, Language::Chinese) => format!("由 `{}` 更名", name(change.old.as_ref())),
        _ => {
            let what = if change.pointer.is_empty() { whole(is_tool, language) } else { part(change, language) };
            let how = how(change, language);
            match language {
                Language::English => format!("{what} {how}"),
                Language::Chinese => format!("{what}{how}"),
            }
        }
    }
}

fn whole(is_tool: bool, language: Language) -> String {
    match (is_tool, language) {
        (true, Language::English) => "tool",
        (false, Language::English) => "server",
        (true, Language::Chinese) => "工具",
        (false, Language::Chinese) => "服务器",
    }
    .into()
}

const fn how(change: &Change, language: Language) -> &'static str {
    match (change.old.is_some(), change.new.is_some(), language) {
        (false, _, Language::English) => "added",
        (_, false, Language::English) => "removed",
        (true, true, Language::English) => "changed",
        (false, _, Language::Chinese) => "已新增",
        (_, false, Language::Chinese) => "已移除",
        (true, true, Language::Chinese) => "已更改",
    }
}

fn part(change: &Change, language: Language) -> String {
    let (field, within) = split_first(&change.pointer).unwrap_or_default();
    let word = |english: &str, chinese: &str| match language {
        Language::English => english.to_owned(),
        Language::Chinese => chinese.to_owned(),
    };
    let with = |word: String, rest: &str| {
        if rest.is_empty() { word } else { format!("{word} `{}`", clip(rest.trim_start_matches('/'), SHOWN)) }
    };
    match (field.as_str(), within.strip_prefix("/properties/")) {
        ("inputSchema", Some(name)) if !name.contains('/') => with(word("parameter", "参数"), name),
        ("description", _) => word("description", "描述"),
        ("title", _) => word("title", "标题"),
        ("instructions", _) => word("instructions", "说明"),
        ("inputSchema", _) => with(word("input schema", "输入结构"), within),
        ("outputSchema", _) => with(word("output schema", "输出结构"), within),
        ("annotations", _) => with(word("annotation", "注解"), within),
        ("icons", _) => word("icons", "图标"),
        ("identity", _) => with(word("identity", "身份"), within),
        _ => with(word("field", "字段"), &change.pointer),
    }
}
