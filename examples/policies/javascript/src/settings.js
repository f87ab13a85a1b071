// Settings: what `[module.settings]` may hold, and what is wrong with it, to the key.

import { glob, word } from './text.js';

const listOf = (description) => ({ type: 'array', items: { type: 'string', minLength: 1, maxLength: 200 }, description });

const LISTS = {
  deny: listOf('Patterns of public tool names that are refused; * stands for any characters, ? for one'),
  ask: listOf('Patterns of public tool names that a person is asked about'),
  askWords: listOf('Words; a shell command that holds one is asked about'),
};

/** JSON Schema of the settings. */
export const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { module: { properties: { settings: { properties: LISTS, additionalProperties: false } } } },
};

/** Sections that the host holds by itself, as floors, or that change nothing here: this module never turns a gate off. */
const OTHERS = ['system', 'module'];

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
/** A JSON pointer. */
const pointer = (...keys) => keys.map((key) => '/' + String(key).replaceAll('~', '~0').replaceAll('/', '~1')).join('');
const shown = (value) => '`' + (JSON.stringify(value) ?? String(value)).slice(0, 60) + '`';

/** The settings, or all that is wrong with them. What is not understood is wrong: nothing falls back to "off" silently. */
export function read(text) {
  const issues = [];
  const issue = (at, problem, allowed) => void issues.push({ pointer: at, problem, allowed });

  let all;
  try {
    all = JSON.parse(text);
  } catch {
    all = undefined;
  }
  if (!isObject(all)) {
    issue('', 'the settings are no JSON object', 'an object');
    return { issues };
  }
  for (const section of Object.keys(all)) {
    if (!OTHERS.includes(section)) {
      issue(pointer(section), 'this module does not read this section', 'sections `system` and `module`');
    }
  }
  const own = all.module?.settings ?? {};
  if (!isObject(own)) issue('/module/settings', `${shown(own)} is no table`, 'a table');
  for (const key of isObject(own) ? Object.keys(own) : []) {
    const at = ['module', 'settings', key];
    if (!Object.hasOwn(LISTS, key)) {
      issue(pointer(...at), `unknown key \`${key}\``, 'keys `deny`, `ask` and `askWords`');
    } else if (!Array.isArray(own[key])) {
      issue(pointer(...at), `${shown(own[key])} is no list`, 'a list of texts');
    } else {
      own[key].forEach((item, index) => {
        if (typeof item !== 'string' || item === '' || item.length > 200) {
          issue(pointer(...at, index), `${shown(item)} is no text of 1 to 200 characters`, 'a text of 1 to 200 characters');
        }
      });
    }
  }
  if (issues.length > 0) return { issues };
  const made = (key, make) => (own[key] ?? []).map(make);
  return { issues, settings: { deny: made('deny', glob), ask: made('ask', glob), askWords: made('askWords', word) } };
}
