//! What holds for every definition.

use crate::common::{name, survey};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};
use toolwarden::baseline::{
    Drift, Exclusion, Exclusions, Grade, Identity, ServerSnapshot, Survey, diff, read_pages, unstable,
};

fn drift(old: &Survey, new: &Survey, exclusions: &Exclusions) -> Option<Drift> {
    diff(&old.lists().expect("lists"), &new.lists().expect("lists"), exclusions)
}

/// Some JSON value.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-(1_i64 << 53) + 1..1_i64 << 53).prop_map(Value::from),
        (-1.0e15..1.0e15).prop_map(|number: f64| json!(number)),
        "[a-c\r\n\\PC]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..5).prop_map(Value::from_iter),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        select(vec!["type", "properties", "required", "a", "b", "~", "/", "", "$ref", "title", "default"])
            .prop_map(Into::into),
        "\\PC{1,4}".prop_map(|key: String| key),
    ]
}

/// A definition of a tool with some of the fields that there are.
fn definition() -> impl Strategy<Value = Value> {
    let fields =
        ["description", "title", "inputSchema", "outputSchema", "annotations", "icons", "execution", "_meta", "x"];
    (
        subsequence(fields.to_vec(), 0..=fields.len()),
        prop::collection::vec(prop_oneof![value(), schema()], fields.len()),
    )
        .prop_map(|(names, values)| {
            let mut definition = json!({ "name": "echo" });
            for (name, value) in names.into_iter().zip(values) {
                definition[name] = value;
            }
            definition
        })
}

/// The same value as text, with keys in another order and white space.
fn respelt(value: &Value, turn: usize) -> String {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            let length = members.len().max(1);
            members.rotate_left(turn % length);
            members.reverse();
            let members: Vec<_> = members
                .into_iter()
                .map(|(key, value)| format!("\n {}\t: {}", json!(key), respelt(value, turn + 1)))
                .collect();
            format!("{{{} }}", members.join(" ,"))
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| respelt(item, turn)).collect();
            format!("[ {}\r\n]", items.join(", "))
        }
        other => other.to_string(),
    }
}

