import { describe, expect, test } from 'vitest';
import { graphLocations } from '../../src/graph-config/graph-path.ts';
import { graphLanguage, runnableHere } from '../../src/graph-config/language.ts';

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

describe('what this machine can run', () => {
  test.each([
    ['./src/graph.ts', 'typescript'],
    ['./src/graph.cts', 'typescript'],
    ['./src/graph.js', 'javascript'],
    ['./src/graph.MJS', 'javascript'],
    ['./src/graph.py', 'python'],
    ['my_package.agent', 'unknown'],
    ['./graph', 'unknown'],
    ['./graph.constructor', 'unknown'],
  ])('%s is %s', (file, language) => expect(graphLanguage(file)).toBe(language));

  test('JavaScript and TypeScript run', () => {
    expect(runnableHere(graphLocations({ graphs: { one: './a.ts:graph', two: './b.js:graph' } }))).toEqual({
      kind: 'runnable',
    });
  });

  test('Python is refused with what would run', () => {
    expect(runnableHere(graphLocations({ graphs: { one: './a.ts:graph', two: './b.py:graph' } }))).toEqual({
      kind: 'refused',
      graphId: 'two',
      reason: 'Graph "two" is written in Python (./b.py). This machine runs graphs in JavaScript and TypeScript only.',
    });
  });

  test('a path that says no language is refused too', () => {
    expect(runnableHere(graphLocations({ graphs: { one: 'agent.module:graph' } }))).toMatchObject({
      kind: 'refused',
      graphId: 'one',
    });
  });
});
