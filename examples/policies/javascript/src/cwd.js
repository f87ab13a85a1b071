// Where a cwd lies. Stricter than the default module, never looser: "inside" is said of plain paths alone, whose every reading
// lies below a root. Whatever holds a character that some shell, scheme or system might read its own way is "invalid".

/** Segments that mean the same everywhere. No blank, no `~`, `$`, `%`, `:` or backslash, nothing beyond ASCII. */
const POSIX_SEGMENT = /^[A-Za-z0-9._-]*$/;
/** Windows shortens names that end with a dot, so a dot is no plain character there. */
const WINDOWS_SEGMENT = /^(\.|[A-Za-z0-9_-]*)$/;
/** Names that Windows takes for devices. */
const DEVICE = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])$/i;

const INSIDE = { class: 'inside', why: 'none' };
const outside = (why) => ({ class: 'outside', why });
const invalid = (why) => ({ class: 'invalid', why });

/** The names of an absolute path, or nothing where it is not absolute. A network path counts as none. */
function names(path, windows) {
  const slashed = windows ? path.replaceAll('\\', '/') : path;
  if (windows ? !/^[A-Za-z]:\//.test(slashed) : !/^\/(?!\/)/.test(slashed)) return undefined;
  return slashed.split('/').filter((name) => name !== '' && name !== '.');
}

/** Whether a path is a root or lies below it, by whole names, letter case included. */
function isBelow(path, root, windows) {
  const [below, above] = [names(path, windows), names(root, windows)];
  if (below === undefined || above === undefined || below.includes('..') || above.includes('..')) return false;
  return above.every((name, index) => below[index] === name);
}

/** What the text alone says. */
function byName({ kind, text }, { flavour, root, extraRoots }) {
  const windows = flavour === 'windows';
  const atRoot = names(root, windows) ? INSIDE : invalid('no-root');
  if (kind === 'absent') return atRoot;
  if (kind !== 'text') return invalid('not-a-string');
  if (text.includes('\0')) return invalid('nul');
  if (/^[ \t]*$/.test(text)) return atRoot;

  const slashed = windows ? text.replaceAll('\\', '/') : text;
  const drive = windows && /^[A-Za-z]:\//.test(slashed);
  const segments = (drive ? slashed.slice(2) : slashed).split('/');
  // `..` is plain enough to be told from what cannot be read at all.
  const plain = segments.every((s) => s === '..' || (windows ? WINDOWS_SEGMENT : POSIX_SEGMENT).test(s));
  if (!plain) return invalid('bad-character');
  if (windows && segments.some((s) => DEVICE.test(s))) return invalid('device-name');
  if (slashed.startsWith('//')) return outside('unc');
  if (segments.includes('..')) return outside('parent-escape');
  if (windows && slashed.startsWith('/')) return outside('drive-root');
  if (!drive && !slashed.startsWith('/')) return atRoot;
  return [root, ...extraRoots].some((r) => isBelow(text, r, windows)) ? INSIDE : outside('absolute');
}

/** The text, and then what the host found on the real file system: a link out of the root makes "inside" outside. */
export function classifyCwd(given, workspace, facts) {
  const judged = byName(given, workspace);
  if (judged.class !== 'inside' || facts.resolution === 'not-attempted') return judged;
  const windows = workspace.flavour === 'windows';
  const contained =
    facts.resolution === 'resolved' &&
    facts.paths.length > 0 &&
    facts.paths.every((path) => facts.roots.some((root) => isBelow(path, root, windows)));
  return contained ? judged : outside('link');
}
