import { describe, expect, test } from 'vitest';
import { graphLocations } from '../../../src/agent-folder/graph-config/graph-path.ts';
import { graphLanguage, packagesNeeded, checkRunnable } from '../../../src/agent-folder/graph-config/language.ts';
import type { GraphConfig } from '../../../src/agent-folder/graph-config/schema.ts';

describe('where a graph lies', () => {
  test.each([
    ['a file and an export', './src/graph.ts:graph', './src/graph.ts', 'graph'],
    ['a Windows drive, whose colon parts nothing', 'C:\\agents\\graph.ts:graph', 'C:\\agents\\graph.ts', 'graph'],
    ['the default export', './graph.mjs:default', './graph.mjs', 'default'],
  ])('%s', (_, path, file, exportName) => {
    expect(graphLocations({ graphs: { echo: path } })).toEqual([
      { graphId: 'echo', file, exportName, description: undefined },
    ]);
  });

  test('an object brings its description', () => {
    expect(graphLocations({ graphs: { echo: { path: './a.ts:b', description: 'Answers.' } } })).toEqual([
      { graphId: 'echo', file: './a.ts', exportName: 'b', description: 'Answers.' },
    ]);
  });
});

test.each<[string, Partial<GraphConfig>, { node: boolean; python: boolean }]>([
  ['a graph in TypeScript', { graphs: { a: './a.ts:g' } }, { node: true, python: false }],
  ['a graph in Python', { graphs: { a: './a.py:g' } }, { node: false, python: true }],
  ['a module of Python', { graphs: { a: 'agent.graph:g' } }, { node: false, python: true }],
  ['one of each', { graphs: { a: './a.py:g', b: './b.js:g' } }, { node: true, python: true }],
  ['Python with a page', { graphs: { a: './a.py:g' }, ui: { a: './ui.tsx' } }, { node: true, python: true }],
  [
    'Python with rules in TypeScript',
    { graphs: { a: './a.py:g' }, auth: { path: './auth.ts:auth' } },
    { node: true, python: true },
  ],
  [
    'Python with a model of a provider',
    { graphs: { a: './a.py:g' }, store: { index: { dims: 1, embed: 'openai:small' } } },
    { node: false, python: true },
  ],
])('whose packages %s needs', (_, config, needs) => {
  expect(packagesNeeded({ graphs: {}, ...config })).toEqual(needs);
});

describe('what this machine can run', () => {
  test.each([
    ['./src/graph.ts', 'typescript'],
    ['./src/graph.cts', 'typescript'],
    ['./src/graph.js', 'javascript'],
    ['./src/graph.MJS', 'javascript'],
    ['./src/graph.py', 'python'],
    ['my_package.agent', 'python'],
    ['my-package/agent', 'unknown'],
    ['./graph', 'unknown'],
    ['./graph.constructor', 'unknown'],
  ])('%s is %s', (file, language) => expect(graphLanguage(file)).toBe(language));

  test('JavaScript and TypeScript run', () => {
    expect(checkRunnable(graphLocations({ graphs: { one: './a.ts:graph', two: './b.js:graph' } }))).toEqual({
      kind: 'runnable',
    });
  });

  test('Python is refused with what would run', () => {
    expect(checkRunnable(graphLocations({ graphs: { one: './a.ts:graph', two: './b.py:graph' } }))).toEqual({
      kind: 'refused',
      graphId: 'two',
      reason: 'Graph "two" is written in Python (./b.py). This machine runs graphs in JavaScript and TypeScript only.',
    });
  });

  test('Python runs where its packages are installed', () => {
    const places = graphLocations({ graphs: { one: './a.ts:graph', two: './b.py:graph', three: 'c.d:graph' } });
    expect(checkRunnable(places, { python: true })).toEqual({ kind: 'runnable' });
  });

  test('a path that says no language is refused too', () => {
    expect(checkRunnable(graphLocations({ graphs: { one: './agent:graph' } }))).toMatchObject({
      kind: 'refused',
      graphId: 'one',
    });
  });
});
