// Runs vectors on the core module in Node's own WebAssembly: node core-module.mjs MODULE VECTORS
//
// What a host without components does: lend memory for a request, hand it over, read the answer, give the answer back.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import assert from "node:assert/strict";

const [path, vectors] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(path));
assert.deepEqual(WebAssembly.Module.imports(module), [], "a policy module imports nothing");

class Policy {
  constructor() {
    this.exports = new WebAssembly.Instance(module, {}).exports;
  }

  call(name, input) {
    const { memory, toolwarden_alloc, toolwarden_call, toolwarden_free } = this.exports;
    const request = new TextEncoder().encode(typeof name === "string" ? JSON.stringify({ call: name, input }) : name);
    const at = toolwarden_alloc(request.length);
    new Uint8Array(memory.buffer, at, request.length).set(request);
    const answer = toolwarden_call(at, request.length);
    const length = new DataView(memory.buffer).getUint32(answer, true);
    const text = new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(memory.buffer, answer + 4, length));
    toolwarden_free(answer, length + 4);
    return JSON.parse(text);
  }

  /** The answer, or an exception. A missing answer is no permission. */
  ok(name, input) {
    const answer = this.call(name, input);
    assert.ok(answer.ok !== undefined, JSON.stringify(answer));
    return answer.ok;
  }
}

const rows = (name) => readFileSync(join(vectors, `${name}.jsonl`), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));

const kinds = { string: "text", number: "number", boolean: "boolean" };
const argument = (name, value) => {
  if (value === undefined) return { name, kind: "absent", text: "" };
  if (value === null) return { name, kind: "null", text: "null" };
  const kind = Array.isArray(value) ? "array" : (kinds[typeof value] ?? "object");
  return { name, kind, text: kind === "text" ? value : JSON.stringify(value) };
};
const workspace = ({ flavour, root, extraRoots, skills, home }) => ({
  flavour, root, extraRoots: extraRoots ?? [], skillsRoots: skills ?? [], home: home ?? "",
});
const list = (value) => (value === undefined ? [] : [value].flat());
const cwdFacts = (facts) => ({
  resolution: facts?.unresolvable ? "failed" : facts?.resolved === undefined ? "not-attempted" : "resolved",
  paths: list(facts?.resolved), roots: list(facts?.resolvedRoot), skillsRoots: [],
});

// Nothing is allowed before settings were given.
const policy = new Policy();
const tool = (name) => ({ origin: "core", registration: "registered", server: "", name, publicName: name });
const invocation = (name, call) => ({
  tool: tool(name),
  arguments: Object.entries(call.arguments).map(([name, value]) => argument(name, value)),
  route: call.route, attendance: call.attendance, workspace: workspace(call.workspace),
  facts: { cwd: cwdFacts(call.facts), paths: [], definition: { trust: "matching", summary: "" }, nearest: "" },
  explain: false,
});
const read = { arguments: {}, route: "direct", attendance: "scheduled", workspace: { flavour: "posix", root: "/repo" } };
assert.equal(policy.ok("is-approval-gated", invocation("Read", read)).kind, "not-configured");

let count = 0;
for (const row of rows("cwd")) {
  const given = argument("cwd", row.cwd);
  const answer = policy.ok("classify-cwd", { given, workspace: workspace(row.workspace), facts: cwdFacts(row), explain: false });
  assert.equal(answer.class, row.expect.class, row.id);
  if (row.expect.why) assert.equal(answer.why, row.expect.why, row.id);
  count += 1;
}
console.log(`${count} cwd rows hold`);

// Gate rows of built-in tools that are called directly and registered: what lies before the module is the host's.
const known = ["Bash", "ManagedProcess", "Delete", "SSHManager", "Read", "Write", "Edit", "List", "Glob", "Grep"];
count = 0;
for (const row of rows("gate")) {
  const { call, expect } = row;
  if (call.route !== "direct" || !known.includes(call.tool) || call.server) continue;
  if (expect.kind === "ambiguous-argument") continue;
  assert.equal(policy.ok("configure", { settings: row.settings }).outcome, "accepted", row.id);
  const gate = policy.ok("is-approval-gated", invocation(call.tool, call));
  const verdict = gate.effect === "free" ? "allow" : gate.effect === "gated" && call.attendance === "interactive" ? "ask" : "deny";
  assert.equal(verdict, expect.verdict, row.id);
  assert.equal(gate.kind || null, expect.kind, row.id);
  if (expect.cwd) assert.equal(gate.cwd.class, expect.cwd.class, row.id);
  count += 1;
}
assert.ok(count > 100, `only ${count} gate rows`);
console.log(`${count} gate rows hold`);

count = 0;
for (const row of rows("settings")) {
  const { outcome, issues } = policy.ok("configure", { settings: row.settings });
  assert.equal(outcome, row.expect.ok ? "accepted" : "rejected", row.id);
  const pointers = (list) => (list ?? []).map((issue) => issue.pointer).sort();
  assert.deepEqual(pointers(issues), pointers(row.expect.issues), row.id);
  count += 1;
}
console.log(`${count} settings rows hold`);

// What is no request is an error, and never a permission.
for (const bad of ["", "{", "[]", "{}", '{"call":"allow","input":{}}', '{"call":"describe","input":{},"input":{}}', '{"call":"is-approval-gated","input":{}}']) {
  const answer = policy.call(new TextEncoder().encode(bad));
  assert.ok(answer.error?.code, bad);
}
assert.equal(policy.ok("describe", {}).name, "toolwarden-default");

// Memory is used again: thousands of calls do not make it grow without end.
const before = policy.exports.memory.buffer.byteLength;
for (let n = 0; n < 20000; n += 1) policy.ok("is-approval-gated", invocation("Read", read));
assert.ok(policy.exports.memory.buffer.byteLength <= before + 65536 * 4);
