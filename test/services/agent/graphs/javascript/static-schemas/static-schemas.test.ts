import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { findCompiler } from '../../../../../../src/services/agent/graphs/javascript/static-schemas/compiler.ts';
import {
  schemasOfNode,
  withTypes,
} from '../../../../../../src/services/agent/graphs/javascript/static-schemas/static-schemas.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** An agent's folder with this TypeScript. */
function withTypeScript(main?: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'landfall-compiler-'));
  folders.push(folder);
  if (main === undefined) return folder;
  mkdirSync(join(folder, 'node_modules/typescript'), { recursive: true });
  writeFileSync(join(folder, 'node_modules/typescript/index.js'), main);
  return folder;
}

test.each([
  ['no TypeScript', undefined, 'The agent has no package typescript. Add typescript 5 to its devDependencies.'],
  [
    'a TypeScript without the interface',
    'exports.version = "7.0.2";',
    "The agent's TypeScript 7.0.2 has no compiler API. Add typescript 5 to its devDependencies.",
  ],
])('says why the types of an agent with %s are not read', (_, main, reason) => {
  expect(findCompiler(withTypeScript(main))).toEqual({ kind: 'lacking', reason });
});

test('takes the TypeScript of a package above, and none of a folder beyond it', () => {
  const beyond = withTypeScript('exports.version = "7.0.2";');
  const above = join(beyond, 'builds/source');
  const folder = join(above, 'agents/one');
  mkdirSync(folder, { recursive: true });
  for (const each of [above, join(above, 'agents'), folder]) writeFileSync(join(each, 'package.json'), '{}');
  expect(findCompiler(folder)).toMatchObject({ reason: expect.stringContaining('no package typescript') });
  mkdirSync(join(above, 'node_modules/typescript'), { recursive: true });
  writeFileSync(join(above, 'node_modules/typescript/index.js'), 'exports.version = "7.1.0";');
  expect(findCompiler(folder)).toMatchObject({ reason: expect.stringContaining('TypeScript 7.1.0') });
});

test.each<[string, Record<string, string>]>([
  ['workspaces', { 'package.json': '{ "workspaces": ["apps/*"] }' }],
  ['workspaces of pnpm', { 'pnpm-workspace.yaml': 'packages: ["apps/*"]' }],
  ['a lock file', { 'package.json': '{}', 'yarn.lock': '' }],
])('takes the TypeScript hoisted to the folder with %s, across folders that are no packages', (_, files) => {
  const root = withTypeScript('exports.version = "7.1.0";');
  const folder = join(root, 'apps/agent');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{}');
  for (const [name, content] of Object.entries(files)) writeFileSync(join(root, name), content);
  expect(findCompiler(folder)).toMatchObject({ reason: expect.stringContaining('TypeScript 7.1.0') });
});

const known = { type: 'array', langgraph_type: 'messages' };

test('completes channels by their types, and keeps what is known when the graph runs', () => {
  const named = { type: 'object', properties: { topic: {}, messages: known, later: {} } };
  const typed = {
    type: 'object',
    properties: { topic: { $ref: '#/$defs/Topic' }, messages: { type: 'array' }, gone: { type: 'string' } },
    $defs: { Topic: { type: 'string' } },
  };
  expect(withTypes(named, typed)).toEqual({
    type: 'object',
    properties: { topic: { $ref: '#/$defs/Topic' }, messages: known, later: {} },
    $defs: { Topic: { type: 'string' } },
  });
  expect(withTypes(named, undefined)).toEqual(named);
  expect(withTypes(known, typed)).toEqual(known);
});

test('a subgraph has the types of the node of its name with its channels, if they are certain', () => {
  const of = (type: string, ...names: string[]) => ({
    state: { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type }])) },
  });
  const nodes = {
    plan: [of('string', 'a', 'b'), of('number', 'c')],
    act: [of('string', 'a'), of('number', 'a')],
    twice: [of('string', 'a'), of('string', 'a')],
  };
  const found = (namespace: string, ...channels: string[]) => schemasOfNode({ graphs: {}, nodes }, namespace, channels);
  expect(found('plan', 'b', 'a')).toEqual(of('string', 'a', 'b'));
  expect(found('outer|plan', 'c')).toEqual(of('number', 'c'));
  expect(found('twice', 'a')).toEqual(of('string', 'a'));
  expect([found('plan', 'a'), found('act', 'a'), found('constructor', 'a')]).toEqual([undefined, undefined, undefined]);
});
