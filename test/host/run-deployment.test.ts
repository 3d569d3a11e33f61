import { createServer, type RequestListener } from 'node:http';
import { expect, test, vi } from 'vitest';
import { maxSilenceMs, runDeployment } from '../../src/host/run-deployment.ts';
import type { Expectation, SmokeTest } from '../../src/deploy/file/smoke-test.ts';
import { startControlStub } from '../action/control-stub.ts';

const requests: SmokeTest = {
  name: 'says hello',
  assistant: 'echo',
  thread: false,
  input: {},
  streamModes: ['values'],
  expect: [{ kind: 'value', path: '$.reply', test: { kind: 'contains', text: 'hello' } }],
  attempts: 1,
  timeoutMs: 20_000,
};

/** The outcome of `mode: smoke` with an agent that answers like this. */
async function smoked(answer: RequestListener, smokeTest = requests, mask: (secret: string) => void = () => undefined) {
  const control = await startControlStub({ status: 'DEPLOYED' });
  const agent = createServer(answer);
  await new Promise<void>((resolve) => agent.listen(0, '127.0.0.1', resolve));
  const address = agent.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  try {
    return await runDeployment({
      options: {
        baseUrl: control.url,
        apiKey: 'key-of-the-service',
        spelling: 'contract',
        allowHttp: false,
        mode: 'smoke',
        agentUrl: `http://127.0.0.1:${port}`,
        wait: true,
        timeoutMs: 60_000,
        pollMs: 100,
        onSuperseded: 'fail',
      },
      subject: {
        mode: 'smoke',
        named: { name: 'echo' },
        smokeTests: [smokeTest],
        onFailure: 'keep',
        onUnproven: 'keep',
      },
      userAgent: 'test',
      signal: new AbortController().signal,
      emit: () => undefined,
      mask,
    });
  } finally {
    agent.closeAllConnections();
    await Promise.all([control.close(), new Promise((resolve) => agent.close(resolve))]);
  }
}

test('does not print the key that an agent repeats', async () => {
  const outcome = await smoked((request, response) => {
    const values = { reply: `your key is ${String(request.headers['x-api-key'])}` };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('event: metadata\ndata: {"run_id":"r"}\n\n');
    response.end(`event: values\ndata: ${JSON.stringify(values)}\n\n`);
  });
  expect(outcome.kind).toBe('broken');
  expect(JSON.stringify(outcome)).toContain('your key is ***');
  expect(JSON.stringify(outcome)).not.toContain('key-of-the-service');
});

test('gets the key of a grader from the environment, and masks it everywhere', async () => {
  const key = 'key-of-the-grader';
  vi.stubEnv('TEST_GRADER_KEY', `${key}\n`);
  const masked: string[] = [];
  const judge: Expectation = {
    kind: 'graded',
    path: '$.reply',
    grading: { kind: 'judge', criterion: 'Is kind' },
    grader: { baseUrl: '', model: 'm', key: 'TEST_GRADER_KEY', timeoutMs: 20_000 },
    decides: false,
  };
  const grader = createServer((request, response) => {
    const content = JSON.stringify({ reason: `Sent with ${request.headers.authorization}.`, holds: false });
    response.end(JSON.stringify({ choices: [{ message: { content } }] }));
  });
  await new Promise<void>((resolve) => grader.listen(0, '127.0.0.1', resolve));
  const address = grader.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  judge.grader.baseUrl = `http://127.0.0.1:${port}/v1`;
  try {
    const outcome = await smoked(
      (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('event: metadata\ndata: {"run_id":"r"}\n\n');
        response.end('event: values\ndata: {"reply":"hello"}\n\n');
      },
      { ...requests, expect: [...requests.expect, judge] },
      (secret) => masked.push(secret),
    );
    expect(outcome.verdict?.kind).toBe('passed');
    expect(JSON.stringify(outcome)).toContain('Sent with Bearer ***.');
    expect(JSON.stringify(outcome)).not.toContain(key);
    expect(masked).toContain(key);
  } finally {
    vi.unstubAllEnvs();
    grader.closeAllConnections();
    await new Promise((resolve) => grader.close(resolve));
  }
});

test.each([
  ['a minute where no test wants more', [20_000, 60_000], 60_000],
  ['as long as the slowest test', [20_000, 600_000], 600_000],
  ['a minute where there is no test', [], 60_000],
])('an agent may be silent for %s', (_, times, silence) => {
  expect(maxSilenceMs(times.map((timeoutMs) => ({ timeoutMs })))).toBe(silence);
});
