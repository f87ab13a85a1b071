//! Text to words: how a name, a sentence and a query are cut up and brought to one form.
//!
//! | text | words |
//! |---|---|
//! | `createIssue`, `create_issue` | `creat`, `issu`, and the unsplit `createissu`, `create_issue` |
//! | `HTTPServer2` | `http`, `server`, `2`, `httpserver2` |
//! | `listing the user's URLs` | `list`, `user`, `url` |
//! | `查询天气` | `查`, `询`, `查询`, `天`, `询天`, `气`, `天气` |
//!
//! Letters are lower-cased one by one and nothing else is normalised: `é` written as one character and as two are
//! different words, and so are `Ａ` and `A`.

use std::hash::{DefaultHasher, Hasher as _};
use std::ops::ControlFlow;

use frostem::{Algorithm, Stemmer};

/// Characters of one word that count, unit: Unicode scalar values. A longer word is cut to this, in the entries and in
/// the query alike, so that it still finds itself. Source: ours; longer names exist, but their
/// parts are words of their own.
pub const WORD_CHARS: usize = 64;

/// English words that say nothing about a tool, sorted. Short on purpose: `get`, `list`, `all` and `not` tell tools
/// apart, and what is merely frequent weighs little anyway.
const STOP_WORDS: [&str; 52] = [
    "a", "an", "and", "any", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "has", "have", "how",
    "i", "if", "in", "into", "is", "it", "its", "me", "my", "of", "on", "or", "our", "please", "should", "so", "that",
    "the", "their", "these", "this", "those", "to", "want", "was", "we", "what", "when", "where", "which", "will",
    "with", "would", "you", "your",
];

/// Chinese and Japanese characters that alone say nothing about a tool, sorted.
const STOP_CHARACTERS: [char; 24] = [
    'か', 'が', 'で', 'と', 'に', 'の', 'は', 'へ', 'も', 'や', 'を', '一', '与', '个', '了', '及', '和', '在', '我',
    '或', '把', '是', '的', '请',
];

/// What an apostrophe leaves behind: `user's`, `don't`.
const CONTRACTION_ENDS: [&str; 7] = ["s", "t", "d", "m", "re", "ve", "ll"];

/// A word, as the number that the index holds instead of its text. 64 bits: among a million words the chance that any
/// two share a number is below one in ten million, and all that would come of it is a hit too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Token(u64);

impl Token {
    /// The token of a word in its [normal form](Tokenizer). The same for every run of one build of the program.
    pub(super) fn of(word: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        hasher.write(word.as_bytes());
        Self(hasher.finish())
    }
}

/// Cuts text into words and hands each on in its normal form: lower case, English stem.
///
/// The receiver says when it has enough, so the work ends with the first word too many, and not with the text.
pub(super) struct Tokenizer {
    stemmer: Stemmer,
    /// The word at hand; kept so that a word costs no allocation.
    word: String,
}

impl Tokenizer {
    pub(super) fn new() -> Self {
        Self { stemmer: Stemmer::new(Algorithm::English), word: String::new() }
    }

    /// The words of a sentence. An identifier inside it gives its parts and itself.
    pub(super) fn text(&mut self, text: &str, emit: &mut impl FnMut(&str) -> ControlFlow<()>) -> ControlFlow<()> {
        let mut rest = text;
        let mut gap = "";
        while !rest.is_empty() {
            let (chunk, after) = leading(rest, |c| Class::of(c) == Class::Word);
            if !chunk.is_empty() {
                if !(is_apostrophe(gap) && CONTRACTION_ENDS.contains(&chunk)) {
                    self.chunk(chunk.trim_matches(is_joiner), emit)?;
                }
                (gap, rest) = ("", after);
                continue;
            }
            let (run, after) = leading(rest, |c| Class::of(c) == Class::Ideograph);
            self.ideographs(run, emit)?;
            (gap, rest) = leading(after, |c| Class::of(c) == Class::Gap);
            if !run.is_empty() {
                gap = "";
            }
        }
        ControlFlow::Continue(())
    }

    /// The words of a name, and the name itself where it is no longer than a word.
    pub(super) fn name(&mut self, name: &str, emit: &mut impl FnMut(&str) -> ControlFlow<()>) -> ControlFlow<()> {
        let name = name.trim();
        if name.chars().nth(WORD_CHARS).is_none() {
            self.word(name, emit)?;
        }
        self.text(name, emit)
    }

    /// The parts of an identifier, and the identifier itself where it has more than one.
    fn chunk(&mut self, chunk: &str, emit: &mut impl FnMut(&str) -> ControlFlow<()>) -> ControlFlow<()> {
        let mut parts = 0_usize;
        for part in chunk.split(is_joiner).flat_map(|rest| Parts { rest }) {
            parts += 1;
            self.word(part, emit)?;
        }
        if parts > 1 {
            self.word(chunk, emit)?;
        }
        ControlFlow::Continue(())
    }

