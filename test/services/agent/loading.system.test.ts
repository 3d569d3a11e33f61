import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryAgent } from './temporary-agent.ts';
import type { TemporaryAgent } from './temporary-agent.ts';

const graph = `
import { Annotation, StateGraph } from '@langchain/langgraph';
const State = Annotation.Root({ said: Annotation<string> });
`;
const compiled = `${graph}
export const graph = new StateGraph(State).addNode('say', async () => ({ said: 'x' })).addEdge('__start__', 'say').compile();
`;
const one = (path: string) => ({ 'langgraph.json': { graphs: { one: path } } });

/** An engine of the agent's own: that of this package, with another version and a checkpointer without \`deleteThread\`. */
const ownEngine = (version: string): Record<string, string | object> => {
  const real = pathToFileURL(
    createRequire(import.meta.url)
      .resolve('@langchain/langgraph')
      .replace(/\.cjs$/, '.js'),
  ).href;
  return {
    'node_modules/@langchain/langgraph/package.json': { version, type: 'module', exports: { '.': './index.js' } },
    'node_modules/@langchain/langgraph/index.js': [
      `import { MemorySaver as Newer } from '${real}';`,
      `export * from '${real}';`,
      'export class MemorySaver { serde = new Newer().serde; }',
      `export const graph = { withConfig() {}, stream() {}, streamEvents() {}, getState() {} };`,
    ].join('\n'),
  };
};