/// All places of a value, the whole included.
fn places(value: &Value) -> Vec<String> {
    fn collect(value: &Value, at: &str, places: &mut Vec<String>) {
        places.push(at.to_owned());
        match value {
            Value::Object(members) => {
                for (key, member) in members {
                    collect(member, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), places);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    collect(item, &format!("{at}/{index}"), places);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(value, "", &mut found);
    found
}

/// A value with one place replaced.
fn replaced(value: &Value, at: prop::sample::Index, other: Value) -> (Value, String) {
    let places = places(value);
    let place = at.get(&places).clone();
    let mut value = value.clone();
    *value.pointer_mut(&place).expect("a place") = other;
    (value, place)
}

fn number() -> impl Strategy<Value = Value> {
    select(vec![-9_007_199_254_740_991_i64, -1, 0, 1, 2, 3, 9_007_199_254_740_991]).prop_map(Value::from)
}

/// A schema of few words, so that two of them are often alike.
fn schema() -> impl Strategy<Value = Value> {
    let types = vec!["string", "integer", "number", "object", "array", "null", "boolean"];
    let scalar =
        prop_oneof![number(), select(vec![json!("a"), json!("ab"), json!(null), json!([1]), json!({ "a": 1 })])];
    let word = select(types.clone()).prop_map(Value::from);
    let words = subsequence(types, 1..=3).prop_map(|words| json!(words)).prop_shuffle_values();
    let names = subsequence(vec!["a", "b", "c"], 0..=3).prop_map(|names| json!(names)).prop_shuffle_values();
    let flat = prop_oneof![
        3 => prop_oneof![word, words].prop_map(|v| ("type", v)),
        2 => prop::collection::vec(scalar.clone(), 1..4).prop_map(|v| ("enum", json!(v))),
        1 => scalar.prop_map(|v| ("const", v)),
        2 => (select(vec!["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]), number()),
        1 => (select(vec!["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"]), (0..3).prop_map(Value::from)),
        1 => any::<bool>().prop_map(|v| ("uniqueItems", json!(v))),
        2 => names.prop_map(|v| ("required", v)),
        1 => select(vec!["a", "x"]).prop_map(|v| ("title", json!(v))),
        1 => select(vec!["#/$defs/d", "#/$defs/e", "#", "#/anyOf/0", "#/properties/a", "#/additionalProperties"]).prop_map(|v| ("$ref", json!(v))),
        1 => select(vec!["^a", "b$"]).prop_map(|v| ("pattern", json!(v))),
    ];
    let leaf = prop::collection::vec(flat.clone(), 0..4).prop_map(Value::from_iter);
    leaf.prop_recursive(3, 24, 4, move |inner| {
        let inner = prop_oneof![6 => inner.clone(), 1 => any::<bool>().prop_map(Value::from), 1 => Just(json!({}))];
        let list = prop::collection::vec(inner.clone(), 1..4).prop_map(|list| json!(list));
        let members = prop::collection::vec((select(vec!["a", "b", "c"]), inner.clone()), 0..3).prop_map(Value::from_iter);
        let nested = prop_oneof![
            4 => members.prop_map(|v| ("properties", v)),
            3 => inner.clone().prop_map(|v| ("additionalProperties", v)),
            2 => inner.clone().prop_map(|v| ("items", v)),
            3 => (select(vec!["anyOf", "oneOf", "allOf"]), list.clone()),
            1 => list.prop_map(|v| ("prefixItems", v)),
            1 => (select(vec!["not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties"]), inner.clone()),
            2 => (inner.clone(), inner).prop_map(|(d, e)| ("$defs", json!({ "d": d, "e": e }))),
        ];
        prop::collection::vec(prop_oneof![flat.clone(), nested], 0..5).prop_map(Value::from_iter)
    })
}

/// Shuffles a list that is a value.
trait ShuffleValues: Strategy<Value = Value> + Sized {
    fn prop_shuffle_values(self) -> BoxedStrategy<Value>
    where
        Self: 'static,
    {
        self.prop_flat_map(|value| {
            let items = value.as_array().cloned().unwrap_or_default();
            Just(items).prop_shuffle().prop_map(Value::from)
        })
        .boxed()
    }
}

impl<S: Strategy<Value = Value>> ShuffleValues for S {}

/// The same schema in other words, or nearly: each step rewrites one place.
fn rewritten(schema: &Value, steps: &[(prop::sample::Index, u8)]) -> Value {
    let mut schema = schema.clone();
    for (at, how) in steps {
        let places = places(&schema);
        let place = at.get(&places).clone();
        let Some(value) = schema.pointer_mut(&place) else { continue };
        match (value, how % 8) {
            (Value::Array(items), 0 | 1) => items.reverse(),
            (Value::Array(items), 2) if items.len() > 1 => drop(items.pop()),
            (Value::Object(members), 0) => drop(members.insert("additionalProperties".into(), json!(true))),
            (Value::Object(members), 1) => drop(members.remove("additionalProperties")),
            (Value::Object(members), 2) => drop(members.insert("maximum".into(), json!(9_007_199_254_740_991_i64))),
            (Value::Object(members), 3) => drop(members.insert("required".into(), json!([]))),
            (Value::Object(members), 4) if !members.is_empty() => {
                let key = at.get(&members.keys().cloned().collect::<Vec<_>>()).clone();
                members.remove(&key);
            }
            (Value::Object(members), 5) => {
                if let Some(value) = members.remove("const") {
                    members.insert("enum".into(), json!([value]));
                }
            }
            (Value::Object(members), 6) => drop(members.insert("minLength".into(), json!(0))),
            (Value::Object(members), 7) if members.is_empty() => schema = set(&schema, &place, json!(true)),
            (Value::String(word), _) if place.ends_with("/type") => {
                let words = json!([word.clone()]);
                schema = set(&schema, &place, words);
            }
            (Value::Number(number), 0) => {
                let number = number.as_i64().unwrap_or_default().min(9) + 1;
                schema = set(&schema, &place, json!(number));
            }
            _ => {}
        }
    }
    schema
}

fn set(value: &Value, at: &str, other: Value) -> Value {
    let mut value = value.clone();
    if let Some(place) = value.pointer_mut(at) {
        *place = other;
    }
    value
}

/// Values that schemas of those few words tell apart.
fn instances() -> Vec<Value> {
    let leaves = [
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(2),
        json!(1.5),
        json!(-1),
        json!(4),
        json!(""),
        json!("a"),
        json!("ab"),
        json!(9_007_199_254_740_991_i64),
        json!([]),
        json!({}),
    ];
    let mut all = leaves.to_vec();
    for leaf in &leaves {
        all.push(json!([leaf]));
        all.push(json!([1, leaf]));
        all.push(json!([leaf, leaf]));
        for key in ["a", "b", "z"] {
            all.push(json!({ key: leaf }));
            all.push(json!({ "a": 1, key: leaf }));
            all.push(json!({ "a": { key: leaf }, "b": "a" }));
        }
    }
    all
}

fn of_schema(schema: &Value) -> Survey {
    survey(vec![json!({ "name": "echo", "inputSchema": schema })])
}

/// What a validator says of each instance; none where it cannot use the schema or would not end.
fn verdicts(schema: &Value, instances: &[Value]) -> Option<Vec<bool>> {
    use toolwarden::output::{OutputCheck, ResultFault};
    let check = OutputCheck::new(schema).ok()?;
    instances
        .iter()
        .map(|instance| match check.check(&json!({ "structuredContent": instance })) {
            Ok(()) => Some(true),
            Err(ResultFault::Excess(_)) => None,
            Err(_) => Some(false),
        })
        .collect()
}

fn agrees(old: &Value, new: &Value) -> Result<(), TestCaseError> {
    let (one, other) = (of_schema(old), of_schema(new));
    let none = Exclusions::default();
    let drift = drift(&one, &other, &none);
    prop_assert_eq!(drift.is_none(), one.fingerprint(&none) == other.fingerprint(&none));
    let Some(drift) = drift else { return Ok(()) };
    let worst = drift.changes().iter().map(|change| change.grade).max();
    if worst > Some(Grade::Widened) {
        return Ok(());
    }
    let instances = instances();
    let (Some(before), Some(after)) = (verdicts(old, &instances), verdicts(new, &instances)) else { return Ok(()) };
    // Hints close objects to what was not listed; a new parameter says what was free before.
    let is_new = |pointer: &str| pointer.rsplit('/').nth(1) == Some("properties");
    let is_hint = drift
        .changes()
        .iter()
        .any(|change| change.grade == Grade::Hint || change.old.is_none() && is_new(&change.pointer));
    for ((instance, before), after) in instances.iter().zip(before).zip(after) {
        match worst {
            Some(Grade::Notation) => prop_assert_eq!(before, after, "{} {:?}", instance, drift),
            Some(Grade::Widened) if !is_hint => prop_assert!(after || !before, "{} {:?}", instance, drift),
            _ => {}
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn key_order_and_white_space_never_count(definition in definition(), turn in 0_usize..7) {
        let text = format!(" {{\"tools\" :[{}]}}\n", respelt(&definition, turn));
        let tools = read_pages(&[text.as_bytes()]).expect("strict");
        let none = Exclusions::default();
        let (one, other) = (survey(vec![definition]), survey(tools));
        prop_assert_eq!(one.fingerprint(&none), other.fingerprint(&none));
        prop_assert!(drift(&one, &other, &none).is_none());
        prop_assert!(unstable(&one, &other, &none).is_empty());
    }

    #[test]
    fn any_other_change_counts(definition in definition(), at in any::<prop::sample::Index>(), other in value()) {
        let (changed, place) = replaced(&definition, at, other);
        prop_assume!(place != "/name" && !place.is_empty());
        let none = Exclusions::default();
        let (one, two) = (survey(vec![definition.clone()]), survey(vec![changed.clone()]));
        let is_same = serde_json_canonicalizer::to_string(&definition).ok() == serde_json_canonicalizer::to_string(&changed).ok();
        prop_assert_eq!(one.fingerprint(&none) == two.fingerprint(&none), is_same);
        prop_assert_eq!(drift(&one, &two, &none).is_none(), is_same);
        prop_assert_eq!(drift(&two, &one, &none).is_none(), is_same);
        prop_assert_eq!(unstable(&one, &two, &none).is_empty(), is_same);
        prop_assert!(drift(&one, &one, &none).is_none());
    }

    #[test]
    fn what_is_excluded_counts_neither_in_the_digest_nor_in_the_difference(
        definition in definition(), at in any::<prop::sample::Index>(), other in value(),
        excluded in any::<prop::sample::Index>(),
    ) {
        let pointer = excluded.get(&places(&definition)).clone();
        let volatile = Exclusion::Volatile { server: "security_demo".into(), tool: "echo".into(), pointer };
        let Ok(exclusions) = Exclusions::new([volatile]) else { return Ok(()) };
        let (changed, place) = replaced(&definition, at, other);
        prop_assume!(place != "/name" && !place.is_empty());
        let (one, two) = (survey(vec![definition]), survey(vec![changed]));
        let is_same = one.fingerprint(&exclusions) == two.fingerprint(&exclusions);
        prop_assert_eq!(drift(&one, &two, &exclusions).is_none(), is_same);
        prop_assert_eq!(unstable(&one, &two, &exclusions).is_empty(), is_same);
    }

    #[test]
    fn the_order_of_tools_and_servers_never_counts(names in subsequence(vec!["a", "b", "c", "d"], 0..=4)) {
        let list = |names: &[&str]| names.iter().map(|name| json!({ "name": name })).collect::<Vec<_>>();
        let mut turned = names.clone();
        turned.reverse();
        let of = |server: &str, names: &[&str]| {
            (name(server), ServerSnapshot::new(name(server), Identity::new(Value::Object(Map::new())), None, list(names)))
        };
        let one = Survey::new([of("x", &names), of("y", &[])]);
        let two = Survey::new([of("y", &[]), of("x", &turned)]);
        prop_assert_eq!(one, two);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    /// A validator that knows nothing of grades agrees: notation changes no verdict, and widening takes none away.
    #[test]
    fn notation_changes_no_verdict(
        schema in schema(), steps in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        agrees(&schema, &rewritten(&schema, &steps))?;
    }

    #[test]
    fn two_schemas_of_few_words(one in schema(), other in schema()) {
        agrees(&one, &other)?;
    }
}
