//! One line about a state, for a person and for the reason of a denial.

use toolwarden_text::{clip, visible};

use super::change::{Change, Drift};
use super::label::label;
use super::state::State;

/// Changes that are told one by one; the rest is counted. Source: MCP security, baseline states.
const LISTED: usize = 5;

/// The language of a summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Chinese, simplified.
    Chinese,
}

impl State {
    /// What is so, in one line; empty where nothing differs. Texts of servers are escaped.
    #[must_use]
    pub fn summary(&self, language: Language) -> String {
        let with = |english: &str, chinese: &str, problem: &str| match language {
            Language::English => format!("{english}: {}", visible(problem)),
            Language::Chinese => format!("{chinese}：{}", visible(problem)),
        };
        match self {
            Self::Equal => String::new(),
            Self::BaselineMissing => match language {
                Language::English => "no tool definitions were ever accepted".into(),
                Language::Chinese => "尚未接受任何工具定义".into(),
            },
            Self::BaselineMalformed(problem) => with("what is kept is no baseline", "保存的内容不是基线", problem),
            Self::FingerprintInvalid(place) => {
                with("the kept baseline does not fit its fingerprint", "保存的基线与其指纹不符", place)
            }
            Self::DuplicateTools(problem) => with("a name stands for two tools", "名称重复", problem),
            Self::SnapshotUnavailable(problem) => with("the tool list cannot be had", "无法取得工具列表", problem),
            Self::DefinitionDrift(drift) => drift.summary(language),
            Self::CarriedOver(drift) => match language {
                Language::English => format!("only written another way: {}", drift.summary(language)),
                Language::Chinese => format!("仅写法不同：{}", drift.summary(language)),
            },
        }
    }
}

impl Drift {
    /// What differs, in one line: five changes at most, those that mean most first, and how many more there are.
    #[must_use]
    pub fn summary(&self, language: Language) -> String {
        let listed: Vec<_> = self.changes().iter().take(LISTED).map(|change| item(change, language)).collect();
        let more = self.changes().len().saturating_sub(LISTED);
        match language {
            Language::English => {
                let rest = if more == 0 { String::new() } else { format!("; and {more} more") };
                format!("tool definition drift: {}{rest}", listed.join("; "))
            }
            Language::Chinese => {
                let rest = if more == 0 { String::new() } else { format!("；另有 {more} 处") };
                format!("工具定义漂移：{}{rest}", listed.join("；"))
            }
        }
    }
}

fn item(change: &Change, language: Language) -> String {
    // A public name is plain and short by its making; a server's name, too.
    let whose = clip(change.public_name.as_deref().unwrap_or(&change.server), 64);
    match language {
        Language::English => format!("{} ({whose})", label(change, language)),
        Language::Chinese => format!("{}（{whose}）", label(change, language)),
    }
}
