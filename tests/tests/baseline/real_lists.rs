//! Lists of real servers, read where they lie: nothing of them is part of the project.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Value, json};
use toolwarden::baseline::{
    Change, Drift, Exclusion, Exclusions, Grade, Identity, Language, ServerSnapshot, Survey, diff, read_pages, unstable,
};
use toolwarden::call::ServerName;

/// The folder of the lists; says so where there is none.
fn folder() -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let shared = std::env::var_os("TOOLWARDEN_SHARED_DATA").map(PathBuf::from);
    let places = shared.into_iter().chain(root.ancestors().map(|folder| folder.join("shared/data")));
    let found = places.map(|place| place.join("tool-lists")).find(|place| place.is_dir());
    if found.is_none() {
        eprintln!("skipped: no lists of real servers; set TOOLWARDEN_SHARED_DATA to the folder that holds tool-lists");
    }
    found
}

fn text(name: &str) -> Option<Vec<u8>> {
    Some(std::fs::read(folder()?.join(format!("{name}.json"))).expect("a list"))
}

/// A list as that of one server, whatever it is called in the file.
fn survey(name: &str) -> Option<Survey> {
    Some(of_text(&text(name)?))
}

fn of_text(text: &[u8]) -> Survey {
    let server = ServerName::new("demo").expect("a name");
    let tools = read_pages(&[text]).expect("a strict list");
    let list = ServerSnapshot::new(server.clone(), Identity::new(json!({ "transport": "stdio" })), None, tools);
    Survey::new([(server, Ok(list.expect("a snapshot")))])
}

/// What differs; none where there are no lists, as these all differ.
fn drift(old: &str, new: &str) -> Option<Drift> {
    let (old, new) = (survey(old)?, survey(new)?);
    let drift = diff(&old.lists().expect("lists"), &new.lists().expect("lists"), &Exclusions::default());
    Some(drift.expect("a difference"))
}

fn changes(old: &str, new: &str) -> Vec<Change> {
    drift(old, new).map(|drift| drift.changes().to_vec()).unwrap_or_default()
}

fn renames(old: &str, new: &str) -> BTreeSet<(String, String)> {
    let text = |value: Option<Value>| value.and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default();
    let renamed = changes(old, new).into_iter().filter(|change| change.grade == Grade::Renamed);
    renamed.map(|change| (text(change.old), text(change.new))).collect()
}

#[test]
fn no_field_of_any_tool_is_lost() {
    let Some(folder) = folder() else { return };
    let mut tools = 0;
    for file in std::fs::read_dir(folder).expect("a folder") {
        let text = std::fs::read(file.expect("a file").path()).expect("a list");
        let raw: Value = serde_json::from_slice(&text).expect("JSON");
        let survey = of_text(&text);
        let lists = survey.lists().expect("lists");
        let list = lists.values().next().expect("a list");
        for tool in raw["tools"].as_array().expect("tools") {
            let kept = list.tool(tool["name"].as_str().expect("a name")).expect("the tool");
            assert_eq!(kept.definition(), tool);
            tools += 1;
        }
        assert_eq!(list.tools().len(), raw["tools"].as_array().expect("tools").len());
        assert!(diff(&lists, &lists, &Exclusions::default()).is_none());
    }
    assert!(tools > 600, "{tools}");
}

#[test]
fn one_server_started_twice_differs_in_four_fields() {
    let (Some(one), Some(two)) = (survey("mcp-atlassian-run1"), survey("mcp-atlassian-run2")) else { return };
    let found = unstable(&one, &two, &Exclusions::default());
    assert_eq!(found.len(), 4, "{found:?}");
    assert!(found.iter().all(|place| place.pointer == "/inputSchema/properties/fields/default"), "{found:?}");
    let volatile = found.iter().map(|place| Exclusion::Volatile {
        server: place.server.clone(),
        tool: place.tool.clone().expect("a tool"),
        pointer: place.pointer.clone(),
    });
    let volatile = Exclusions::new(volatile).expect("exclusions");
    assert!(unstable(&one, &two, &volatile).is_empty());
    assert_eq!(one.fingerprint(&volatile), two.fingerprint(&volatile));
    assert_ne!(one.fingerprint(&Exclusions::default()), two.fingerprint(&Exclusions::default()));
}

