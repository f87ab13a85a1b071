// Prints how far the token estimate of tool definitions is from real tokenizers, as a
// Markdown table, with the naive bytes/4 rule beside it.
//
//   npm install --no-save gpt-tokenizer@4.0.0
//   node token-error.mjs [--all] FOLDER...
//
// Each folder is one set: its *.json files hold a `tools` array each, as in the answer to an
// MCP `tools/list`. Definitions with the same text are counted once; with --all, every time.

import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { encode as o200k } from 'gpt-tokenizer/encoding/o200k_base';
import { encode as cl100k } from 'gpt-tokenizer/encoding/cl100k_base';

const TOKENIZERS = { o200k_base: o200k, cl100k_base: cl100k };
const RULES = { estimate: estimateTokens, 'bytes/4': (bytes) => Math.ceil(bytes.length / 4) };

/** The same rule as the Rust `estimate_tokens`: prices in eighths of a token. */
function estimateTokens(bytes) {
  let eighths = 0;
  let before = 'space';
  for (const byte of bytes) {
    const kind = kindOf(byte);
    const letter = kind === 'lower' || kind === 'upper';
    const afterLetter = before === 'lower' || before === 'upper';
    const camel = kind === 'upper' && before === 'lower';
    if (letter && (!afterLetter || camel)) eighths += 8; // a word starts
    else if (kind === 'punct' && before !== 'punct') eighths += 9; // a run of punctuation starts
    else if (kind === 'digit') eighths += 4;
    else if (kind === 'other') eighths += 2;
    before = kind;
  }
  return Math.ceil(Math.max(eighths, bytes.length) / 8);
}

function kindOf(byte) {
  if (byte >= 0x80) return 'other';
  if (byte >= 0x61 && byte <= 0x7a) return 'lower';
  if (byte >= 0x41 && byte <= 0x5a) return 'upper';
  if (byte >= 0x30 && byte <= 0x39) return 'digit';
  return byte > 0x20 && byte < 0x7f ? 'punct' : 'space';
}

function readTexts(folder) {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json')).sort();
  return files.flatMap((name) =>
    JSON.parse(readFileSync(join(folder, name), 'utf8')).tools.map((tool) => JSON.stringify(tool)),
  );
}

/** Errors in percent of `truth`, both lists of token counts, one entry per tool. */
function errors(guesses, truth) {
  const sum = (list) => list.reduce((a, b) => a + b, 0);
  const signed = guesses.map((guess, i) => (guess / truth[i] - 1) * 100);
  const absolute = signed.map(Math.abs).sort((a, b) => a - b);
  return {
    mean: sum(signed) / signed.length,
    meanAbsolute: sum(absolute) / absolute.length,
    p95: absolute[Math.ceil(absolute.length * 0.95) - 1],
    worst: absolute.at(-1),
    total: (sum(guesses) / sum(truth) - 1) * 100,
  };
}

const args = process.argv.slice(2);
const folders = args.filter((arg) => arg !== '--all');
if (folders.length === 0) {
  console.error('usage: node token-error.mjs [--all] FOLDER...');
  process.exit(2);
}

const signed = (percent) => (percent < 0 ? '' : '+') + percent.toFixed(1);
console.log('| set | tools | tokenizer | rule | mean error % | mean abs. % | p95 abs. % | worst abs. % | total % |');
console.log('|---|--:|---|---|--:|--:|--:|--:|--:|');
for (const folder of folders) {
  const read = readTexts(folder);
  const texts = args.includes('--all') ? read : [...new Set(read)];
  if (texts.length === 0) continue;
  const encoded = texts.map((text) => Buffer.from(text, 'utf8'));
  for (const [tokenizer, encode] of Object.entries(TOKENIZERS)) {
    const truth = texts.map((text) => encode(text, { disallowedSpecial: new Set() }).length);
    for (const [rule, guess] of Object.entries(RULES)) {
      const e = errors(encoded.map(guess), truth);
      const cells = [basename(resolve(folder)), texts.length, tokenizer, rule, signed(e.mean)];
      cells.push(e.meanAbsolute.toFixed(1), e.p95.toFixed(1), e.worst.toFixed(1), signed(e.total));
      console.log(`| ${cells.join(' | ')} |`);
    }
  }
}
