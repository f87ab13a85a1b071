//! Figures in the OpenMetrics text format.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

/// Why a request got no further than the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turned {
    /// It had no token, or another one.
    Unauthorized,
    /// It came from a web page, or for another host.
    Foreign,
    /// There were too many.
    Rate,
    /// It was too large.
    Size,
}

/// Counters of the sidecar itself; those of the verdicts are the warden's.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    pub requests: AtomicU64,
    pub connections: AtomicU64,
    turned: [AtomicU64; 4],
}

impl Turned {
    const ALL: [(Self, &'static str); 4] =
        [(Self::Unauthorized, "unauthorized"), (Self::Foreign, "foreign"), (Self::Rate, "rate"), (Self::Size, "size")];
}

impl Metrics {
    /// A request was turned away.
    pub fn turn(&self, why: Turned) {
        if let Some(counter) = self.turned.get(why as usize) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// All of them, beside the warden's `stats`.
    pub fn text(&self, stats: &Value) -> String {
        let mut text = String::with_capacity(1024);
        let mut family = |name: &str, kind: &str, help: &str, samples: &[(String, u64)]| {
            // Writing to a String cannot fail.
            let _ = write!(text, "# TYPE toolwarden_{name} {kind}\n# HELP toolwarden_{name} {help}\n");
            let suffix = if kind == "counter" { "_total" } else { "" };
            for (labels, value) in samples {
                let _ = writeln!(text, "toolwarden_{name}{suffix}{labels} {value}");
            }
        };
        let number = |pointer: &str| stats.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
        let labelled = |label: &str, value: &str| format!("{{{label}=\"{value}\"}}");
        let plain = |value: u64| [(String::new(), value)];

        let verdicts = ["allow", "ask", "deny"].map(|v| (labelled("verdict", v), number(&format!("/verdicts/{v}"))));
        family("verdicts", "counter", "Verdicts given.", &verdicts);
        family("unreadable", "counter", "Records that could not be read.", &plain(number("/verdicts/unreadable")));
        family("questions", "gauge", "Questions that wait for a person.", &plain(number("/pending")));
        family("generation", "gauge", "Generation in force.", &plain(number("/policy/generation")));
        family("tools", "gauge", "Tools that the model may use.", &plain(number("/registry/tools")));
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        family("requests", "counter", "Requests answered.", &plain(load(&self.requests)));
        family("connections", "gauge", "Connections open.", &plain(load(&self.connections)));
        let turned = Turned::ALL
            .map(|(why, word)| (labelled("reason", word), self.turned.get(why as usize).map(load).unwrap_or_default()));
        family("turned_away", "counter", "Requests turned away.", &turned);
        text.push_str("# EOF\n");
        text
    }
}
