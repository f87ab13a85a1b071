//! Servers that are programs, with all their habits.

use serde_json::json;
use toolwarden::mcp::listing::{ListLimits, Listing, list_once, list_tools};
use toolwarden::mcp::{
    Ask, ClientProfile, Connection, Era, EraChoice, ListFault, Oddities, RpcCode, RpcError, WireError,
};

use crate::fixture::{expected, in_ms, object, options, quick, scripted, soon, tool};

async fn list(habits: &[&str]) -> Result<Listing, WireError> {
    let limits = ListLimits { pages: 5, tools: 100, bytes: 1 << 20 };
    list_once(&scripted(habits), &options(), &limits, quick(), soon()).await
}

fn listing(era: Era, pages: usize, changed_meanwhile: bool) -> Listing {
    Listing { server: expected(era), tools: (1..=pages).map(tool).collect(), pages, changed_meanwhile }
}

#[tokio::test]
async fn what_a_server_may_do_does_no_harm() {
    for (habits, expected) in [
        (&["era=legacy"][..], listing(Era::Legacy, 1, false)),
        (&["era=modern"], listing(Era::Modern, 1, false)),
        (&["era=both"], listing(Era::Modern, 1, false)),
        (&["era=legacy", "pages=5"], listing(Era::Legacy, 5, false)),
        (&["era=modern", "pages=3"], listing(Era::Modern, 3, false)),
        (&["era=legacy", "text", "early", "unknown"], listing(Era::Legacy, 1, false)),
        (&["era=modern", "text", "early", "unknown"], listing(Era::Modern, 1, false)),
        (&["era=legacy", "twice"], listing(Era::Legacy, 1, false)),
        (&["era=legacy", "changes"], listing(Era::Legacy, 1, true)),
        (&["era=legacy", "dies=server/discover"], listing(Era::Legacy, 1, false)),
        (&["era=legacy", "says=hello"], listing(Era::Legacy, 1, false)),
    ] {
        assert_eq!(list(habits).await, Ok(expected), "{habits:?}");
    }
}

#[tokio::test]
async fn each_fault_has_its_error() {
    let bad = |page, what| Err(WireError::BadList(ListFault::BadPage { page, what }));
    for era in ["era=legacy", "era=modern"] {
        for (habit, expected) in [
            ("no-list", bad(1, "`tools` is no list")),
            ("bad-tool", bad(1, "a tool is no object")),
            ("bad-cursor", bad(1, "`nextCursor` is no text")),
            ("forever", Err(WireError::BadList(ListFault::TooManyPages(5)))),
            ("again", Err(WireError::BadList(ListFault::RepeatedCursor { page: 2 }))),
            ("huge=2000000", Err(WireError::BadList(ListFault::TooManyBytes(1 << 20)))),
            ("list-error", {
                let error = RpcError::new(RpcCode(-32_000), "offline");
                Err(WireError::Refused(Box::new(RpcError { data: Some(json!({"retry": true})), ..error })))
            }),
        ] {
            assert_eq!(list(&[era, habit]).await, expected, "{era} {habit}");
        }
        let Err(WireError::Malformed(malformed)) = list(&[era, "duplicate"]).await else {
            panic!("{era}: not refused")
        };
        assert_eq!(
            (malformed.code.as_str(), malformed.pointer.as_str()),
            ("duplicate-key", "/result/tools/0/description")
        );
    }
}

#[tokio::test]
async fn a_server_that_dies_says_how() {
    for habits in [
        &["era=legacy", "dies=start"][..],
        &["era=legacy", "dies=initialize"],
        &["era=legacy", "dies=notifications/initialized"],
        &["era=legacy", "dies=tools/list"],
        &["era=modern", "dies=tools/list"],
        &["era=legacy", "pages=3", "dies-at-page=2"],
        &["era=modern", "pages=3", "dies-at-page=3"],
    ] {
        let Err(WireError::Closed(ended)) = list(habits).await else { panic!("{habits:?}: it did not die") };
        assert_eq!(ended.exit.as_deref(), Some("exit code 3"), "{habits:?}");
    }
    let Err(WireError::Closed(ended)) = list(&["dies=start"]).await else { panic!("it did not die") };
    assert_eq!(ended.stderr, ["I cannot go on"]);
    assert_eq!(
        WireError::Closed(ended).to_string(),
        "the server closed the connection (exit code 3); its last words: I cannot go on"
    );
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let server = crate::fixture::server(&json!({"command": "no-such-program-here", "args": ["--key=s3cret"]}));
    let error = list_once(&server, &options(), &ListLimits::default(), quick(), soon()).await.unwrap_err();
    assert_eq!(error.code(), "spawn-failed");
    assert!(error.to_string().starts_with("`no-such-program-here` could not be started: "), "{error}");
}

