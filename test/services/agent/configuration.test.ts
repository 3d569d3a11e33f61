import { loggerTo } from '../../logger.ts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readConfiguration } from '../../../src/services/agent/configuration.ts';
import { StartupError } from '../../../src/services/agent/startup-error.ts';

const folder = mkdtempSync(join(tmpdir(), 'configuration-'));
afterAll(() => rmSync(folder, { recursive: true }));

const graphs = { echo: './graph.ts:graph' };

/** The variables and warnings of a configuration file, or the reason it does not start. */
function startWith(file: object, options = {}) {
  const path = join(folder, 'langgraph.json');
  writeFileSync(path, JSON.stringify(file, undefined, 1));
  const log: string[] = [];
  try {
    const { env } = readConfiguration(
      path,
      loggerTo((line) => log.push(line)),
      options,
    );
    return { env, log };
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    return { code: error.code, lines: error.lines };
  }
}

describe('an environment file', () => {
  test.each([
    ['that is missing', '.env'],
    ['that is a folder', '.'],
    ['below a path that is not a folder', 'langgraph.json/.env'],
  ])('%s causes a warning', (_, env) => {
    expect(startWith({ graphs, env })).toEqual({
      env: {},
      log: [expect.stringContaining(`the env file ${env} does not exist`)],
    });
  });
});

test('variables of a Dockerfile are defaults of an agent in Python, below those of `env`', () => {
  const keys = { dockerfile_lines: ['ENV A=b C=d'], env: { C: 'mine' } };
  expect(startWith({ graphs: { echo: './graph.py:graph' }, ...keys }, { python: true })).toMatchObject({
    env: { A: 'b', C: 'mine' },
  });
  expect(startWith({ graphs, ...keys })).toMatchObject({ env: { C: 'mine' } });
});

describe('startup reports the line of', () => {
  test.each([
    ['a wrong value', { http: { cors: { max_age: 'long' } } }, 'config-invalid', '7:15: `http.cors.max_age` must be'],
    [
      'a misspelled key',
      { store: { ttl: { default_tll: 1 } } },
      'config-invalid',
      '7:4: `store.ttl.default_tll` is not known',
    ],
    ['an unsupported option', { store: { path: './s.ts:s' } }, 'config-invalid', '6:3: `store.path` is not offered'],
    [
      'a graph in Python',
      { graphs: { echo: './a.py:a' } },
      'graph-language',
      '3:11: Graph "echo" is written in Python',
    ],
    [
      'a graph in an unknown language',
      { graphs: { echo: './a:a' } },
      'graph-language',
      '3:11: Graph "echo" lies in ./a, whose',
    ],
  ])('%s', (_, keys, code, said) => {
    const reported = startWith({ graphs, ...keys });
    expect(reported).toEqual({ code, lines: [expect.stringContaining(`langgraph.json:${said}`)] });
  });
});
