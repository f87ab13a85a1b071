// A Toolwarden policy in JavaScript: a deny list, an ask list, and words that make a shell command worth a question.
//
// Toolwarden calls the functions of `decisions`; `wit/policy.wit` says what goes in and out. Names with dashes are written in
// camelCase here, enums are strings, `u64` is a BigInt.
//
// The module may keep nothing from one call to the next but its settings: the host uses instances again, throws them away and
// runs several side by side, and all of them have to give the same answers.

import { classifyCwd } from './cwd.js';
import { read, SCHEMA } from './settings.js';
import { clip, matchesAny, wordIn } from './text.js';

/** The settings in force. Until there are some, every call is refused. */
let settings = null;

const NOT_APPLICABLE = { class: 'not-applicable', why: 'none' };

/** `ManagedProcess` uses its cwd to start a process. An action that nobody knows might start one, too. */
const IDLE_ACTIONS = ['status', 'read_log', 'wait', 'stop'];

/** What a person is asked to look at before tools of servers are shown on demand only, in tokens. */
const TOKEN_BUDGET = 12_000n;

const isForeign = (tool) => tool.origin === 'mcp' || tool.origin === 'plugin';

const isDenied = (tool) => settings === null || matchesAny(settings.deny, tool.publicName);

const text = (call, name) => call.arguments.find((a) => a.name === name && a.kind === 'text')?.text;

/** Whether the call starts a process in its cwd. Only the agent's own tools do. */
function startsProcess(call) {
  if (isForeign(call.tool)) return false;
  if (call.tool.name === 'Bash') return true;
  return call.tool.name === 'ManagedProcess' && !IDLE_ACTIONS.includes(text(call, 'action'));
}

/** The cwd of a call as `classifyCwd` wants it: `absent` where the call holds none. */
const cwdArgument = (call) =>
  call.arguments.find((a) => a.name === 'cwd') ?? { name: 'cwd', kind: 'absent', text: '' };

/**
 * The rules, the most restrictive first: whatever is refused is refused before a person is asked about it.
 * Each looks at a call and gives nothing where it does not apply.
 */
const RULES = [
  ['not-configured', () =>
    settings === null && { effect: 'refused', reason: 'the policy module has not been given settings', detail: '' }],
  ['rule-deny', ({ tool }) =>
    isDenied(tool) && { effect: 'refused', reason: 'the deny list names this tool', detail: clip(tool.publicName) }],
  ['unknown-tool', ({ tool, facts }) =>
    tool.registration !== 'registered' && {
      effect: 'refused',
      reason: 'there is no tool of exactly this name' + (facts.nearest ? `; did you mean ${facts.nearest}?` : ''),
      detail: clip(tool.publicName),
    }],
  ['rule-ask', ({ tool }) =>
    matchesAny(settings.ask, tool.publicName) && {
      effect: 'gated', reason: 'the ask list names this tool', detail: clip(tool.publicName),
    }],
  ['external-cwd', (call, cwd) =>
    (cwd.class === 'invalid' || cwd.class === 'outside') && {
      effect: 'gated',
      reason: 'the process would not clearly start inside the workspace',
      detail: clip(`${cwdArgument(call).text} (${cwd.class}: ${cwd.why})`),
    }],
  ['command-word', (call) => {
    if (!startsProcess(call)) return false;
    const command = text(call, 'command');
    // A command that is not there, or no text, is not one without those words.
    const word = command === undefined ? 'no readable command' : wordIn(settings.askWords, command);
    return word !== undefined && { effect: 'gated', reason: `the command holds: ${word}`, detail: clip(command ?? '') };
  }],
];

function gate(call) {
  const cwd = startsProcess(call)
    ? classifyCwd(cwdArgument(call), call.workspace, call.facts.cwd)
    : NOT_APPLICABLE;
  const trail = [];
  for (const [rule, look] of RULES) {
    const found = look(call, cwd);
    if (call.explain) {
      trail.push(found
        ? { rule, outcome: 'decided', note: found.reason }
        : { rule, outcome: 'passed-over', note: 'it does not apply' });
    }
    if (found) return { ...found, kind: rule, cwd, trail };
  }
  return { effect: 'free', kind: '', reason: 'nothing speaks against it', detail: '', cwd, trail };
}

function admit({ tool }) {
  return isDenied(tool)
    ? { effect: 'refused', kind: 'rule-deny', reason: 'the deny list names this tool', candidacy: 'exempt' }
    : { effect: 'free', kind: '', reason: '', candidacy: isForeign(tool) ? 'candidate' : 'exempt' };
}

/** Deferring a tool saves the model's context; it protects from nothing and changes no gate. */
function defer({ tool }, totals) {
  if (tool.origin === 'bridge') return { exposure: 'eager', reason: 'bridge' };
  if (isDenied(tool)) return { exposure: 'hidden', reason: 'denied' };
  if (totals.bridge !== 'complete') return { exposure: 'eager', reason: 'disabled' };
  if (!isForeign(tool)) return { exposure: 'eager', reason: 'core' };
  return totals.candidateTokens > TOKEN_BUDGET
    ? { exposure: 'deferred', reason: 'over-budget' }
    : { exposure: 'eager', reason: 'under-budget' };
}

export const decisions = {
  describe: () => ({
    name: 'example-javascript',
    version: '0.1.0',
    contract: '0.1.0',
    summary: 'A deny list, an ask list and words in shell commands, written in JavaScript.',
    settingsSchema: JSON.stringify(SCHEMA),
  }),

  configure(text) {
    const { settings: taken, issues } = read(text);
    if (issues.length > 0) return { outcome: 'rejected', issues };
    settings = taken;
    return { outcome: 'accepted', issues: [] };
  },

  admitTools: (tools) => tools.map(admit),
  shouldDefer: defer,
  shouldDeferAll: (tools, totals) => tools.map((tool) => defer(tool, totals)),
  isApprovalGated: gate,

  classifyCwd(given, workspace, facts, explain) {
    const cwd = classifyCwd(given, workspace, facts);
    const note = cwd.why === 'none' ? cwd.class : `${cwd.class}: ${cwd.why}`;
    return { ...cwd, trail: explain ? [{ rule: 'cwd', outcome: 'decided', note }] : [] };
  },
};
