//! Two schemas compared by what they mean.
//!
//! What is known to mean the same is `notation`; what is known to allow more is `widened`; anything else is `breaking`. So a
//! keyword that nobody here knows can never pass for notation. Values inside `const`, `enum`, `default` and `examples` are data,
//! and compared as such.

mod bounds;
mod combined;
mod dialect;
mod objects;
mod values;

use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value};

use super::canonical::same;
use super::grade::Grade;
use super::pointer::{below, leaves};
use super::text;

/// Levels of schemas within schemas, followed references included, that are gone down.
const DEEPEST: usize = 150;

/// Pairs of schemas that are compared at most. Source: ours; the largest of several hundred real schemas has some hundreds.
const MOST_PAIRS: usize = 20_000;

/// A schema that takes everything.
static OPEN: Value = Value::Bool(true);

/// What a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// What a tool takes.
    Input,
    /// What a tool gives.
    Output,
}

/// One difference between two schemas.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Finding<'v> {
    pub at: String,
    pub grade: Grade,
    pub old: Option<&'v Value>,
    pub new: Option<&'v Value>,
}

/// All differences between two schemas, `field` being where they are in the definition of the tool `tool`.
pub(super) fn compare<'v>(
    direction: Direction,
    tool: &'v str,
    field: &str,
    old: &'v Value,
    new: &'v Value,
) -> Vec<Finding<'v>> {
    let mut compare = Compare { direction, tool, field, old, new, depth: 0, pairs: HashSet::new(), found: Vec::new() };
    if dialect::is_opaque(old) || dialect::is_opaque(new) {
        compare.plain(old, new, field);
    } else {
        compare.schemas(old, new, field, "");
        compare.references();
    }
    compare.close();
    compare.found
}

struct Compare<'v, 'f> {
    direction: Direction,
    tool: &'v str,
    field: &'f str,
    old: &'v Value,
    new: &'v Value,
    depth: usize,
    /// Pairs that were compared, or are being compared further up, by their addresses.
    pairs: HashSet<(*const Value, *const Value)>,
    found: Vec<Finding<'v>>,
}