    /// One word in its normal form, unless it is a stop word.
    fn word(&mut self, text: &str, emit: &mut impl FnMut(&str) -> ControlFlow<()>) -> ControlFlow<()> {
        self.word.clear();
        self.word.extend(text.chars().flat_map(char::to_lowercase).take(WORD_CHARS));
        let word = self.word.as_str();
        if word.is_empty() || is_stop_word(word) {
            ControlFlow::Continue(())
        } else if let Some(one) = acronym_of_plural(word) {
            emit(one)
        } else if word.bytes().all(|b| b.is_ascii_lowercase()) {
            emit(&self.stemmer.stem(word))
        } else {
            emit(word)
        }
    }

    /// A run of characters of a script without spaces: each one, and each two neighbours.
    fn ideographs(&mut self, run: &str, emit: &mut impl FnMut(&str) -> ControlFlow<()>) -> ControlFlow<()> {
        let mut last = None;
        for c in run.chars() {
            if !is_stop_character(c) {
                self.word.clear();
                self.word.push(c);
                emit(&self.word)?;
            }
            if let Some(last) = last.replace(c)
                && !(is_stop_character(last) && is_stop_character(c))
            {
                self.word.clear();
                self.word.extend([last, c]);
                emit(&self.word)?;
            }
        }
        ControlFlow::Continue(())
    }
}

/// What a character is to the one who cuts a text up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// A letter or digit of a script with spaces, or what [joins](is_joiner) the parts of an identifier.
    Word,
    /// A character of a script without spaces. Korean has spaces, but glues its particles to the word.
    Ideograph,
    Gap,
}

impl Class {
    fn of(c: char) -> Self {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' => Self::Word,
            _ if is_joiner(c) => Self::Word,
            '\0'..='\x7f' => Self::Gap,
            // 々〆〇 | Hiragana | Katakana | its extensions | Han: extension A, main, compatibility, planes 2 and 3
            '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}'
            | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{3ffff}'
            // Half-width Katakana | Hangul syllables
            | '\u{ff66}'..='\u{ff9f}' | '\u{ac00}'..='\u{d7a3}' => Self::Ideograph,
            _ if c.is_alphanumeric() => Self::Word,
            _ => Self::Gap,
        }
    }
}

/// The parts of a piece of an identifier without joiners: `HTTPServer2` is `HTTP`, `Server`, `2`.
struct Parts<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Parts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let (part, rest) = self.rest.split_at_checked(first_part(self.rest))?;
        self.rest = rest;
        (!part.is_empty()).then_some(part)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Upper,
    /// Lower case, or of a script without case.
    Lower,
    Digit,
}

impl Case {
    fn of(c: char) -> Self {
        if c.is_uppercase() {
            Self::Upper
        } else if c.is_numeric() {
            Self::Digit
        } else {
            Self::Lower
        }
    }
}

/// The length in bytes of the first part.
fn first_part(text: &str) -> usize {
    let mut chars = text.char_indices();
    let mut last = chars.next().map(|(_, c)| Case::of(c));
    while let Some((at, c)) = chars.next() {
        let this = Case::of(c);
        let ends = match (last, this) {
            (Some(Case::Digit), Case::Digit) => false,
            (Some(Case::Digit), _) | (_, Case::Digit) | (Some(Case::Lower), Case::Upper) => true,
            (Some(Case::Upper), Case::Upper) => opens_word(chars.as_str()),
            _ => false,
        };
        if ends {
            return at;
        }
        last = Some(this);
    }
    text.len()
}

/// Whether a capital among capitals is the first of a word, going by what follows it: the `S` of `HTTPServer` is, the
/// `L` of `URLs` is not.
fn opens_word(after: &str) -> bool {
    let mut after = after.chars();
    match (after.next(), after.next()) {
        (Some('s'), next) => next.is_some_and(|c| Case::of(c) == Case::Lower),
        (Some(c), _) => Case::of(c) == Case::Lower,
        (None, _) => false,
    }
}

