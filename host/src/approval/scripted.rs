//! Answers as a test wrote them down.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;

use super::{Approval, Approver, Question};

/// Gives prepared answers in their order, and keeps the questions. Without an answer left it is unavailable.
#[derive(Debug, Default)]
pub struct Scripted {
    script: Mutex<Script>,
}

#[derive(Debug, Default)]
struct Script {
    answers: VecDeque<Answer>,
    asked: Vec<Question>,
}

/// One prepared answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Give(Approval),
    Never,
}

impl Scripted {
    /// An approver with these answers.
    #[must_use]
    pub fn answering(answers: impl IntoIterator<Item = Approval>) -> Self {
        let answers = answers.into_iter().map(Answer::Give).collect();
        Self { script: Mutex::new(Script { answers, asked: Vec::new() }) }
    }

    /// An approver that is asked and never answers.
    #[must_use]
    pub fn silent() -> Self {
        let answers = std::iter::repeat_n(Answer::Never, 1024).collect();
        Self { script: Mutex::new(Script { answers, asked: Vec::new() }) }
    }

    /// The questions so far.
    #[must_use]
    pub fn asked(&self) -> Vec<Question> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner).asked.clone()
    }

    fn next(&self, question: &Question) -> Answer {
        let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
        script.asked.push(question.clone());
        script.answers.pop_front().unwrap_or(Answer::Give(Approval::Unavailable))
    }
}

#[async_trait]
impl Approver for Scripted {
    async fn ask(&self, question: &Question) -> Approval {
        match self.next(question) {
            Answer::Give(approval) => approval,
            Answer::Never => std::future::pending().await,
        }
    }
}