#[tokio::test]
async fn answers_to_nobody_are_told_when_time_is_up() {
    for (habit, strays) in [("wrong-id", 1), ("text-id", 1), ("silent=tools/list", 0)] {
        for era in ["era=legacy", "era=modern"] {
            let connection = Connection::open(&scripted(&[era, habit]), &options(), soon()).await.unwrap();
            match list_tools(&connection, &ListLimits::default(), in_ms(300)).await {
                Err(WireError::DeadlineExceeded { strays: found, .. }) => assert_eq!(found, strays, "{era} {habit}"),
                other => panic!("{era} {habit}: {other:?}"),
            }
        }
    }
}

#[tokio::test]
async fn a_long_line_fails_its_own_request_and_no_other() {
    let mut options = options();
    options.limits.message_bytes = 100_000;
    let connection = Connection::open(&scripted(&["era=legacy", "huge=3000000"]), &options, soon()).await.unwrap();
    let other = connection.request(Ask::new("other").deadline(soon()));
    let list = connection.request(Ask::new("tools/list").deadline(soon()));
    let (other, list) = tokio::join!(other, list);
    assert_eq!(list, Err(WireError::TooLarge { limit: 100_000 }));
    assert_eq!(other, Err(WireError::Refused(Box::new(RpcError::new(RpcCode::METHOD_NOT_FOUND, "no such method")))));
    let too_long = Ask::new("x").params(object(json!({"text": "x".repeat(100_000)}))).deadline(soon());
    assert_eq!(connection.request(too_long).await, Err(WireError::RequestTooLarge { limit: 100_000 }));
    assert_eq!(connection.oddities(), Oddities { too_large: 1, ..Oddities::default() });
}

#[tokio::test]
async fn what_a_server_does_amiss_is_counted() {
    let habits = ["era=legacy", "text", "early", "twice"];
    let connection = Connection::open(&scripted(&habits), &options(), soon()).await.unwrap();
    let changes = connection.tools_changed();
    for _ in 0..2 {
        list_tools(&connection, &ListLimits::default(), soon()).await.unwrap();
    }
    // Discovery, opening, two lists: a line of text and a log line before each answer. The second answer to the last list
    // may be on its way.
    let oddities = connection.oddities();
    assert_eq!((oddities.text_lines, oddities.malformed), (4, 4));
    assert!((1..=2).contains(&oddities.stray_answers), "{oddities:?}");
    assert_eq!(*changes.borrow(), 1);
    assert!(connection.last_words().iter().all(|line| line == "Server is listening on stdio..."));
    assert_eq!(connection.close().await.as_deref(), Some("exit code 0"));
}

#[tokio::test]
async fn an_endless_text_is_no_server() {
    let server = crate::fixture::server(&json!({"command": "yes", "args": ["not a message"]}));
    let mut options = options();
    options.limits.noise_lines = 100;
    let error = Connection::open(&server, &options, soon()).await.unwrap_err();
    assert_eq!(error.to_string(), "the server writes text in the place of messages; its last words: not a message");
}

#[tokio::test]
async fn the_client_chooses_its_era_and_version() {
    let open = async |habit: &str, era, legacy: &str| {
        let mut profile = ClientProfile::new("test", "1");
        profile.era = EraChoice::Only(era);
        profile.legacy_version = legacy.to_owned();
        let options = toolwarden::mcp::ConnectOptions::new(profile);
        let connection = Connection::open(&scripted(&[habit]), &options, soon()).await?;
        let opened = connection.opened();
        Ok::<_, WireError>((opened.era, opened.version.clone()))
    };
    assert_eq!(open("era=both", Era::Legacy, "2025-03-26").await, Ok((Era::Legacy, "2025-03-26".to_owned())));
    assert_eq!(open("era=both", Era::Modern, "2025-03-26").await, Ok((Era::Modern, "2026-07-28".to_owned())));
    assert_eq!(open("era=modern", Era::Legacy, "2025-11-25").await.unwrap_err().code(), "server-error");
    assert_eq!(open("era=legacy", Era::Modern, "2025-11-25").await.unwrap_err().code(), "bad-opening");
}
