import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { buildAgentServer } from '../../../scripts/agent-server.ts';
import { startTestPostgres, type TestPostgres } from '../../kit/postgres/postgres.ts';
import { describePython } from '../../python/needs-python.ts';
import { startAgentProcess, type AgentProcess } from './agent-process.ts';

const root = resolve(import.meta.dirname, '../../..');
let postgres: TestPostgres;
const installed = mkdtempSync(join(tmpdir(), 'landfall-installed-'));
let program: string;
const started: AgentProcess[] = [];

beforeAll(async () => {
  postgres = await startTestPostgres();
  program = await buildAgentServer(installed);
});
afterEach(async () => {
  for (const { child } of started) child.kill('SIGKILL');
  await Promise.all(started.splice(0).map(({ gone }) => gone));
});
afterAll(async () => {
  await postgres?.stop();
  rmSync(installed, { recursive: true, force: true });
});

/** Starts the built server for an example. Returns how to send requests to it. */
async function start(example: string, env: Record<string, string> = {}) {
  const config = join(root, 'examples', example, 'langgraph.json');
  const settings = { LANDFALL_GRAPH_CONFIG: config, DATABASE_URI: postgres.url, ...env };
  const process = await startAgentProcess(settings, program);
  started.push(process);
  return async (path: string, body?: object): Promise<unknown> => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const sent = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(`${process.url}${path}`, sent);
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return JSON.parse(text.replace(/^event: .*\ndata: /, ''));
  };
}

/** A run on a new thread: its response, and the state that is read from the database afterwards. */
async function greet(request: Awaited<ReturnType<typeof start>>): Promise<unknown[]> {
  const { thread_id } = Object(await request('/threads', {}));
  const run = { assistant_id: 'echo', input: { input: 'Ada' } };
  return [await request(`/threads/${thread_id}/runs/wait`, run), await request(`/threads/${thread_id}/state`)];
}

const greeting = { output: 'hello Ada' };

describe('the agent server of the package', () => {
  test('runs a graph in TypeScript and answers by MCP and A2A', async () => {
    const request = await start('echo-agent');
    expect(await greet(request)).toMatchObject([greeting, { values: greeting }]);
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    expect(await request('/mcp', list)).toMatchObject({ result: { tools: [{ name: 'echo' }] } });
    const [{ assistant_id }] = Object(await request('/assistants/search', {}));
    expect(await request(`/.well-known/agent-card.json?assistant_id=${assistant_id}`)).toMatchObject({ name: 'echo' });
  });
});

describePython('the agent server of the package', (python) => {
  test('runs a graph in Python', async () => {
    const request = await start('python-echo-agent', { LANDFALL_PYTHON: python });
    expect(await greet(request)).toMatchObject([greeting, { values: greeting }]);
  });
});
