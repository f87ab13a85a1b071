//! The inert WASI: there where the settings say so, of no use to anybody, and no way to fill the host's memory or its time.

use std::time::Duration;

use toolwarden::module::{Component, Limits, LoadError, Wasi};
use toolwarden_harness::guests;

fn refused(guest: &str, wasi: Wasi) -> LoadError {
    let limits = Limits { wasi, deadline: Duration::from_millis(20), ..Limits::default() };
    Component::from_bytes(&guests::load(guest).unwrap(), limits).unwrap_err()
}

#[test]
fn without_the_setting_wasi_is_refused_with_a_hint() {
    for guest in ["imports-wasi", "wasi-socket", "wasi-file", "wasi-hoard", "wasi-random", "wasi-poll"] {
        let error = refused(guest, Wasi::Refused);
        let text = error.to_string();
        assert_eq!(error.code(), "module-imports", "{guest}: {text}");
        assert!(text.contains("`wasi:") && text.contains("allowInertWasi = true"), "{text}");
        assert!(text.contains("what the module can reach stays the same"), "{text}");
    }
}

#[test]
fn what_is_not_wasi_is_refused_all_the_same() {
    for wasi in [Wasi::Refused, Wasi::Inert] {
        let error = refused("wasi-foreign", wasi);
        let text = error.to_string();
        assert_eq!(error.code(), "module-imports");
        assert!(text.contains("`evil:host/shell@1.0.0`") && !text.contains("wasi:"), "{text}");
    }
}

#[test]
fn whoever_wants_more_than_there_is_traps_and_is_told() {
    let rows = [
        ("wasi-socket", "inert WASI has no `wasi:sockets/instance-network@0.2.0#instance-network`"),
        ("wasi-file", "inert WASI has no `wasi:filesystem/types@0.2.0#open`"),
        ("wasi-hoard", "inert WASI gives out at most 64 handles at a time"),
        ("wasi-random", "inert WASI gives out at most 4096 random bytes at a time"),
    ];
    for (guest, says) in rows {
        // Twice: another instance fares no better, and the random numbers are the same.
        for _ in 0..2 {
            let error = refused(guest, Wasi::Inert);
            assert_eq!(error.code(), "module-wasi-refused", "{guest}: {error}");
            assert!(error.to_string().contains(says), "{guest}: {error}");
        }
    }
}

#[test]
fn nothing_waits_and_what_is_given_back_counts_no_more() {
    assert_eq!(refused("wasi-poll", Wasi::Inert).code(), "module-deadline-exceeded");
    // It gets as far as its exports, which do not fit.
    assert_eq!(refused("wasi-polite", Wasi::Inert).code(), "module-wrong-type");
}
