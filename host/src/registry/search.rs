//! Which tools a few words mean: an index over tool definitions, ranked by BM25.
//!
//! # How an entry is scored
//!
//! Each distinct word of an entry has a weight: the sum of the weights of the fields it stands in.
//!
//! | field | weight |
//! |---|---|
//! | name, public name | 32 |
//! | title | 16 |
//! | server | 8 |
//! | description | 4 |
//! | parameter names | 2 |
//! | parameter texts | 1 |
//!
//! They are powers of two so that a word in one field outweighs the same word in all lesser fields together. A field
//! counts a word once: a description that says `email` a hundred times is not a better mail tool. To BM25 the weight is
//! how often the word occurs, and the sum of the weights how long the entry is; it comes to the same as writing each
//! word that many times and scoring the text.
//!
//! The classic constant `k1` = 1.2 is made for words that occur a few times. With it, 32 and 4 would both count as
//! "very often", and a name hardly more than a description; here `k1` lies amid the weights (see [`K1`]).
//!
//! # Why no crate does the scoring
//!
//! The index is one sorted list of (word, entry, weight), and a search adds up the few ranges that its words have. So
//! nothing depends on the order of a hash table, an entry costs 16 bytes a word, and a query as bad as can be costs one
//! addition for each of its words and each entry. The crate `bm25` 2.3, given the same words and weights, ranked
//! 100 000 entries alike, but took 450 ms for a query of 40 common words where this takes 7 ms; it stands on `fxhash`,
//! which nobody maintains (RUSTSEC-2025-0057).

mod tokens;

use std::cmp::Ordering;
use std::ops::ControlFlow;

use tokens::{Token, Tokenizer};

pub use tokens::WORD_CHARS;

/// Words read of one entry at most, all fields together, unit: words (stop words not counted; in Chinese and Japanese
/// every character is about two). Names are read first, then server, title, description, parameter names and their
/// texts. A word costs 16 bytes, so 100 000 entries that are all full take 410 MB, and 100 000 of the usual size 100.
/// Source: ours; of 465 tools of public servers, 6 have more.
pub const ENTRY_TOKENS: usize = 256;

/// Words read of one field of an entry at most, unit: words. So a description without end leaves room for the
/// parameters. Source: ours.
pub const FIELD_TOKENS: usize = 160;

/// Different words of a query that are looked up, unit: words. The first ones count, the rest is not read. Source:
/// ours; thirty Chinese characters, or a paragraph of English.
pub const QUERY_TOKENS: usize = 64;

/// Characters of a query that are read, unit: Unicode scalar values. Source: ours; more than [`QUERY_TOKENS`] words of
/// any language, so that a query of stop words alone ends too.
pub const QUERY_CHARS: usize = 4096;

/// The longest name that is found by an exact match, unit: bytes of UTF-8. A longer one is found by its words. The
/// index keeps a copy of both names of an entry up to this. Source: ours; MCP (2025-11-25) wants names of 128
/// characters at most.
pub const NAME_BYTES: usize = 1024;

/// The length of an entry, the sum of its words' weights, fits a `u16`.
const _: () = assert!(ENTRY_TOKENS * 63 <= u16::MAX as usize);

/// At what weight a word counts half of what it can count at most, in an entry of average length. Between the weight of
/// a server and that of a title.
const K1: f32 = 12.0;

/// How much of an entry's length counts against it: 0 nothing, 1 all. Low, as a long description is no fault.
const B: f32 = 0.3;

/// What an exact match of the raw name adds to a score that is below 1.
const RAW_NAME: f32 = 1.0;

/// What an exact match of the public name adds. Public names are unique, raw names are not.
const PUBLIC_NAME: f32 = 2.0;

/// What is searched of one tool. Every field may be empty.
///
/// ```
/// # use toolwarden::registry::Entry;
/// let entry = Entry { public_name: "mcp__clock__now", server: "clock", name: "now", ..Entry::default() };
/// ```
#[derive(Clone, Debug, Default)]
pub struct Entry<'a> {
    /// The name that the model calls, unique in the registry, as `mcp__github__create_issue`.
    pub public_name: &'a str,
    /// The name of the server, or empty for a built-in tool.
    pub server: &'a str,
    /// The name that the server gave, as `create_issue`.
    pub name: &'a str,
    /// The title for people.
    pub title: &'a str,
    /// The description for the model.
    pub description: &'a str,
    /// The names of the parameters.
    pub parameters: Vec<&'a str>,
    /// The descriptions of the parameters.
    pub parameter_texts: Vec<&'a str>,
}

/// A tool that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Which entry: its position in what the index was built from, from 0.
    pub entry: usize,
    /// How well it answers the query, without a unit; only scores of one search compare. Between 0 and 1: the share of
    /// what an entry could score at most that has each query word known to the index. 1 more where the query is the
    /// raw name, 2 more where it is the public name. Never negative, infinite or NaN.
    pub score: f32,
}

