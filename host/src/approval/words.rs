//! What a kind of question is about, in words, for a person who has a minute.

use serde::Serialize;

use crate::module::Kind;

/// A text in both languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Words {
    /// English.
    pub en: &'static str,
    /// Chinese.
    pub zh: &'static str,
}

/// What may happen if a call of this kind runs.
#[must_use]
pub fn risk(kind: &Kind) -> Words {
    let (en, zh) = match kind.as_str() {
        "delete" => ("What is deleted is gone.", "删除后无法恢复。"),
        "ssh-mutation" => ("It changes something on another machine.", "它会更改另一台计算机上的内容。"),
        "external-cwd" => ("The shell starts outside the workspace.", "命令将在工作区之外启动。"),
        "mcp-call" => (
            "A tool of a third-party server runs. Its definition is the accepted one; what it does is up to the server.",
            "将运行第三方服务器的工具。其定义与已接受的一致，但实际行为由服务器决定。",
        ),
        "rule-ask" => ("A rule in your settings asks about this tool.", "您的设置中有规则要求询问此工具。"),
        _ => ("The policy asks for a person's word.", "策略要求由人确认。"),
    };
    Words { en, zh }
}