/// The longest start of a text whose characters all fit, and the rest.
fn leading(text: &str, fits: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !fits(c)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

const fn is_joiner(c: char) -> bool {
    matches!(c, '_' | '-' | '.' | '/')
}

fn is_apostrophe(gap: &str) -> bool {
    matches!(gap, "'" | "\u{2019}")
}

/// `pdf` of `pdfs`: the stemmer leaves words without a vowel as they are, and those are the acronyms.
fn acronym_of_plural(word: &str) -> Option<&str> {
    let one = word.strip_suffix('s').filter(|one| one.len() > 1 && !one.ends_with('s'))?;
    one.bytes().all(|b| b.is_ascii_lowercase() && !b"aeiouy".contains(&b)).then_some(one)
}

fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

fn is_stop_character(c: char) -> bool {
    STOP_CHARACTERS.binary_search(&c).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        let _ = Tokenizer::new().text(text, &mut |word| {
            words.push(word.to_owned());
            ControlFlow::Continue(())
        });
        words
    }

    #[test]
    fn stop_lists_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
        assert!(STOP_CHARACTERS.is_sorted());
    }

    #[test]
    fn words_of_a_text() {
        let rows: [(&str, &[&str]); 29] = [
            ("", &[]),
            ("createIssue", &["creat", "issu", "createissu"]),
            ("create_issue", &["creat", "issu", "create_issue"]),
            ("create-issue", &["creat", "issu", "create-issue"]),
            ("issues.create", &["issu", "creat", "issues.create"]),
            ("pulls/list", &["pull", "list", "pulls/list"]),
            ("HTTPServer2", &["http", "server", "2", "httpserver2"]),
            ("base64Encode", &["base", "64", "encod", "base64encode"]),
            ("getURLsForIDs", &["get", "url", "id", "geturlsforid"]),
            ("PRs", &["pr"]),
            ("pdfs css k8s", &["pdf", "css", "k", "8", "s", "k8s"]),
            ("getPRStatus", &["get", "pr", "status", "getprstatus"]),
            ("ABC", &["abc"]),
            ("__init__", &["init"]),
            ("-._/", &[]),
            ("a-_-b1", &["b", "1", "a-_-b1"]),
            ("Listing the user's files.", &["list", "user", "file"]),
            ("don\u{2019}t 's", &["don", "s"]),
            ("the and of", &[]),
            ("ÉcoleÉlémentaire", &["école", "élémentaire", "écoleélémentaire"]),
            ("ΌΣΟΣ", &["όσοσ"]),
            ("İ", &["i\u{307}"]),
            ("查询天气", &["查", "询", "查询", "天", "询天", "气", "天气"]),
            ("我的", &[]),
            ("我的书", &["书", "的书"]),
            ("GitHub仓库", &["git", "hub", "github", "仓", "库", "仓库"]),
            ("査定・カード", &["査", "定", "査定", "カ", "ー", "カー", "ド", "ード"]),
            ("날씨를", &["날", "씨", "날씨", "를", "씨를"]),
            ("e\u{301}té 🦀", &["e", "té"]),
        ];
        for (input, words) in rows {
            assert_eq!(text(input), words, "words of {input:?}");
        }
    }

    #[test]
    fn a_name_is_a_word_too() {
        let mut words = Vec::new();
        let _ = Tokenizer::new().name(" Wetter Bericht! ", &mut |word| {
            words.push(word.to_owned());
            ControlFlow::Continue(())
        });
        assert_eq!(words, ["wetter bericht!", "wetter", "bericht"]);
    }

    #[test]
    fn a_long_word_is_cut() {
        assert_eq!(text(&"é".repeat(1_000_000)), ["é".repeat(WORD_CHARS)]);
        assert_eq!(text(&"x9".repeat(40)).last().map(|whole| whole.chars().count()), Some(WORD_CHARS));
    }

    #[test]
    fn the_receiver_ends_the_work() {
        let mut seen = 0;
        let flow = Tokenizer::new().text(&"one two ".repeat(1_000), &mut |_| {
            seen += 1;
            if seen < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        assert_eq!((flow, seen), (ControlFlow::Break(()), 3));
    }

    /// The stemmer is generated code that slices; it is given lower-case ASCII alone. Every such word of up to four
    /// letters, with every ending that its rules name, and no panic.
    #[test]
    fn no_word_upsets_the_stemmer() {
        let endings = [
            "", "s", "ss", "us", "ies", "ied", "eed", "eedly", "ed", "edly", "ing", "ingly", "y", "tional", "enci",
            "anci", "abli", "entli", "izer", "ization", "ational", "ation", "ator", "alism", "aliti", "alli",
            "fulness", "ousli", "ousness", "iveness", "iviti", "biliti", "bli", "ogi", "fulli", "lessli", "li",
            "alize", "icate", "iciti", "ical", "ful", "ness", "ative", "al", "ance", "ence", "er", "ic", "able",
            "ible", "ant", "ement", "ment", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "sion", "tion", "e", "l",
        ];
        let stemmer = Stemmer::new(Algorithm::English);
        let mut starts = vec![String::new()];
        for _ in 0..2 {
            let longer: Vec<String> =
                starts.iter().flat_map(|start| ('a'..='z').map(move |c| format!("{start}{c}"))).collect();
            starts.extend(longer);
        }
        for word in starts.iter().flat_map(|start| endings.iter().map(move |end| format!("{start}{end}"))) {
            assert!(stemmer.stem(&word).len() <= word.len() + 1, "stem of {word}");
        }
    }
}
