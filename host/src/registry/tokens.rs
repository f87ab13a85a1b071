//! How many tokens a definition costs.

/// Estimates how many LLM tokens a tool definition costs, from its compact JSON text.
///
/// No tokenizer and no vocabulary: the text is cut roughly where GPT-style pre-tokenizers cut it,
/// and every piece has a fixed price, held in eighths of a token:
///
/// | piece of text                                                            | tokens |
/// |--------------------------------------------------------------------------|--------|
/// | word: a run of ASCII letters; `camelCase` is two (`lC` starts the second) | 1      |
/// | run of ASCII punctuation, whatever its length: `":{"`, `_`, `\`           | 9/8    |
/// | ASCII digit                                                              | 1/2    |
/// | byte of a non-ASCII character (3/4 for a Chinese character)              | 1/4    |
/// | space or control character                                               | 0      |
///
/// The sum is rounded up, and is never below one token per 8 bytes, so that one endless run does
/// not count as nothing (real definitions hold at most 5.5 bytes per token).
///
/// Unit: tokens of `o200k_base`, of the definition alone, without what a host wraps around it.
/// Error on 496 distinct English definitions: +0.3 % in total; per tool +1.3 % on average, 3.0 %
/// mean absolute, 7.7 % at the 95th percentile, 17.5 % at worst. On 24 Chinese ones: +1.2 % in
/// total; +1.4 %, 3.9 %, 7.1 %, 8.7 %. Totals of five other tokenizers: from 6 % under to 3 % over
/// (English), from 11 % under to 12 % over (Chinese). Opaque text (base64) is far underestimated.
///
///
/// ```
/// use toolwarden::registry::estimate_tokens;
///
/// assert_eq!(estimate_tokens(r#"{"name":"echo"}"#), 6);
/// ```
///
/// Deterministic: one pass over the bytes, integers only, no allocation, about 0.35 ns per byte.
#[must_use]
pub fn estimate_tokens(compact_json: &str) -> u32 {
    const BLOCK: usize = 16; // a block's eighths fit a u8 (16 * 9 < 256), so the loop vectorizes
    /// The price, in eighths of a token, of byte `c` coming after byte `p`.
    #[inline]
    fn price(p: u8, c: u8) -> u8 {
        let is = |b: u8, first: u8, count: u8| b.wrapping_sub(first) < count;
        let letter = |b: u8| is(b | 0x20, b'a', 26);
        let digit = |b: u8| is(b, b'0', 10);
        let punct = |b: u8| is(b, b'!', 94) & !letter(b) & !digit(b);
        let camel = is(p, b'a', 26) & is(c, b'A', 26);
        let cost = |when: bool, eighths: u8| if when { eighths } else { 0 };
        cost((letter(c) & !letter(p)) | camel, 8)
            + cost(punct(c) & !punct(p), 9)
            + cost(digit(c), 4)
            + cost(!c.is_ascii(), 2)
    }
    let bytes = compact_json.as_bytes();
    let Some((&first, after)) = bytes.split_first() else {
        return 0;
    };
    let mut eighths = u64::from(price(b' ', first));
    let mut before = bytes.chunks_exact(BLOCK);
    let mut blocks = after.chunks_exact(BLOCK);
    for (previous, block) in before.by_ref().zip(blocks.by_ref()) {
        let prices = previous.iter().zip(block).map(|(&p, &c)| price(p, c));
        eighths += u64::from(prices.sum::<u8>());
    }
    let done = after.len() - blocks.remainder().len();
    for (&p, &c) in bytes.iter().skip(done).zip(blocks.remainder()) {
        eighths += u64::from(price(p, c));
    }
    let tokens = eighths.max(bytes.len() as u64).div_ceil(8);
    u32::try_from(tokens).unwrap_or(u32::MAX)
}