impl<'v> Compare<'v, '_> {
    fn push(&mut self, at: String, grade: Grade, old: Option<&'v Value>, new: Option<&'v Value>) {
        self.found.push(Finding { at, grade, old, new });
    }

    /// What allows more: of a result that means less is promised.
    const fn loosened(&self) -> Grade {
        match self.direction {
            Direction::Input => Grade::Widened,
            Direction::Output => Grade::Breaking,
        }
    }

    /// Differences of what is not understood.
    fn plain(&mut self, old: &'v Value, new: &'v Value, at: &str) {
        for (at, leaf) in leaves(old, new, at) {
            self.push(at, Grade::Breaking, leaf.old, leaf.new);
        }
    }

    /// What stays as it is written may lead somewhere else: to what took its place, or nowhere.
    fn references(&mut self) {
        let (before, after) = (dialect::references(self.old), dialect::references(self.new));
        for reference in before.intersection(&after) {
            let place = format!("{}{}", self.field, reference.trim_start_matches('#'));
            match (dialect::target(self.old, reference), dialect::target(self.new, reference)) {
                (Some(old), Some(new)) => self.schemas(old, new, &place, ""),
                (None, None) => {}
                (old, new) => self.push(place, Grade::Breaking, old, new),
            }
        }
    }

    /// Nothing is taken for notation by mistake: each difference of the texts must have been looked at.
    fn close(&mut self) {
        if self.found.iter().any(|finding| finding.grade != Grade::Notation) {
            return;
        }
        let is_below = |one: &str, other: &str| {
            one.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        for (at, leaf) in leaves(self.old, self.new, self.field) {
            if !self.found.iter().any(|finding| is_below(&at, &finding.at) || is_below(&finding.at, &at)) {
                self.push(at, Grade::Breaking, leaf.old, leaf.new);
            }
        }
    }

    /// Runs a part in which what allows more may as well allow less.
    fn entangled(&mut self, part: impl FnOnce(&mut Self)) {
        let before = self.found.len();
        part(self);
        for finding in self.found.iter_mut().skip(before) {
            if matches!(finding.grade, Grade::Hint | Grade::Widened) {
                finding.grade = Grade::Breaking;
            }
        }
    }

    /// Compares two schemas; `name` is the name of the member that they are for.
    fn schemas(&mut self, old: &'v Value, new: &'v Value, at: &str, name: &str) {
        if self.pairs.contains(&(old, new)) || same(old, new) {
            return;
        }
        if self.depth >= DEEPEST || self.pairs.len() >= MOST_PAIRS {
            self.push(at.into(), Grade::Breaking, Some(old), Some(new));
            return;
        }
        self.pairs.insert((old, new));
        self.depth += 1;
        match (old, new) {
            (Value::Object(before), Value::Object(after)) => self.members(old, new, before, after, at, name),
            (old, new) if is_open(old) && is_open(new) => {
                self.push(at.into(), Grade::Notation, Some(old), Some(new));
            }
            (Value::Bool(false), Value::Object(_) | Value::Bool(true)) | (Value::Object(_), Value::Bool(true)) => {
                self.push(at.into(), self.loosened(), Some(old), Some(new));
            }
            _ => self.push(at.into(), Grade::Breaking, Some(old), Some(new)),
        }
        self.depth -= 1;
    }

    fn members(
        &mut self,
        old: &'v Value,
        new: &'v Value,
        before: &'v Map<String, Value>,
        after: &'v Map<String, Value>,
        at: &str,
        name: &str,
    ) {
        let sole = |members: &Map<String, Value>| members.len() == 1;
        match (before.get("$ref"), after.get("$ref")) {
            (None, None) => self.keywords(before, after, at, name),
            (Some(one), Some(other)) => {
                self.keywords(before, after, at, name);
                let place = below(at, "$ref");
                match (dialect::target_of(self.old, one), dialect::target_of(self.new, other)) {
                    (Some(old), Some(new)) => {
                        if one != other {
                            self.push(place, Grade::Notation, Some(one), Some(other));
                        }
                        self.schemas(old, new, &self.target_place(other), name);
                    }
                    (None, None) if one == other => {}
                    _ => self.push(place, Grade::Breaking, Some(one), Some(other)),
                }
            }
            // What stands beside a reference is read in two ways; only a bare one is followed.
            (Some(reference), None) if sole(before) => match dialect::target_of(self.old, reference) {
                Some(target) => {
                    self.push(at.into(), Grade::Notation, Some(old), Some(new));
                    self.schemas(target, new, at, name);
                }
                None => self.plain(old, new, at),
            },
            (None, Some(reference)) if sole(after) => match dialect::target_of(self.new, reference) {
                Some(target) => {
                    self.push(at.into(), Grade::Notation, Some(old), Some(new));
                    self.schemas(old, target, at, name);
                }
                None => self.plain(old, new, at),
            },
            _ => self.plain(old, new, at),
        }
    }

    fn target_place(&self, reference: &Value) -> String {
        format!("{}{}", self.field, reference.as_str().unwrap_or_default().trim_start_matches('#'))
    }

    fn keywords(&mut self, old: &'v Map<String, Value>, new: &'v Map<String, Value>, at: &str, name: &str) {
        self.types(old, new, at);
        self.constants(old, new, at);
        self.bounds(old, new, at);
        self.properties(old, new, at);
        if at == self.field {
            self.definitions(old, new, at);
        }
        let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for key in keys {
            let (before, after) = (old.get(key), new.get(key));
            if !matches!((before, after), (Some(before), Some(after)) if same(before, after)) {
                self.keyword(key, Pair { old: before, new: after }, old, at, name);
            }
        }
    }

    /// A keyword that stands for itself.
    fn keyword(&mut self, key: &str, pair: Pair<'v>, around: &'v Map<String, Value>, at: &str, name: &str) {
        let Pair { old, new } = pair;
        let place = below(at, key);
        let is_root = at == self.field;
        let grade = match key {
            // Looked at in groups.
            "$ref" | "type" | "enum" | "const" | "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum"
            | "properties" | "required" => return,
            "$defs" | "definitions" if is_root => return,
            "$schema" if is_root => dialect::grade(old, new, self.old, self.new),
            "title" if is_root => text::title_grade(old, new, &[name, self.tool]),
            "title" => text::title_grade(old, new, &[name]),
            // A text about results that only goes away steers no call and says nothing new.
            "description" if self.direction == Direction::Output && new.is_none() => Grade::Hint,
            "description" | "$comment" => text::grade(old, new),
            "default" if old.is_none() => Grade::Widened,
            "examples" | "example" => Grade::Text,
            "readOnly" | "writeOnly" | "deprecated" => Grade::Hint,
            "additionalProperties" => return self.additional(pair, around, at),
            "items" => return self.items(pair, &place, name),
            "allOf" => return self.all_of(pair, &place, name),
            "anyOf" | "oneOf" => return self.branches(key, pair, &place, name),
            "propertyNames" if pair.is_one_absent_and(is_string_schema) => Grade::Notation,
            "not" | "if" | "then" | "else" | "contains" | "propertyNames" | "additionalItems" | "contentSchema"
            | "patternProperties" | "dependentSchemas" | "prefixItems" => {
                return self.parallel(pair, &place, name);
            }
            "minLength" | "minItems" | "minProperties" => self.least(pair),
            "maxLength" | "maxItems" | "maxProperties" => self.most(pair),
            "uniqueItems" => self.flag(pair),
            "multipleOf" | "pattern" | "format" | "contentEncoding" | "contentMediaType" if new.is_none() => {
                self.loosened()
            }
            "multipleOf" | "pattern" | "format" | "contentEncoding" | "contentMediaType" | "default"
            | "dependentRequired" | "minContains" | "maxContains" => Grade::Breaking,
            _ if [old, new].into_iter().flatten().any(text::has_text) => Grade::Text,
            _ => Grade::Breaking,
        };
        self.push(place, grade, old, new);
    }
}

/// A keyword before and after.
#[derive(Clone, Copy)]
struct Pair<'v> {
    old: Option<&'v Value>,
    new: Option<&'v Value>,
}

impl Pair<'_> {
    /// Whether the keyword is there on one side only, and its value is such a one.
    fn is_one_absent_and(self, is_one: impl Fn(&Value) -> bool) -> bool {
        matches!((self.old, self.new), (Some(value), None) | (None, Some(value)) if is_one(value))
    }
}

/// Whether a schema takes everything and says nothing.
fn is_open(schema: &Value) -> bool {
    match schema {
        Value::Bool(open) => *open,
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// `{"type": "string"}`: names of members always are.
fn is_string_schema(schema: &Value) -> bool {
    schema.as_object().is_some_and(|members| members.len() == 1)
        && schema.get("type").and_then(Value::as_str) == Some("string")
}
