//! The table: what was measured, what is to be reached, and whether it is.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::timing::{Figure, Timed};

/// One thing that was measured, in up to four ways.
#[derive(Debug, Default)]
pub struct Row {
    /// What it is.
    pub what: String,
    /// With the module compiled for it.
    pub cold: Cell,
    /// With an instance made for it.
    pub fresh: Cell,
    /// With an instance that served before.
    pub warm: Cell,
    /// The same function built natively.
    pub native: Cell,
    /// What is to be reached.
    pub reach: String,
    /// Whether it is; none where nothing is asked for.
    pub met: Option<bool>,
}

/// A figure of a row.
#[derive(Debug, Default)]
pub enum Cell {
    /// Not measured.
    #[default]
    Empty,
    /// A time.
    Time(Figure),
    /// So many times another.
    Ratio(f64),
    /// A number of things, in this unit.
    Count(usize, &'static str),
}

impl From<Timed> for Cell {
    fn from(timed: Timed) -> Self {
        Self::Time(timed.figure)
    }
}

impl From<Figure> for Cell {
    fn from(figure: Figure) -> Self {
        Self::Time(figure)
    }
}

impl Row {
    /// A row without figures.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), ..Self::default() }
    }

    /// A row that reaches something, or not.
    pub fn reach(mut self, reach: impl Into<String>, met: bool) -> Self {
        self.reach = reach.into();
        self.met = Some(met);
        self
    }

    /// The row as a line of JSON.
    pub fn json(&self) -> Value {
        json!({
            "what": self.what,
            "cold": self.cold.json(),
            "fresh": self.fresh.json(),
            "warm": self.warm.json(),
            "native": self.native.json(),
            "reach": self.reach,
            "met": self.met,
        })
    }

    fn cells(&self) -> [String; 7] {
        let met = match self.met {
            None => "",
            Some(true) => "yes",
            Some(false) => "NO",
        };
        [
            self.what.clone(),
            self.cold.text(),
            self.fresh.text(),
            self.warm.text(),
            self.native.text(),
            self.reach.clone(),
            met.into(),
        ]
    }
}

impl Cell {
    fn text(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Time(figure) => format!("{} ({})", time(figure.median), time(figure.p99)),
            Self::Ratio(ratio) => format!("{ratio:.2} x"),
            Self::Count(count, unit) => format!("{count} {unit}"),
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Empty => Value::Null,
            Self::Time(Figure { p5, median, p99 }) => {
                json!({ "p5_ns": tenths(*p5), "median_ns": tenths(*median), "p99_ns": tenths(*p99) })
            }
            Self::Ratio(ratio) => json!({ "ratio": tenths(ratio * 100.0) / 100.0 }),
            Self::Count(count, unit) => json!({ "count": count, "unit": unit }),
        }
    }
}

fn tenths(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// Nanoseconds as a person reads them: three digits and a unit.
fn time(nanoseconds: f64) -> String {
    let (number, unit) = match nanoseconds {
        n if n < 1e3 => (n, "ns"),
        n if n < 1e6 => (n / 1e3, "us"),
        n if n < 1e9 => (n / 1e6, "ms"),
        n => (n / 1e9, "s"),
    };
    let digits = match number {
        n if n < 10.0 => 2,
        n if n < 100.0 => 1,
        _ => 0,
    };
    format!("{number:.digits$} {unit}")
}

/// The rows as a table, as wide as its cells.
pub fn text(rows: &[Row]) -> String {
    let header = ["what", "cold", "fresh", "warm", "native", "reach", "met"].map(str::to_owned);
    let lines: Vec<[String; 7]> = std::iter::once(header).chain(rows.iter().map(Row::cells)).collect();
    let mut widths = [0; 7];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        let padded: Vec<String> = line.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}", padded.join("  ").trim_end());
        if number == 0 {
            let _ = writeln!(text, "{}", widths.map(|width| "-".repeat(width)).join("  "));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn times_have_three_digits_and_a_unit() {
        let rows =
            [(0.5, "0.50 ns"), (142.3, "142 ns"), (1_234.0, "1.23 us"), (18_060_000.0, "18.1 ms"), (2e9, "2.00 s")];
        for (nanoseconds, expected) in rows {
            assert_eq!(time(nanoseconds), expected);
        }
    }
}
