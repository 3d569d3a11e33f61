import { createServer } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { folderOf, runHere } from './run-cli.ts';

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

/** An agent server that streams one answer to every run, and says with which key it was asked. */
async function agentThat(
  answer: (request: number) => string,
  statusOf: (request: number) => number = () => 200,
): Promise<{ url: string; keys: Set<unknown> }> {
  let requests = 0;
  const keys = new Set<unknown>();
  const server = createServer((request, response) => {
    keys.add(request.headers['x-api-key']);
    const status = statusOf(requests);
    const values = JSON.stringify({ output: answer(requests++) });
    request.resume().on('end', () => {
      if (status !== 200) return response.writeHead(status).end('{"detail":"no"}');
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return response.end(
        `event: metadata\ndata: {"run_id":"r"}\n\nevent: updates\ndata: {"answer":{}}\n\nevent: values\ndata: ${values}\n\n`,
      );
    });
  });
  closing.push(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the agent has no port');
  return { url: `http://127.0.0.1:${address.port}`, keys };
}

const tests = '[{name: says hello, assistant: echo, input: {}, expect: {values: [{path: $.output, contains: hello}]}}]';

async function compared(live: string, changed: string, ...more: string[]) {
  const folder = folderOf({});
  closing.push(folder.remove);
  const args = ['compare', '--live', live, '--new', changed, '--smoke-tests', tests, '--tries', '30', ...more];
  return runHere(args, { cwd: folder.path, env: { LANDFALL_API_KEY: 'key-of-the-service' } });
}

describe('landfall compare', () => {
  test('says in a table that a new agent is no worse, and sends both the key', async () => {
    const live = await agentThat((request) => (request === 10 ? 'good bye' : 'hello'));
    const changed = await agentThat(() => 'hello');
    const end = await compared(live.url, changed.url);
    expect(end.out).toMatch(/says hello +right answers +29 of 30, .*\) +30 of 30, .*\) +\+3.3 points +no worse/);
    expect(end.out).toContain('says hello: 30 of 30, live 29 of 30: ');
    expect(end.out).toContain('  for example live: $.output contains "hello" was expected, "good bye" was seen');
    expect([...live.keys, ...changed.keys]).toEqual(['key-of-the-service', 'key-of-the-service']);
  });

  test('fails where it is worse, with --json in one line', async () => {
    const [live, changed] = [await agentThat(() => 'hello'), await agentThat(() => 'good bye')];
    const end = await compared(live.url, changed.url, '--json');
    expect(end.code).toBe(1);
    expect(JSON.parse(end.out)).toMatchObject({
      outcome: 'worse',
      passes: false,
      tests: [
        {
          name: 'says hello',
          right: { live: 30, new: 0 },
          example: { of: 'new', expected: '$.output contains "hello"', seen: '"good bye"' },
          measures: expect.arrayContaining([expect.objectContaining({ measure: 'pass-rate', verdict: 'worse' })]),
        },
      ],
    });
  });

  const often = (request: number): number => (request % 10 < 4 ? 500 : 200);
  test.each([
    ['answers all', () => 200, () => 200, 0, 'no-worse'],
    ['answers four of ten requests with HTTP 500', () => 200, often, 1, 'worse'],
    ['answers nothing but HTTP 500', () => 200, () => 500, 1, 'worse'],
    ['answers nothing, as the live one', () => 500, () => 500, 1, 'undecided'],
  ])('ends with its code where the new agent %s', async (_, byLive, byNew, code, outcome) => {
    const [live, changed] = [await agentThat(() => 'hello', byLive), await agentThat(() => 'hello', byNew)];
    const end = await compared(live.url, changed.url, '--json');
    expect([end.code, JSON.parse(end.out).outcome]).toEqual([code, outcome]);
  });

  test('names everything that is wrong with its input, and sends nothing', async () => {
    const end = await compared('nowhere', 'http://example.com', '--tries', '19');
    expect(end.code).toBe(2);
    for (const name of ['--live', '--new', '--tries']) expect(end.err).toContain(`${name}: `);
    const service = await compared('', 'https://agent.example');
    expect(service.err).toContain('--live: live is missing: give the address of an agent, or the control service');
    const revision = await compared('https://agent.example', '00000000-0000-4000-8000-000000000000');
    expect(revision.err).toContain('--base-url: missing: set it, or LANDFALL_BASE_URL');
    expect(revision.err).toContain('nothing says which deployment is meant');
  });

  test('says what to do where the control service refuses the key', async () => {
    const service = await agentThat(
      () => '',
      () => 401,
    );
    const end = await compared('', 'https://agent.example', '--base-url', service.url, '--name', 'echo', '--json');
    expect(end).toMatchObject({ code: 1, err: expect.stringMatching(/^refused: list deployments: answered 401 .*\n/) });
    expect(JSON.parse(end.out)).toMatchObject({ outcome: 'refused', advice: expect.stringContaining('Check api-key') });
  });

  test('counts no time of an agent that refuses each request', async () => {
    const [live, changed] = [
      await agentThat(() => 'hello'),
      await agentThat(
        () => 'hello',
        () => 422,
      ),
    ];
    const end = await compared(live.url, changed.url);
    expect(end.out).toMatch(/right answers +30 of 30, .* worse\n/);
    expect(end.out).not.toContain('total time');
    expect(end.out).toContain('for example new: status is success was expected, no run: HTTP 422: ');
  });
});
