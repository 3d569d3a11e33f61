import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { endWithTest } from '../../../../child-process.ts';
import { describePython } from '../../../../python/needs-python.ts';
import { serveAgent, type Serving } from '../../serving.ts';

const results = z.array(z.tuple([z.string(), z.string().nullable()]));
const documented = readFileSync(join(import.meta.dirname, '../../../../../docs/clients.md'), 'utf8');

describePython('the official Python client', (python) => {
  let serving: Serving;
  beforeAll(async () => {
    serving = await serveAgent({ configPath: join(import.meta.dirname, 'agent/sdk.json'), python });
  });
  afterAll(() => serving.close());

  test('works with an agent in Python, feature by feature as docs/clients.md lists them', async () => {
    const program = join(import.meta.dirname, 'sdk_client.py');
    // Requests of this machine to itself take no proxy, and no key of LangSmith is sent.
    const env = { PATH: process.env.PATH, NO_PROXY: '127.0.0.1', LANGSMITH_TRACING: 'false' };
    const client = endWithTest(spawn(python, [program, serving.url], { env }));
    const [output, errors] = await Promise.all([text(client.stdout), text(client.stderr)]);
    const tried = results.parse(JSON.parse(output.trim() || '[]'));
    const problems = tried.filter(([, problem]) => problem !== null);
    expect({ problems, errors: problems.length === 0 ? '' : errors }).toEqual({ problems: [], errors: '' });
    const names = [...documented.matchAll(/^- (.+?)[;.]?$/gm)].map(([, name]) => name);
    expect(tried.map(([name]) => name)).toEqual(names);
  });
});