/** Each agent, and the lines of its startup error; none if its graphs load. */
const agents: Record<string, { files: Record<string, string | object>; installed?: boolean; lines?: RegExp[] }> = {
  // Comes first: a process has only one agent, whose settings it uses.
  'paths of its tsconfig': {
    files: {
      ...one('./src/graph.ts:graph'),
      'tsconfig.json': { compilerOptions: { paths: { '@/*': ['./src/*'] } } },
      'src/graph.ts': "export { graph } from '@/other.ts';",
      'src/other.ts': compiled,
    },
  },
  'TypeScript beyond types, an enum': {
    files: {
      ...one('./graph.ts:graph'),
      'graph.ts': `enum Mood { Calm = 'calm' }\nexport const mood = Mood.Calm;${compiled}`,
    },
  },
  'an agent that is CommonJS': {
    files: { ...one('./graph.ts:graph'), 'package.json': { type: 'commonjs' }, 'graph.ts': compiled },
  },
  'plain JavaScript with a default export': {
    files: {
      ...one('./graph.js:default'),
      'graph.js': compiled.replaceAll('<string>', '').replace('export const graph =', 'export default'),
    },
  },
  "an engine older than 0.4, whose memory can't delete threads": {
    files: {
      ...one('./graph.js:graph'),
      'graph.js': compiled.replaceAll('<string>', ''),
      ...ownEngine('0.2.57'),
    },
    installed: false,
  },
  'no configuration file': {
    files: {},
    lines: [
      /^error\[config-missing\]: There is no graph configuration file .*langgraph\.json\. Check graph_config_path/,
    ],
  },
  'a configuration file with several mistakes': {
    files: { 'langgraph.json': '{\n  "graphs": {},\n  "dependancies": []\n}' },
    lines: [
      /^error\[config-invalid\]: langgraph\.json:2:13: /,
      /^ {2}langgraph\.json:3:3: .*did you mean `dependencies`/,
    ],
  },
  'a graph in Python': {
    files: { 'langgraph.json': '{\n  "graphs": {\n    "one": "./graph.py:graph"\n  }\n}' },
    lines: [
      /^error\[graph-language\]: langgraph\.json:3:12: Graph "one" is written in Python .*runs graphs in JavaScript and TypeScript only/,
    ],
  },
  'a graph whose file is not there': {
    files: one('./nowhere.ts:graph'),
    lines: [/^error\[graph-file-missing\]: nowhere\.ts: graph "one" has no such file/],
  },
  'a package that is not installed': {
    files: {
      ...one('./graph.ts:graph'),
      'graph.ts': "\nimport { x } from 'not-a-package-of-anybody';\nexport const graph = x;",
    },
    lines: [
      /^error\[graph-module-missing\]: graph\.ts:2: cannot find "not-a-package-of-anybody", which graph "one" needs\. Add it/,
    ],
  },
  'a file that is imported and not there': {
    files: { ...one('./graph.ts:graph'), 'graph.ts': "export { graph } from './lost.ts';" },
    lines: [/^error\[graph-module-missing\]: graph\.ts:1: cannot find ".*lost\.ts"/],
  },
  'a graph that is no TypeScript': {
    files: { ...one('./graph.ts:graph'), 'graph.ts': 'export const graph = {\n  oh: no no\n};' },
    lines: [/^error\[graph-syntax\]: graph\.ts:2:9: /],
  },
  'a graph that throws as it is imported': {
    files: {
      ...one('./graph.ts:graph'),
      'graph.ts': 'function boom(): never {\n  throw new TypeError("no model");\n}\nboom();\n',
    },
    lines: [
      /^error\[graph-threw\]: graph\.ts:2:9: loading graph "one" threw TypeError: no model$/,
      /^ {2}at boom \(.*graph\.ts:2:9\)/,
    ],
  },
  'an export of another name': {
    files: { ...one('./graph.ts:grap'), 'graph.ts': compiled },
    lines: [
      /^error\[graph-export-missing\]: graph\.ts: has no export "grap" for graph "one"\. It exports "graph"\. Did you mean "graph"\?$/,
    ],
  },
  'an export that is no graph': {
    files: { ...one('./graph.ts:graph'), 'graph.ts': 'export const graph = { stream: true };' },
    lines: [/^error\[graph-not-a-graph\]: graph\.ts: export "graph" of graph "one" is no graph/],
  },
  'a function that throws': {
    files: { ...one('./graph.ts:graph'), 'graph.ts': 'export function graph() {\n  throw new Error("not today");\n}' },
    lines: [/^error\[graph-threw\]: graph\.ts:2:9: loading graph "one" threw Error: not today$/],
  },
  'an engine that is too old': {
    files: {
      ...one('./graph.js:graph'),
      'graph.js': "export { graph } from '@langchain/langgraph';",
      ...ownEngine('0.2.8'),
    },
    installed: false,
    lines: [
      /^error\[engine-too-old\]: @langchain\/langgraph is 0\.2\.8, and agents need 0\.2\.57 or later\. Update it/,
    ],
  },
  'an agent without the engine': {
    files: {
      ...one('./graph.js:graph'),
      'graph.js':
        'const f = () => {};\nexport const graph = { withConfig: f, stream: f, streamEvents: f, getState: f };',
    },
    installed: false,
    lines: [/^error\[engine-missing\]: Graph "one" \(.*graph\.js\) has no @langchain\/langgraph in reach\. Add/],
  },
};

interface Loaded {
  graphs?: string[];
  lines?: string[];
}

describe('loading an agent', () => {
  const made: TemporaryAgent[] = [];
  const results = new Map<string, Loaded>();

  beforeAll(async () => {
    for (const { files, installed } of Object.values(agents))
      made.push(temporaryAgent(files, { installed: installed ?? true }));
    const script = join(import.meta.dirname, 'load-each.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [
      script,
      ...made.map(({ configPath }) => configPath),
    ]);
    const lines = stdout.trim().split('\n');
    Object.keys(agents).forEach((name, at) => results.set(name, JSON.parse(lines[at] ?? '{}')));
  });
  afterAll(() => made.forEach((agent) => agent.remove()));

  const [refused, loaded] = [true, false].map((withLines) =>
    Object.entries(agents).filter(([, { lines }]) => (lines !== undefined) === withLines),
  );

  test.each(loaded ?? [])('accepts %s', (name) => {
    expect(results.get(name)).toEqual({ graphs: ['one'], warnings: [] });
  });

  test.each(refused ?? [])('rejects %s', (name, { lines = [] }) => {
    const result = results.get(name);
    expect(result?.graphs).toBeUndefined();
    lines.forEach((line, at) => expect(result?.lines?.[at]).toMatch(line));
  });
});
