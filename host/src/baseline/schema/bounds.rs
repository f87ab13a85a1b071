//! Bounds of numbers and lengths.

use serde_json::{Map, Value};

use super::{Compare, Pair};
use crate::baseline::canonical::same;
use crate::baseline::grade::Grade;
use crate::baseline::pointer::below;

/// The largest integer that every reader keeps; as a bound of integers it says nothing.
const SAFE: f64 = 9_007_199_254_740_991.0;

/// One side of a range: larger is tighter. Compared by number, then by whether the number itself is out.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
struct Bound {
    number: f64,
    is_out: bool,
}

impl Bound {
    const NONE: Self = Self { number: f64::NEG_INFINITY, is_out: false };

    /// The tighter of two keywords; none where one is no number. `sign` turns an upper bound into a lower one.
    fn read(members: &Map<String, Value>, inclusive: &str, exclusive: &str, sign: f64) -> Option<Self> {
        let mut bound = Self::NONE;
        for (keyword, is_out) in [(inclusive, false), (exclusive, true)] {
            let Some(value) = members.get(keyword) else { continue };
            let found = Self { number: sign * value.as_f64()?, is_out };
            if found > bound {
                bound = found;
            }
        }
        Some(if is_integer(members) { bound.of_integers() } else { bound })
    }

    fn of_integers(self) -> Self {
        let number = if self.is_out { self.number.floor() + 1.0 } else { self.number.ceil() };
        if number <= -SAFE { Self::NONE } else { Self { number, is_out: false } }
    }
}

fn is_integer(members: &Map<String, Value>) -> bool {
    match members.get("type") {
        Some(Value::String(name)) => name == "integer",
        Some(Value::Array(names)) => {
            let names = || names.iter().filter_map(Value::as_str);
            names().any(|name| name == "integer") && !names().any(|name| name == "number")
        }
        _ => false,
    }
}

impl<'v> Compare<'v, '_> {
    pub(super) fn bounds(&mut self, old: &'v Map<String, Value>, new: &'v Map<String, Value>, at: &str) {
        for (inclusive, exclusive, sign) in
            [("minimum", "exclusiveMinimum", 1.0), ("maximum", "exclusiveMaximum", -1.0)]
        {
            let before = Bound::read(old, inclusive, exclusive, sign);
            let after = Bound::read(new, inclusive, exclusive, sign);
            let grade = match (before, after) {
                (Some(before), Some(after)) if before == after => Grade::Notation,
                (Some(before), Some(after)) if after < before => self.loosened(),
                _ => Grade::Breaking,
            };
            for keyword in [inclusive, exclusive] {
                let (before, after) = (old.get(keyword), new.get(keyword));
                match (before, after) {
                    (None, None) => {}
                    (Some(before), Some(after)) if same(before, after) => {}
                    _ => self.push(below(at, keyword), grade, before, after),
                }
            }
        }
    }

    /// `minLength` and its kin, which are 0 where they are absent.
    pub(super) fn least(&self, pair: Pair<'v>) -> Grade {
        let read = |value: Option<&Value>| value.map_or(Some(0.0), Value::as_f64);
        match (read(pair.old), read(pair.new)) {
            (Some(old), Some(new)) if old <= 0.0 && new <= 0.0 => Grade::Notation,
            (Some(old), Some(new)) if new < old => self.loosened(),
            _ => Grade::Breaking,
        }
    }

    /// `maxLength` and its kin.
    pub(super) fn most(&self, pair: Pair<'v>) -> Grade {
        let read = |value: Option<&Value>| value.map_or(Some(f64::INFINITY), Value::as_f64);
        match (read(pair.old), read(pair.new)) {
            (Some(old), Some(new)) if new > old => self.loosened(),
            _ => Grade::Breaking,
        }
    }

    /// `uniqueItems`, which is false where it is absent.
    pub(super) fn flag(&self, pair: Pair<'v>) -> Grade {
        let read = |value: Option<&Value>| value.map_or(Some(false), Value::as_bool);
        match (read(pair.old), read(pair.new)) {
            (Some(old), Some(new)) if old == new => Grade::Notation,
            (Some(true), Some(false)) => self.loosened(),
            _ => Grade::Breaking,
        }
    }
}
