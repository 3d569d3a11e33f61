import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryAgent, type TemporaryAgent } from './temporary-agent.ts';

const compiled = `
import { Annotation, StateGraph } from '@langchain/langgraph';
const State = Annotation.Root({ said: Annotation<string> });
export const graph = new StateGraph(State).addNode('say', async () => ({ said: 'x' })).addEdge('__start__', 'say').compile();
`;

/** What all ways share: their agent's tsconfig is the one of the folder above. */
const shared = {
  'tsconfig.json': {
    compilerOptions: { baseUrl: '.', paths: { '@/*': ['./src/*'] }, experimentalDecorators: true, jsx: 'react' },
  },
  'src/made.ts': compiled,
  'src/agent/index.ts': compiled,
  'src/all/index.ts': "export * from '../made';\nexport * as more from './more';",
  'src/all/more.ts': 'export const more = 1;',
  'src/shown.tsx': `const React = { createElement: (name: string) => name };\nexport const shown = <p />;${compiled}`,
  'src/words.json': { word: 'x' },
  'src/mood.ts': "export enum Mood { Calm = 'calm' }",
  'src/noted.ts':
    'const noted = (target: object, key: string) => void Reflect.set(target, key, 1);\nexport class Note { @noted word?: string }',
  'src/default.ts': compiled.replace('export const graph =', 'export default'),

  'packages/made/src/index.ts': "export * from './agent';",
  'packages/made/src/agent.ts': compiled,
};

/** Each way to import: the content of a file that needs it, and the export that is a graph. */
const ways: Record<string, { file?: string; content: string; exportName?: string }> = {
  'an alias of its tsconfig': { content: "export { graph } from '@/made';" },
  'a path from baseUrl': { content: "export { graph } from 'src/made';" },
  'a folder with an index': { content: "export { graph } from './agent';" },
  'an alias of a folder': { content: "export { graph } from '@/agent';" },
  'a barrel': {
    content: "import { graph as made, more } from './all';\nexport const graph = more.more === 1 && made;",
  },
  'a .js file that is a .ts file': { content: "export { graph } from './made.js';" },
  'an alias of a .js file that is a .ts file': { content: "export { graph } from '@/made.js';" },
  'a .tsx file': { content: "export { graph } from './shown';" },
  'a graph in a .tsx file': { file: 'entry.tsx', content: "export { graph } from '@/made';" },
  'a JSON file': { content: "import words from './words.json';\nexport { graph } from '@/made';\nwords.word.length;" },
  'an enum': { content: "import { Mood } from '@/mood';\nexport { graph } from '@/made';\nMood.Calm.length;" },
  'a decorator': { content: "import './noted';\nexport { graph } from '@/made';" },
  'a default export': { content: "import made from './default';\nexport default made;", exportName: 'default' },
  'an import while it runs': { content: "export const graph = async () => (await import('@/made')).graph;" },
  'a package of its workspace': { content: "export { graph } from '@own/made';" },
};
/** What else the configuration file names. */
const others: Record<string, string> = {
  'auth.path': "import { Mood } from '@/mood';\nimport 'src/noted';\nexport const named = Mood.Calm;",
  'http.app': "import { graph } from './agent';\nexport const named = graph;",
  'store.index.embed': "import words from '@/words.json';\nimport '@own/made';\nexport const named = words.word;",
};
const wayNames = Object.keys(ways);

describe.each(['commonjs', 'module'] as const)('a package of type %s', (type) => {
  let agent: TemporaryAgent;
  let results: Record<string, string>;

  beforeAll(async () => {
    const named = Object.entries(ways).map(([name, { file, content, exportName }], at) => {
      const path = `src/${file ?? `way-${at}.ts`}`;
      return { name, path, content, graph: `./${path}:${exportName ?? 'graph'}` };
    });
    const exported = Object.entries(others).map(([name, content], at) => ({
      name,
      path: `src/other-${at}.ts`,
      content,
    }));
    agent = temporaryAgent({
      ...shared,
      'package.json': { type },
      'packages/made/package.json': { name: '@own/made', type, main: './src/index.ts' },
      'langgraph.json': { graphs: Object.fromEntries(named.map(({ name, graph }) => [name, graph])) },
      ...Object.fromEntries([...named, ...exported].map(({ path, content }) => [path, content])),
    });
    const workspace = join(agent.folder, 'src/node_modules/@own');
    mkdirSync(workspace, { recursive: true });
    symlinkSync(join(agent.folder, 'packages/made'), join(workspace, 'made'), 'junction');
    const script = join(import.meta.dirname, 'load-apart.ts');
    const args = [script, agent.configPath, ...exported.map(({ name, path }) => `${name}=./${path}:named`)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: agent.folder });
    results = JSON.parse(stdout);
  });
  afterAll(() => agent.remove());

  test.each([...wayNames, ...Object.keys(others)])('loads %s', (name) => {
    expect(results[name]).toBe('loaded');
  });
});