/// A search index over tool definitions. It is built once for a registry and never changes; searching needs no lock.
///
/// It knows the entries it was built from and no others: a hidden tool is left out of those, and so is found by nothing
/// and changes no score.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// Sorted by word, then entry.
    postings: Vec<Posting>,
    /// Of each entry: `K1`, scaled by its length.
    norms: Vec<f32>,
    /// Sorted by name, then entry.
    names: Vec<Name>,
}

/// That a word stands in an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Posting {
    token: Token,
    entry: u32,
    weight: u8,
}

/// An exact name of an entry.
#[derive(Clone, Debug)]
struct Name {
    text: Box<str>,
    entry: u32,
    bonus: f32,
}

impl Index {
    /// An index over the entries, whose positions are what [`Hit::entry`] gives back. Reads at most [`ENTRY_TOKENS`]
    /// words of each. Entries past the first 4 294 967 295 are not searched.
    #[must_use]
    pub fn build<'a>(entries: impl IntoIterator<Item = Entry<'a>>) -> Self {
        let mut reader = Reader::new();
        let mut postings = Vec::new();
        let mut names = Vec::new();
        let mut lengths = Vec::new();
        for (entry, number) in entries.into_iter().zip(0..u32::MAX) {
            let before = postings.len();
            postings.extend(reader.read(&entry).map(|(token, weight)| Posting { token, entry: number, weight }));
            let words = postings.get(before..).unwrap_or_default();
            lengths.push(words.iter().map(|posting| u16::from(posting.weight)).sum::<u16>());
            let raw_name = if entry.name == entry.public_name { "" } else { entry.name };
            for (name, bonus) in [(entry.public_name, PUBLIC_NAME), (raw_name, RAW_NAME)] {
                if !name.is_empty() && name.len() <= NAME_BYTES {
                    names.push(Name { text: name.into(), entry: number, bonus });
                }
            }
        }
        postings.sort_unstable();
        postings.shrink_to_fit();
        names.sort_unstable_by(|a: &Name, b: &Name| a.text.cmp(&b.text).then(a.entry.cmp(&b.entry)));
        names.shrink_to_fit();
        Self { postings, norms: norms(&lengths), names }
    }

    /// The entries that have a word of the query or its very name, best first, at most `limit` of them.
    ///
    /// Equal scores come in the order of the entries, so the answer depends on the entries and the query alone. An
    /// empty query and one of stop words alone give nothing, unless that is a tool's name. White space around the query
    /// does not count. The time is bounded whatever the query is: [`QUERY_CHARS`] are read, [`QUERY_TOKENS`] words
    /// looked up.
    #[must_use]
    pub fn search(&self, query: &str, limit: usize) -> Vec<Hit> {
        let mut scores = self.bm25(&query_tokens(query));
        for name in self.named(query) {
            if let Some(score) = scores.get_mut(at(name.entry)) {
                *score += name.bonus;
            }
        }
        let mut hits: Vec<Hit> = scores
            .into_iter()
            .enumerate()
            .filter_map(|(entry, score)| (score > 0.0).then_some(Hit { entry, score }))
            .collect();
        if limit < hits.len() {
            hits.select_nth_unstable_by(limit, Hit::rank);
            hits.truncate(limit);
        }
        hits.sort_unstable_by(Hit::rank);
        hits
    }

    /// The score of each entry, from 0 to less than 1.
    fn bm25(&self, query: &[Token]) -> Vec<f32> {
        let mut scores = vec![0.0_f32; self.norms.len()];
        let mut most = 0.0_f32;
        for token in query {
            let postings = self.postings_of(*token);
            if postings.is_empty() {
                continue;
            }
            let idf = idf(postings.len(), self.norms.len());
            most += idf;
            for posting in postings {
                let place = at(posting.entry);
                if let (Some(score), Some(norm)) = (scores.get_mut(place), self.norms.get(place)) {
                    let weight = f32::from(posting.weight);
                    *score += idf * weight / (weight + norm);
                }
            }
        }
        if most > 0.0 {
            for score in &mut scores {
                *score /= most;
            }
        }
        scores
    }

    fn postings_of(&self, token: Token) -> &[Posting] {
        let from = self.postings.partition_point(|posting| posting.token < token);
        let rest = self.postings.get(from..).unwrap_or_default();
        let length = rest.partition_point(|posting| posting.token == token);
        rest.get(..length).unwrap_or_default()
    }

    /// The names that the query is, an entry at most once. White space around a name counts where some name has it.
    fn named(&self, query: &str) -> &[Name] {
        let exactly = |query: &str| {
            let from = self.names.partition_point(|name| *name.text < *query);
            let rest = self.names.get(from..).unwrap_or_default();
            let length = rest.partition_point(|name| *name.text == *query);
            rest.get(..length).unwrap_or_default()
        };
        let names = exactly(query);
        if names.is_empty() { exactly(query.trim()) } else { names }
    }
}

