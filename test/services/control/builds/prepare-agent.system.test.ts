import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { workplace } from './building.ts';
import { plainAgent, type Files } from './repositories.ts';

const atTheEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atTheEnd.splice(0).reverse()) end();
});
const place = (files: Files) => workplace({ ...plainAgent, ...files }, atTheEnd);

const withUi = (more: object = {}): string =>
  JSON.stringify({ graphs: { agent: './graph.mjs:graph' }, ui: { agent: './src/ui.tsx' }, ...more });

test('keeps the bundled UI with the build, made after its build command', async () => {
  const { build, lines } = place({
    'agent/langgraph.json': withUi(),
    'agent/ui.txt': "import { text } from '../text.ts';\nexport default { shown: () => <b>{text}</b> };",
    'agent/text.ts': "export const text = 'from the source';",
  });
  const request = { graphConfigPath: 'agent/langgraph.json', buildCommand: 'mkdir src && cp ui.txt src/ui.tsx' };
  const { graphConfigFile } = await build({ request });
  const { agent } = JSON.parse(readFileSync(join(dirname(graphConfigFile), '.landfall-build/ui.json'), 'utf8'));
  expect(agent['entrypoint.js']).toContain('from the source');
  expect(lines).toContain('Bundling the UI: agent');
});

test("fails with file, line and message if the UI can't be bundled", async () => {
  const { reason, lines } = place({
    'langgraph.json': withUi(),
    'src/ui.tsx': 'export default {\n  shown: () => <b>,\n};',
  });
  expect(await reason()).toMatch(
    /^`ui` of the graph configuration failed: exit code 1\. It said: src\/ui\.tsx:\d+:\d+: /,
  );
  expect(lines).toContainEqual(expect.stringMatching(/^src\/ui\.tsx:\d+:\d+: /));
});

test('bundles no UI that is disabled', async () => {
  const { build, lines } = place({ 'langgraph.json': withUi({ http: { disable_ui: true } }) });
  await build();
  expect(lines).not.toContainEqual(expect.stringContaining('Bundling'));
});

const typed = { 'langgraph.json': JSON.stringify({ graphs: { agent: './graph.ts:graph' } }), 'graph.ts': '' };
const compiler = (createProgram: string): Files => ({
  'packages/typescript/index.js': `
    const other = () => undefined;
    Object.assign(exports, { ModuleKind: {}, ScriptTarget: {}, sys: {} });
    Object.assign(exports, { findConfigFile: other, parseJsonConfigFileContent: other, forEachChild: other, createProgram: ${createProgram} });`,
});
const installCommand = 'cp -r packages node_modules';

const namesOnly =
  'Schemas of graphs annotated in TypeScript have names only. The agent has no package typescript. Add typescript 5 to its devDependencies.';

test('says why the schemas of an agent have names only', async () => {
  const state = 'export const State = Annotation.Root({ a: Annotation<string> });';
  const { build, lines } = place({ ...typed, 'src/state.ts': state });
  await build();
  expect(lines.at(-1)).toBe(namesOnly);
});

test('says nothing of types to an agent whose state has its own', async () => {
  const echo = readFileSync(join(import.meta.dirname, '../../../../examples/echo-agent/src/graph.ts'), 'utf8');
  const foreign = { 'node_modules/other/index.ts': 'Annotation.Root({})' };
  const { build, lines } = place({ ...typed, ...foreign, 'graph.ts': echo });
  await build();
  expect(lines).not.toContain(namesOnly);
});

test.each([
  ['fails', '() => { throw new Error("no such type"); }', {}, 'exit code 1. It said: Error: no such type'],
  ['never ends', '() => { for (;;); }', { buildMs: 1_500 }, 'it took longer than 1.5 s and was stopped.'],
  [
    'takes too much memory',
    '() => { for (const all = [];;) all.push(new Uint8Array(1e7).fill(1)); }',
    { memoryBytes: 300_000_000 },
    'it took more memory than a build may (300 MB) and was stopped.',
  ],
])('builds an agent even if reading its types %s', async (_, createProgram, bounds, reason) => {
  const { build, lines } = place({ ...typed, ...compiler(createProgram) });
  await build({ request: { installCommand }, settings: { bounds } });
  expect(lines.at(-1)).toBe(
    `warning: Schemas of graphs annotated in TypeScript have names only. Reading the types failed: ${reason}`,
  );
});

const tooOld =
  '@langchain/langgraph is 0.2.56, and agents need 0.2.57 or later. Update it in package.json and commit the new lock file.';

test.each([
  ['0.2.56', { kind: 'failed', reason: tooOld }],
  ['0.2.57', { kind: 'built' }],
])('looks at the engine %s right after the install', async (version, outcome) => {
  const engine = JSON.stringify({ name: '@langchain/langgraph', version, main: 'index.js' });
  const { tryBuild, lines } = place({ ...typed, 'packages/@langchain/langgraph/package.json': engine });
  expect(await tryBuild({ request: { installCommand, buildCommand: 'true' } })).toMatchObject(outcome);
  expect(lines.includes('Building: true')).toBe(outcome.kind === 'built');
});
