// Patterns, words, and text that is safe to show.

/** Whether one of the patterns stands for this name: `*` for any characters, `?` for one, all else for itself. */
export const matchesAny = (patterns, name) => patterns.some((pattern) => pattern.test(name));

/** A pattern as a regular expression over whole names. */
export function glob(pattern) {
  const source = pattern
    .replace(/[\\^$.+()[\]{}|]/g, (special) => `\\${special}`)
    .replace(/\*+/g, '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 'su');
}

/** The first of the words that stands in a command by itself: `rm` stands in `sudo /bin/rm x`, not in `firm`. */
export const wordIn = (words, command) => words.find((word) => word.test(command))?.word;

/** A word as a regular expression that knows what it looks for. Letter case does not count: some file systems fold it. */
export function word(text) {
  const source = text.replace(/[\\^$.*+?()[\]{}|]/g, (special) => `\\${special}`);
  return Object.assign(new RegExp(`(?<![A-Za-z0-9_])${source}(?![A-Za-z0-9_])`, 'i'), { word: text });
}

/** Controls, bidi marks, and what is blank or invisible. By hand: the engine has no tables for `\p{...}`. */
const INVISIBLE = /[\0-\x1f\x7f-\xa0\xad\u061c\u115f\u1160\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\u{e0000}-\u{e0fff}]/gu;

/** At most 200 characters, in which nothing is invisible: controls, bidi marks and odd blanks are spelled out. */
export function clip(text) {
  const visible = text.slice(0, 400).replace(INVISIBLE, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
  const characters = [...visible];
  return characters.length > 200 ? characters.slice(0, 199).join('') + '…' : visible;
}
