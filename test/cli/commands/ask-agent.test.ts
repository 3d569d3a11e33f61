import { describe, expect, test } from 'vitest';
import { runHere } from '../run-cli.ts';
import { startStandIn, threadId } from './stand-in-service.ts';

const waiting = { status: 'interrupted', interrupts: { 'task-1': [{ value: 'Refund?' }] } };
const idle = { status: 'idle', interrupts: {} };
const missing = '0c1d2e3f-0000-4000-8000-0000000000ff';
const done = [{ event: 'values', data: { said: 'Hello' } }];

describe('ask', () => {
  test('names a thread that is not there, and how to list them', async () => {
    const { env } = await startStandIn({});
    const end = await runHere(['ask', 'support', 'Hello', '--thread', missing], { env });
    expect(end).toMatchObject({ code: 1, out: '' });
    expect(end.err).toBe(
      `refused: The agent has no thread ${missing}.\nWhat to do: landfall threads support lists them.\n`,
    );
  });

  test.each([
    [[], 'The agent has no graph.\nWhat to do: Name one in its langgraph.json, and deploy it again.'],
    [['talk', 'sum'], 'The agent has more than one graph.\nWhat to do: Choose one with --assistant: talk, sum.'],
  ])('asks no agent with the graphs %j', async (graphs, refusal) => {
    const { env } = await startStandIn({ graphs });
    const end = await runHere(['ask', 'support', 'Hello'], { env });
    expect(end).toEqual({ code: 1, out: '', err: `refused: ${refusal}\n` });
  });

  test('takes the name of the deployment alone for no question', async () => {
    const { env, requests } = await startStandIn({ events: done });
    const end = await runHere(['ask', 'support'], { env });
    expect(end).toMatchObject({ code: 2, err: expect.stringContaining('Give a question') });
    expect(requests.map(({ path }) => path)).not.toContain('POST /threads');
  });

  test('says what the agent asks, and how to answer', async () => {
    const events = [{ event: 'values', data: { input: 'Hi', __interrupt__: [{ value: 'Refund?' }] } }];
    const { env } = await startStandIn({ events });
    expect(await runHere(['ask', 'support', 'Hi'], { env })).toEqual({
      code: 0,
      out: 'The agent waits for a person: Refund?\n',
      err: `Thread ${threadId}; answer with: landfall ask support --thread ${threadId} "…"\n`,
    });
  });

  test.each([
    ['answers a thread that waits', waiting, ['Yes'], { command: { resume: 'Yes' } }],
    ['answers it with JSON', waiting, ['--input', '{"ok":true}'], { command: { resume: { ok: true } } }],
    ['asks a thread that does not', idle, ['Yes'], { input: { input: 'Yes' } }],
  ])('%s', async (_, thread, args, sent) => {
    const { env, requests } = await startStandIn({ thread, events: done });
    expect(await runHere(['ask', 'support', '--thread', threadId, ...args], { env })).toMatchObject({ code: 0 });
    const { body } = requests.findLast(({ path }) => path.endsWith('/runs/stream')) ?? {};
    expect(body).toMatchObject(sent);
    expect(Object.keys(body ?? {})).not.toContain('command' in sent ? 'input' : 'command');
  });
});
