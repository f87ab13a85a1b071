//! What `tool_search` promises: the right tool first, whatever the query is.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests say what they expect")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;
use toolwarden::registry::{ENTRY_TOKENS, Entry, FIELD_TOKENS, Hit, Index, NAME_BYTES, QUERY_CHARS, QUERY_TOKENS};

const TOOLS: &str = include_str!("../vectors/search-tools.jsonl");
const QUERIES: &str = include_str!("../vectors/search-queries.jsonl");

/// A tool with texts of its own.
#[derive(Clone, Debug, Default)]
struct Tool {
    public_name: String,
    server: String,
    name: String,
    title: String,
    description: String,
    parameters: Vec<String>,
    parameter_texts: Vec<String>,
}

impl Tool {
    fn entry(&self) -> Entry<'_> {
        Entry {
            public_name: &self.public_name,
            server: &self.server,
            name: &self.name,
            title: &self.title,
            description: &self.description,
            parameters: self.parameters.iter().map(String::as_str).collect(),
            parameter_texts: self.parameter_texts.iter().map(String::as_str).collect(),
        }
    }

    /// A tool as the vectors write it.
    fn vector(row: &Value) -> Self {
        let parameters = row["parameters"].as_object().expect("parameters is an object");
        Self {
            public_name: format!("mcp__{}__{}", text(&row["server"]), text(&row["name"])),
            server: text(&row["server"]),
            name: text(&row["name"]),
            title: text(&row["title"]),
            description: text(&row["description"]),
            parameters: parameters.keys().cloned().collect(),
            parameter_texts: parameters.values().map(text).collect(),
        }
    }

    /// A tool as `tools/list` gives it.
    fn listed(server: &str, tool: &Value) -> Self {
        let properties = tool["inputSchema"]["properties"].as_object();
        Self {
            public_name: format!("mcp__{server}__{}", text(&tool["name"])),
            server: server.to_owned(),
            name: text(&tool["name"]),
            title: text(&tool["title"]),
            description: text(&tool["description"]),
            parameters: properties.map(|all| all.keys().cloned().collect()).unwrap_or_default(),
            parameter_texts: properties
                .map(|all| all.values().map(|one| text(&one["description"])).collect())
                .unwrap_or_default(),
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn rows(jsonl: &str) -> Vec<Value> {
    jsonl.lines().map(|line| serde_json::from_str(line).expect("a row is JSON")).collect()
}

fn index(tools: &[Tool]) -> Index {
    Index::build(tools.iter().map(Tool::entry))
}

fn entries(hits: &[Hit]) -> Vec<usize> {
    hits.iter().map(|hit| hit.entry).collect()
}

/// An entry with a description alone.
fn described(description: &str) -> Tool {
    Tool { description: description.to_owned(), ..Tool::default() }
}

#[test]
fn vectors() {
    let tools: Vec<Tool> = rows(TOOLS).iter().map(Tool::vector).collect();
    let index = index(&tools);
    let wrong: Vec<String> = rows(QUERIES)
        .iter()
        .filter_map(|row| {
            let hits = index.search(&text(&row["query"]), 5);
            let found: Vec<&str> = hits.iter().map(|hit| tools[hit.entry].public_name.as_str()).collect();
            (found.first().copied() != row["first"].as_str()).then(|| format!("{row}\n    found {found:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_field_outweighs_all_lesser_ones_together() {
    let zebra = || "zebra".to_owned();
    // Each entry has the word in its field and as many other words elsewhere, so that all are equally long.
    let other = || "quagga".to_owned();
    let tools: Vec<Tool> = (0..6)
        .map(|place| {
            let pick = |field: usize| if field == place { zebra() } else { other() };
            Tool {
                public_name: String::new(),
                parameter_texts: vec![pick(5)],
                parameters: vec![pick(4)],
                description: pick(3),
                server: pick(2),
                title: pick(1),
                name: pick(0),
            }
        })
        .rev()
        .collect();
    assert_eq!(entries(&index(&tools).search("zebra", 9)), [5, 4, 3, 2, 1, 0]);

    let all_but_name = Tool {
        title: zebra(),
        server: zebra(),
        description: zebra(),
        parameters: vec![zebra()],
        parameter_texts: vec![zebra()],
        name: other(),
        public_name: String::new(),
    };
    let name_alone = Tool {
        title: other(),
        server: other(),
        description: other(),
        parameters: vec![other()],
        parameter_texts: vec![other()],
        name: zebra(),
        public_name: String::new(),
    };
    assert_eq!(entries(&index(&[all_but_name, name_alone]).search("a zebra", 9)), [1, 0]);
}

#[test]
fn exact_names_come_first() {
    let named = |public_name: &str, name: &str, description: &str| Tool {
        public_name: public_name.to_owned(),
        name: name.to_owned(),
        description: description.to_owned(),
        ..Tool::default()
    };
    let tools = [
        named("find find find", "find_find", "find"),
        named("mcp__a__find", "find", "Looks something up with many words that make the entry longer than the others."),
        named("mcp__b__find", "find", ""),
        named("find", "lookup", "the of"),
        named("same", "same", "find"),
    ];
    let index = index(&tools);
    let hits = index.search("find", 9);
    assert_eq!(entries(&hits), [3, 2, 1, 0, 4]);
    assert_eq!(hits.iter().map(|hit| hit.score.trunc()).collect::<Vec<_>>(), [2.0, 1.0, 1.0, 0.0, 0.0]);
    assert_eq!(index.search("same", 9).iter().map(|hit| hit.score.trunc()).collect::<Vec<_>>(), [2.0]);
    assert_eq!(entries(&index.search("find", 1)), [3]);
    assert_eq!(index.search(" same\n", 1), index.search("same", 1));
}

#[test]
fn equal_scores_keep_the_order_of_the_entries() {
    let tools = vec![described("zebra"); 1000];
    for limit in [0, 1, 10, 999, 1000, usize::MAX] {
        let expected: Vec<usize> = (0..limit.min(1000)).collect();
        assert_eq!(entries(&index(&tools).search("zebra", limit)), expected);
    }
}

#[test]
fn an_index_of_nothing_finds_nothing() {
    for index in [Index::default(), Index::build([]), Index::build([Entry::default(), Entry::default()])] {
        assert_eq!(index.search("zebra", 9), []);
        assert_eq!(index.search("", 9), []);
    }
}

#[test]
fn a_query_is_read_to_its_limits() {
    let zebra = index(&[described("zebra")]);
    let words = |count: usize| (0..count).map(|word| format!("w{word:b}x ")).collect::<Vec<_>>().concat();
    // The query itself is a word too long; each of the others is four: `w`, the number, `x`, the whole.
    assert_eq!(entries(&zebra.search(&format!("{}zebra", words(1)), 9)), [0]);
    assert_eq!(entries(&zebra.search(&format!("{}zebra", words(QUERY_TOKENS)), 9)), [] as [usize; 0]);
    assert_eq!(entries(&zebra.search(&format!("{}zebra", "the ".repeat(QUERY_CHARS / 4 - 2)), 9)), [0]);
    assert_eq!(entries(&zebra.search(&format!("{}zebra", "the ".repeat(QUERY_CHARS / 4)), 9)), [] as [usize; 0]);
    for million in ["zebra ".repeat(170_000), "é".repeat(1_000_000), "斑".repeat(1_000_000), "_A".repeat(500_000)] {
        assert!(zebra.search(&million, 9).len() <= 1);
    }
}

#[test]
fn an_entry_is_read_to_its_limits() {
    let words =
        |count: usize| (0..count).map(|word| format!("{} ", "ab".repeat(word + 1))).collect::<Vec<_>>().concat();
    let fits = described(&format!("{}zebra", "quagga ".repeat(FIELD_TOKENS - 1)));
    let does_not = described(&format!("{}zebra", "quagga ".repeat(FIELD_TOKENS)));
    assert_eq!(entries(&index(&[does_not, fits]).search("zebra", 9)), [1]);

    // Whatever the other fields hold, the parameters are not crowded out by a description alone.
    let parameter = |title: &str| Tool {
        title: title.to_owned(),
        description: "quagga ".repeat(1_000_000),
        parameters: vec!["zebra".to_owned()],
        ..Tool::default()
    };
    let full = parameter(&words(ENTRY_TOKENS));
    assert_eq!(entries(&index(&[full, parameter("")]).search("zebra", 9)), [1]);
}

#[test]
fn names_are_exact_to_their_limit() {
    let long = |length: usize| Tool { name: "_".repeat(length), ..Tool::default() };
    let index = index(&[long(NAME_BYTES), long(NAME_BYTES + 1)]);
    assert_eq!(entries(&index.search(&"_".repeat(NAME_BYTES), 9)), [0]);
    assert_eq!(entries(&index.search(&"_".repeat(NAME_BYTES + 1), 9)), [] as [usize; 0]);
}

/// Lists of real servers, from the folder that the variable names. They are other people's texts, so they are not kept
/// with the project.
#[test]
fn real_tools_are_found_by_their_names() {
    let Some(data) = std::env::var_os("TOOLWARDEN_SHARED_DATA") else {
        println!("skipped: TOOLWARDEN_SHARED_DATA does not name the folder that holds tool-lists");
        return;
    };
    let folder = Path::new(&data).join("tool-lists");
    let Ok(files) = fs::read_dir(&folder) else {
        println!("skipped: there is no {}", folder.display());
        return;
    };
    let mut all = Vec::new();
    for file in files {
        let file = file.expect("the folder can be read").path();
        let list: Value = serde_json::from_str(&fs::read_to_string(&file).expect("a list can be read"))
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let server = text(&list["server"]);
        let tools: Vec<Tool> =
            list["tools"].as_array().expect("tools is a list").iter().map(|tool| Tool::listed(&server, tool)).collect();
        let index = index(&tools);
        for (at, tool) in tools.iter().enumerate() {
            assert_eq!(entries(&index.search(&tool.name, 1)), [at], "{} of {}", tool.name, file.display());
            assert_eq!(entries(&index.search(&tool.public_name, 1)), [at]);
        }
        all.extend(tools);
    }
    // Several versions of a server stand beside each other here, so a name finds one of its bearers.
    let index = index(&all);
    for tool in &all {
        let first = index.search(&tool.name, 1).first().map(|hit| all[hit.entry].name.as_str());
        assert_eq!(first, Some(tool.name.as_str()));
    }
    println!("{} tools", all.len());
}

/// A model of the scoring, written from the rules: each word as often as its weight says, and the textbook's formula.
mod model {
    use super::Tool;

    fn words(tool: &Tool) -> Vec<String> {
        let mut fields = vec![
            (32, tool.name.clone()),
            (16, tool.title.clone()),
            (8, tool.server.clone()),
            (4, tool.description.clone()),
            (2, tool.parameters.join(" ")),
            (1, tool.parameter_texts.join(" ")),
        ];
        for (_, text) in &mut fields {
            *text = text.to_lowercase();
        }
        let mut words = Vec::new();
        for (weight, text) in fields {
            let mut once: Vec<&str> = text.split_whitespace().collect();
            once.sort_unstable();
            once.dedup();
            words.extend(once.iter().flat_map(|word| vec![(*word).to_owned(); weight]));
        }
        words
    }

    pub fn scores(tools: &[Tool], query: &[String]) -> Vec<f64> {
        let (k1, b) = (12.0, 0.3);
        let count = |number: usize| f64::from(u32::try_from(number).expect("a small number"));
        let documents: Vec<Vec<String>> = tools.iter().map(words).collect();
        let average = count(documents.iter().map(Vec::len).sum()) / count(documents.len());
        let mut query = query.to_vec();
        query.sort_unstable();
        query.dedup();
        let idf = |word: &String| {
            let with = count(documents.iter().filter(|document| document.contains(word)).count());
            if with == 0.0 { 0.0 } else { (1.0 + (count(documents.len()) - with + 0.5) / (with + 0.5)).ln() }
        };
        let most: f64 = query.iter().map(idf).sum();
        let score = |document: &Vec<String>| {
            let norm = k1 * (1.0 - b + b * count(document.len()) / average.max(1.0));
            let one = |word: &String| {
                let often = count(document.iter().filter(|other| *other == word).count());
                idf(word) * often / (often + norm)
            };
            query.iter().map(one).sum::<f64>() / most.max(f64::MIN_POSITIVE)
        };
        documents.iter().map(score).collect()
    }
}

/// Words that no stemmer changes.
fn plain_words(most: usize) -> impl Strategy<Value = Vec<String>> {
    vec(select(vec!["zebra", "Quagga", "okapi", "gnu", "eland", "tapir"]), 0..most)
        .prop_map(|words| words.into_iter().map(str::to_owned).collect())
}

fn plain_tool() -> impl Strategy<Value = Tool> {
    (plain_words(2), plain_words(3), plain_words(2), plain_words(20), plain_words(4), plain_words(9)).prop_map(
        |(name, title, server, description, parameters, parameter_texts)| Tool {
            public_name: String::new(),
            name: name.concat(),
            title: title.join(" "),
            server: server.concat(),
            description: description.join(" "),
            parameters,
            parameter_texts,
        },
    )
}

/// Words that meet, in several scripts, and the characters that join or part them.
fn phrase() -> impl Strategy<Value = String> {
    let pieces = [
        "create",
        "issue",
        "createIssue",
        "HTTPServer2",
        "files",
        "file",
        "the",
        "of",
        "_",
        "-",
        ".",
        "/",
        " ",
        "'s",
        "2",
        "URLs",
        "天气",
        "查询",
        "的",
        "翻訳",
        "ー",
        "é",
        "e\u{301}",
        "İ",
        "ß",
        "\u{0}",
        "\u{202e}",
        "🦀",
        "날씨",
        "x",
    ];
    vec(select(pieces.to_vec()), 0..8).prop_map(|pieces| pieces.join(""))
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![3 => phrase(), 1 => any::<String>()]
}

fn any_tool() -> impl Strategy<Value = Tool> {
    (any_text(), phrase(), any_text(), any_text(), any_text(), vec(any_text(), 0..3), vec(any_text(), 0..3)).prop_map(
        |(public_name, server, name, title, description, parameters, parameter_texts)| Tool {
            public_name,
            server,
            name,
            title,
            description,
            parameters,
            parameter_texts,
        },
    )
}

proptest! {
    #[test]
    fn scores_are_those_of_the_model(tools in vec(plain_tool(), 1..12), query in plain_words(6)) {
        let hits = index(&tools).search(&format!("the {}", query.join(" ")), usize::MAX);
        let mut scores = vec![0.0; tools.len()];
        for hit in hits {
            scores[hit.entry] = f64::from(hit.score);
        }
        let query: Vec<String> = query.iter().map(|word| word.to_lowercase()).collect();
        for (score, modelled) in scores.iter().zip(model::scores(&tools, &query)) {
            prop_assert!((score - modelled).abs() < 1e-5, "{score} is not {modelled}");
        }
    }

    #[test]
    fn any_query_gets_a_sound_answer(tools in vec(any_tool(), 0..12), query in any_text(), limit in 0_usize..15) {
        let index = index(&tools);
        let all = index.search(&query, usize::MAX);
        let hits = index.search(&query, limit);
        prop_assert_eq!(&hits[..], &all[..limit.min(all.len())]);
        prop_assert_eq!(all.iter().map(|hit| hit.entry).collect::<BTreeSet<_>>().len(), all.len());
        for hit in &all {
            prop_assert!(hit.entry < tools.len());
            prop_assert!(hit.score > 0.0 && hit.score < 3.0);
            let named = tools[hit.entry].name == query || tools[hit.entry].public_name == query;
            prop_assert!(!named || hit.score >= 1.0);
        }
        for pair in all.windows(2) {
            prop_assert!(pair[1].score.total_cmp(&pair[0].score).then(pair[0].entry.cmp(&pair[1].entry)).is_lt());
        }
    }

    #[test]
    fn an_exact_name_is_first(tools in vec(any_tool(), 1..12), at in any::<prop::sample::Index>()) {
        let index = index(&tools);
        let tool = at.get(&tools);
        for name in [&tool.name, &tool.public_name].into_iter().filter(|name| !name.is_empty()) {
            let first = index.search(name, 1).first().map(|hit| &tools[hit.entry]);
            prop_assert!(first.is_some_and(|first| first.name == *name || first.public_name == *name));
        }
    }

    #[test]
    fn the_order_of_the_entries_does_not_matter(
        (tools, order) in vec(any_tool(), 0..12).prop_flat_map(|tools| {
            let order: Vec<usize> = (0..tools.len()).collect();
            (Just(tools), Just(order).prop_shuffle())
        }),
        query in any_text(),
    ) {
        let shuffled: Vec<Tool> = order.iter().map(|at| tools[*at].clone()).collect();
        let hits = index(&tools).search(&query, usize::MAX);
        let mut back: Vec<Hit> = index(&shuffled)
            .search(&query, usize::MAX)
            .into_iter()
            .map(|hit| Hit { entry: order[hit.entry], ..hit })
            .collect();
        // Scores are the same to the last bit; equals stand in the order of the entries, whatever that is.
        back.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.entry.cmp(&b.entry)));
        prop_assert_eq!(hits, back);
    }

    #[test]
    fn an_entry_is_found_by_a_word_of_each_field(tool in any_tool(), others in vec(any_tool(), 0..5)) {
        let mut tools = others;
        for field in 0..6 {
            let mut tool = tool.clone();
            match field {
                0 => tool.name.insert_str(0, "zebra "),
                1 => tool.title.insert_str(0, "zebra "),
                2 => tool.server.insert_str(0, "zebra "),
                3 => tool.description.insert_str(0, "zebra "),
                4 => tool.parameters.push("zebra".to_owned()),
                _ => tool.parameter_texts.push("zebra".to_owned()),
            }
            tools.push(tool);
        }
        prop_assert_eq!(index(&tools).search("Zebras", usize::MAX).len(), 6);
    }
}
