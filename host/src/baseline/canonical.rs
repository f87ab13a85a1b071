//! Values compared by what they are.

use std::collections::BTreeMap;

use serde_json::{Number, Value};

use super::error::SnapshotError;

/// The canonical form of RFC 8785.
pub(super) fn canonical(value: &Value) -> Result<Vec<u8>, SnapshotError> {
    serde_json_canonicalizer::to_vec(value).map_err(|error| SnapshotError::NoCanonicalForm(error.to_string()))
}

/// Whether two values have one canonical form: the order of keys does not count, and `1` is `1.0`.
pub(super) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => same_number(one, other),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, one)| other.get(key).is_some_and(|other| same(one, other)))
        }
        (one, other) => one == other,
    }
}

#[expect(clippy::float_cmp, reason = "two numbers are one where they are written the same")]
fn same_number(one: &Number, other: &Number) -> bool {
    one == other || matches!((one.as_f64(), other.as_f64()), (Some(one), Some(other)) if one == other)
}

/// Whether two lists hold the same items, each as often, in whatever order.
pub(super) fn same_items(one: &[Value], other: &[Value]) -> bool {
    one.len() == other.len() && counted(one) == counted(other)
}

fn counted(items: &[Value]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for item in items {
        *counts.entry(key(item)).or_insert(0) += 1;
    }
    counts
}

/// A text that two values have in common exactly where they are the same.
pub(super) fn key(value: &Value) -> String {
    // Values of a snapshot have a canonical form; the compact one is as good for whatever has none.
    serde_json_canonicalizer::to_string(value).unwrap_or_else(|_| value.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn canonical_text(text: &str) -> String {
        let value: Value = serde_json::from_str(text).unwrap();
        String::from_utf8(canonical(&value).unwrap()).unwrap()
    }

    /// RFC 8785, appendix B: the bits of a double, and how it is written.
    #[test]
    fn numbers_are_written_as_the_rfc_says() {
        let rows: [(u64, &str); 24] = [
            (0x0000_0000_0000_0000, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0xc340_0000_0000_0000, "-9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5554, "333333333.33333325"),
            (0x41b3_de43_5555_5555, "333333333.3333333"),
            (0x41b3_de43_5555_5556, "333333333.3333334"),
            (0x41b3_de43_5555_5557, "333333333.33333343"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ];
        for (bits, written) in rows {
            let value = json!(f64::from_bits(bits));
            assert_eq!(String::from_utf8(canonical(&value).unwrap()).unwrap(), written, "{bits:016x}");
        }
    }

    /// RFC 8785, 3.2.3: keys are ordered by their UTF-16 units.
    #[test]
    fn keys_are_ordered_by_utf_16() {
        let text = r#"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#;
        let canonical = canonical_text(text);
        let places: Vec<_> = ["Carriage", "One", "Control", "Latin", "Euro", "Emoji", "Hebrew"]
            .map(|word| canonical.find(word).unwrap())
            .to_vec();
        assert!(places.is_sorted(), "{canonical}");
    }

    /// RFC 8785, 3.2.2 and 3.2.4.
    #[test]
    fn the_example_of_the_rfc() {
        let text = r#"{
            "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
            "literals": [null, true, false]
        }"#;
        let canonical = r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#;
        assert_eq!(canonical_text(text), canonical);
    }

    #[test]
    fn same_is_what_the_canonical_form_says() {
        let rows = [
            (json!({ "a": 1, "b": [1.0] }), json!({ "b": [1], "a": 1.0 }), true),
            (json!(-0.0), json!(0), true),
            (json!([1, 2]), json!([2, 1]), false),
            (json!({ "a": null }), json!({}), false),
            (json!("é"), json!("e\u{301}"), false),
        ];
        for (one, other, expected) in rows {
            assert_eq!(same(&one, &other), expected, "{one} {other}");
            assert_eq!(key(&one) == key(&other), expected, "{one} {other}");
        }
        assert!(same_items(&[json!(1), json!(2), json!(1)], &[json!(2), json!(1), json!(1)]));
        assert!(!same_items(&[json!(1), json!(2), json!(2)], &[json!(2), json!(1), json!(1)]));
    }
}
