import { createServer, type RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import { longestSilence, runDeployment } from '../../src/action/run-deployment.ts';
import type { SmokeTest } from '../../src/config/smoke-test.ts';
import { startControlStub } from './control-stub.ts';

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
async function smoked(answer: RequestListener) {
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
      deployment: {
        desired: { source: 'external_docker', name: 'echo', secretsStrategy: 'merge' },
        smokeTests: [requests],
        onFailure: 'keep',
      },
      userAgent: 'test',
      signal: new AbortController().signal,
      emit: () => undefined,
      mask: () => undefined,
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

test.each([
  ['a minute where no test wants more', [20_000, 60_000], 60_000],
  ['as long as the slowest test', [20_000, 600_000], 600_000],
  ['a minute where there is no test', [], 60_000],
])('an agent may be silent for %s', (_, times, silence) => {
  expect(longestSilence(times.map((timeoutMs) => ({ timeoutMs })))).toBe(silence);
});