impl Hit {
    /// Best first; among equals the earlier entry.
    fn rank(a: &Self, b: &Self) -> Ordering {
        b.score.total_cmp(&a.score).then(a.entry.cmp(&b.entry))
    }
}

/// A field of an entry. A bit each, so that the bits of the fields that hold a word are the word's weight.
#[derive(Clone, Copy)]
enum Field {
    ParameterText = 1,
    Parameter = 2,
    Description = 4,
    Server = 8,
    Title = 16,
    Name = 32,
    PublicName = 64,
}

/// The weight of a word in these fields. A public name usually repeats the server's; those words stay the server's, or
/// each of its tools would seem to be named after it.
const fn weight(fields: u8) -> u8 {
    let public = Field::PublicName as u8;
    if fields & public == 0 {
        fields
    } else if fields & Field::Server as u8 == 0 {
        fields & !public | Field::Name as u8
    } else {
        fields & !public
    }
}

/// Reads entries, one after the other.
struct Reader {
    tokenizer: Tokenizer,
    /// The words of the entry at hand, each with the fields it stands in.
    words: Vec<(Token, u8)>,
}

impl Reader {
    fn new() -> Self {
        Self { tokenizer: Tokenizer::new(), words: Vec::with_capacity(ENTRY_TOKENS) }
    }

    /// The words of an entry, each once, with its weight.
    fn read(&mut self, entry: &Entry<'_>) -> impl Iterator<Item = (Token, u8)> {
        self.words.clear();
        self.names(Field::Name, [entry.name]);
        self.names(Field::PublicName, [entry.public_name]);
        self.names(Field::Server, [entry.server]);
        self.texts(Field::Title, [entry.title]);
        self.texts(Field::Description, [entry.description]);
        self.names(Field::Parameter, entry.parameters.iter().copied());
        self.texts(Field::ParameterText, entry.parameter_texts.iter().copied());

        self.words.sort_unstable();
        self.words.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 |= next.1;
            }
            same
        });
        self.words.iter().map(|(token, fields)| (*token, weight(*fields)))
    }

    fn names<'a>(&mut self, field: Field, names: impl IntoIterator<Item = &'a str>) {
        let end = self.end();
        for name in names {
            let words = &mut self.words;
            let flow = self.tokenizer.name(name, &mut |word| push(words, word, field, end));
            if flow.is_break() {
                break;
            }
        }
    }

    fn texts<'a>(&mut self, field: Field, texts: impl IntoIterator<Item = &'a str>) {
        let end = self.end();
        for text in texts {
            let words = &mut self.words;
            let flow = self.tokenizer.text(text, &mut |word| push(words, word, field, end));
            if flow.is_break() {
                break;
            }
        }
    }

    /// How many words there may be once the next field is read.
    fn end(&self) -> usize {
        ENTRY_TOKENS.min(self.words.len() + FIELD_TOKENS)
    }
}

fn push(words: &mut Vec<(Token, u8)>, word: &str, field: Field, end: usize) -> ControlFlow<()> {
    if words.len() >= end {
        return ControlFlow::Break(());
    }
    words.push((Token::of(word), field as u8));
    ControlFlow::Continue(())
}

/// The different words of a query, as they come, and the query as a name.
fn query_tokens(query: &str) -> Vec<Token> {
    let query = query.char_indices().nth(QUERY_CHARS).and_then(|(end, _)| query.get(..end)).unwrap_or(query);
    let mut tokens = Vec::new();
    let _ = Tokenizer::new().name(query, &mut |word| {
        let token = Token::of(word);
        if !tokens.contains(&token) {
            tokens.push(token);
        }
        if tokens.len() < QUERY_TOKENS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    tokens
}

/// How telling a word is that stands in `with` of `all` entries. Above 0, also for a word that stands in every one.
fn idf(with: usize, all: usize) -> f32 {
    let (with, all) = (real(with), real(all));
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
}

/// Of each entry, what its words' weights are held against.
fn norms(lengths: &[u16]) -> Vec<f32> {
    let total: usize = lengths.iter().copied().map(usize::from).sum();
    let average = (real(total) / real(lengths.len())).max(1.0);
    lengths.iter().map(|length| K1 * (1.0 - B + B * f32::from(*length) / average)).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a score needs no more than 24 bits of a count")]
const fn real(count: usize) -> f32 {
    count as f32
}

/// An entry's number as a place in memory; the numbers come from such places.
const fn at(entry: u32) -> usize {
    entry as usize
}
