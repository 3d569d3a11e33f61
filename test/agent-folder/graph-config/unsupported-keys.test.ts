import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { nodeMajor } from '../../../src/agent-folder/graph-config/unsupported-keys.ts';
import { readGraphConfig } from '../../../src/agent-folder/graph-config/read.ts';
import { formatProblem } from '../../../src/kit/diagnostics/problem.ts';

/** What is said of keys beside the graphs: the warnings, and what an agent server does not start with. */
function saidOf(keys: object, graph = './src/graph.ts:graph') {
  const read = readGraphConfig(JSON.stringify({ graphs: { echo: graph }, ...keys }, undefined, 1), 'langgraph.json');
  if (!read.ok) throw new Error(read.problems.map(formatProblem).join('\n'));
  return { warnings: read.warnings.map(formatProblem), refused: read.refused.map(formatProblem) };
}

const NOWHERE = "has no effect on Landfall's agent server";

describe('keys without effect', () => {
  test('are reported with their lines, and do not block', () => {
    expect(saidOf({ python_version: '3.12', dependencies: ['.'], image_distro: 'wolfi' })).toEqual({
      warnings: [
        `langgraph.json:5:2: \`python_version\` ${NOWHERE}: it is about Python, and these graphs are not`,
        `langgraph.json:6:2: \`dependencies\` ${NOWHERE}: the packages are those of package.json and its lock file`,
        `langgraph.json:9:2: \`image_distro\` ${NOWHERE}: no image is built, the agent is a process of its own`,
      ],
      refused: [],
    });
  });

  test.each([
    ['another Node.js', { node_version: '20' }, `node_version\` ${NOWHERE}: agents run on Node.js 24`],
    ['how Python reads checkpoints', { checkpointer: { serde: {} } }, 'checkpointer.serde` has no effect'],
    ['how long callers are remembered', { auth: { path: './a.ts:a', cache: {} } }, 'auth.cache` has no effect'],
    ['the Studio without rules', { auth: { disable_studio_auth: true } }, 'disable_studio_auth` has no effect without'],
    [
      'Studio access for any caller with a key',
      { auth: { path: './a.ts:a', disable_studio_auth: false } },
      'disable_studio_auth` lets everybody with a key of the service call past `authenticate`',
    ],
    [
      'an order of nothing',
      { http: { middleware_order: 'auth_first' } },
      'http.middleware_order` has no effect without',
    ],
    [
      'rules for routes that are not there',
      { http: { enable_custom_route_auth: true }, auth: { path: './a.ts:a' } },
      'http.enable_custom_route_auth` has no effect without',
    ],
  ])('%s', (_, keys, said) => {
    const { warnings, refused } = saidOf(keys);
    expect(refused).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining(said)]);
  });

  test.each<[string, object, string?]>([
    ['the Node.js that agents run on', { node_version: 24 }],
    [
      'an order where there is something to put in order',
      { http: { app: './a.ts:a', middleware_order: 'auth_first' }, auth: { path: './b.ts:b' } },
    ],
    ['a search by a model or by an export', { store: { index: { dims: 3, embed: 'openai:small', fields: ['a[*]'] } } }],
    ['keys that are null', { node_version: null, checkpointer: null, auth: null, http: null, store: null }],
    [
      'keys about Python where the graphs are in Python',
      {
        python_version: '3.12',
        dependencies: ['.'],
        pip_installer: 'uv',
        node_version: '20',
        auth: { path: './auth.py:auth' },
        http: { app: 'agent.app:app' },
        store: { index: { dims: 3, embed: 'cohere:small' } },
      },
      './graph.py:graph',
    ],
  ])('are none of these: %s', (_, keys, graph) => {
    expect(saidOf(keys, graph)).toEqual({ warnings: [], refused: [] });
  });
});

test('of graphs in Python, how checkpoints are read has no effect either', () => {
  expect(saidOf({ checkpointer: { serde: {} } }, './graph.py:graph')).toEqual({
    warnings: [expect.stringContaining('`checkpointer.serde` has no effect')],
    refused: [],
  });
});

describe('keys that an agent server does not start with', () => {
  test('are the same for graphs in Python', () => {
    const keys = { encryption: { path: './e.py:e' }, checkpointer: { path: './c.py:c' }, store: { path: './s.py:s' } };
    expect(saidOf(keys, './graph.py:graph').refused).toEqual([
      expect.stringContaining('`encryption` is not offered'),
      expect.stringContaining('`checkpointer.path` is not offered'),
      expect.stringContaining('`store.path` is not offered'),
    ]);
  });

  test.each([
    ['encryption', { encryption: { path: './e.ts:e' } }, '`encryption` is not offered'],
    ['checkpoints in another store', { checkpointer: { path: './c.ts:c' } }, '`checkpointer.path` is not offered'],
    ['a store of its own', { store: { path: './s.ts:s' } }, '`store.path` is not offered'],
    [
      'a model of an unknown provider',
      { store: { index: { dims: 3, embed: 'huggingface:org/model' } } },
      '`store.index.embed` must name an export',
    ],
    [
      'an embedding in Python',
      { store: { index: { dims: 3, embed: './e.py:e' } } },
      '`store.index.embed` is written in Python',
    ],
    ['rules in Python', { auth: { path: './auth.py:auth' } }, '`auth.path` is written in Python'],
    ['an application in Python', { http: { app: './app.py:app' } }, '`http.app` is written in Python'],
    ['a pattern that is none', { http: { cors: { allow_origin_regex: '(' } } }, 'must be a regular expression'],
  ])('%s', (_, keys, said) => {
    expect(saidOf(keys)).toEqual({ warnings: [], refused: [expect.stringContaining(said)] });
    expect(saidOf(keys).refused[0]).toMatch(/^langgraph\.json:\d+:\d+: /);
  });
});

test('agents run on the Node.js that the package brings', () => {
  const json = readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8');
  const { dependencies, devDependencies } = Object(JSON.parse(json));
  expect({ ...devDependencies, ...dependencies }['node']).toMatch(new RegExp(`^${nodeMajor}\\.`));
});
