// Builds `policy.wasm` from `src/policy.js`: the script, an engine for it, and nothing that the host would have to provide.

import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { componentize } from '@bytecodealliance/componentize-js';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const out = process.argv[2] ?? here('policy.wasm');

const { component, imports } = await componentize({
  sourcePath: here('src/policy.js'),
  witPath: here('../../../wit'),
  worldName: 'policy',
  // Everything that would import WASI. A policy module imports nothing.
  disableFeatures: ['stdio', 'random', 'clocks', 'http', 'fetch-event'],
});
if (imports.length > 0) throw new Error(`the component would import ${JSON.stringify(imports)}`);
await writeFile(out, component);
console.log(`${out}: ${component.length} bytes`);
