import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readConfiguration } from '../../src/agent-server/configuration.ts';
import { StartupError } from '../../src/agent-server/startup-error.ts';

const folder = mkdtempSync(join(tmpdir(), 'configuration-'));
afterAll(() => rmSync(folder, { recursive: true }));

const graphs = { echo: './graph.ts:graph' };

/** What a start makes of a file: its variables and warnings, or why it does not start. */
function startWith(file: object) {
  const path = join(folder, 'langgraph.json');
  writeFileSync(path, JSON.stringify(file, undefined, 1));
  const log: string[] = [];
  try {
    const { env } = readConfiguration(path, (line) => log.push(line));
    return { env, log };
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    return { code: error.code, lines: error.lines };
  }
}

describe('a file of variables', () => {
  test.each([
    ['that is not there', '.env'],
    ['that is a folder', '.'],
    ['below what is no folder', 'langgraph.json/.env'],
  ])('%s is a warning', (_, env) => {
    expect(startWith({ graphs, env })).toEqual({
      env: {},
      log: [expect.stringContaining(`the env file ${env} does not exist`)],
    });
  });
});

describe('a start tells, with the line,', () => {
  test.each([
    ['a wrong value', { http: { cors: { max_age: 'long' } } }, 'config-invalid', '7:15: `http.cors.max_age` must be'],
    ['a slip', { store: { ttl: { default_tll: 1 } } }, 'config-invalid', '7:4: `store.ttl.default_tll` is not known'],
    ['what is not offered', { store: { path: './s.ts:s' } }, 'config-invalid', '6:3: `store.path` is not offered'],
    [
      'a graph in Python',
      { graphs: { echo: './a.py:a' } },
      'graph-language',
      '3:11: Graph "echo" is written in Python',
    ],
    ['one of no language', { graphs: { echo: './a:a' } }, 'graph-language', '3:11: Graph "echo" lies in ./a, whose'],
  ])('%s', (_, keys, code, said) => {
    const reported = startWith({ graphs, ...keys });
    expect(reported).toEqual({ code, lines: [expect.stringContaining(`langgraph.json:${said}`)] });
  });
});