#[test]
fn an_upgrade_of_the_sdk_alone_is_notation_and_hint() {
    let versions = ["fastmcp2-demo-2.14.7", "fastmcp3-demo-3.2.4", "fastmcp4-demo-4.2.3"];
    for pair in versions.windows(2) {
        let found = changes(pair[0], pair[1]);
        assert!(found.iter().all(|change| matches!(change.grade, Grade::Notation | Grade::Hint)), "{found:#?}");
        assert!(folder().is_none() || !found.is_empty());
    }
}

#[test]
fn renames_are_inferred() {
    if folder().is_none() {
        return;
    }
    let pairs = |rows: &[(&str, &str)]| rows.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    let expected: BTreeSet<_> = pairs(&[
        ("add", "get-sum"),
        ("annotatedMessage", "get-annotated-message"),
        ("getResourceLinks", "get-resource-links"),
        ("getResourceReference", "get-resource-reference"),
        ("getTinyImage", "get-tiny-image"),
        ("longRunningOperation", "trigger-long-running-operation"),
        ("printEnv", "get-env"),
        ("structuredContent", "get-structured-content"),
    ]);
    assert_eq!(renames("server-everything-2025.8.18", "server-everything-2026.8.31"), expected);
    let expected: BTreeSet<_> = pairs(&[
        ("tavily-crawl", "tavily_crawl"),
        ("tavily-extract", "tavily_extract"),
        ("tavily-map", "tavily_map"),
        ("tavily-search", "tavily_search"),
    ]);
    assert_eq!(renames("tavily-mcp-0.2.10", "tavily-mcp-0.2.22"), expected);
    let expected: BTreeSet<_> = pairs(&[("get-library-docs", "query-docs")]);
    assert_eq!(renames("context7-mcp-1.0.20", "context7-mcp-4.1.1"), expected);
    assert!(renames("playwright-mcp-0.0.40", "playwright-mcp-0.0.83").is_empty());
    assert!(renames("server-filesystem-2025.3.28", "server-filesystem-2026.8.31").is_empty());
}

/// Run with `--nocapture` to read the differences of all pairs.
#[test]
fn differences_read_well() {
    let pairs = [
        ("chrome-devtools-mcp-1.8.0", "chrome-devtools-mcp-1.10.1"),
        ("chrome-devtools-mcp-1.10.1", "chrome-devtools-mcp-1.11.0"),
        ("context7-mcp-1.0.20", "context7-mcp-4.1.1"),
        ("fastmcp2-demo-2.14.7", "fastmcp3-demo-3.2.4"),
        ("fastmcp3-demo-3.2.4", "fastmcp4-demo-4.2.3"),
        ("mcp-server-fetch-2025.1.17", "mcp-server-fetch-2026.10.24"),
        ("mcp-server-git-0.6.2", "mcp-server-git-sdk127-2025.7.1"),
        ("mcp-server-time-2025.7.1", "mcp-server-time-2026.10.19"),
        ("playwright-mcp-0.0.40", "playwright-mcp-0.0.83"),
        ("server-everything-2025.8.18", "server-everything-2026.8.31"),
        ("server-filesystem-2025.3.28", "server-filesystem-2026.8.31"),
        ("server-filesystem-2025.11.25", "server-filesystem-2026.8.31"),
        ("server-memory-2025.4.25", "server-memory-2026.8.31"),
        ("server-sequential-thinking-2025.7.1", "server-sequential-thinking-2026.8.31"),
        ("tavily-mcp-0.2.10", "tavily-mcp-0.2.22"),
    ];
    for (old, new) in pairs {
        let Some(drift) = drift(old, new) else { return };
        println!("{old} -> {new}: {:?}", drift.counts());
        println!("  {}", drift.summary(Language::English));
        println!("  {}", drift.summary(Language::Chinese));
        for change in drift.changes() {
            println!("    {:8} {} {}", change.grade.as_str(), change.tool.as_deref().unwrap_or("-"), change.pointer);
        }
        for language in [Language::English, Language::Chinese] {
            let line = drift.summary(language);
            assert!(line.chars().count() < 900 && !line.chars().any(char::is_control), "{line}");
        }
    }
}
