import { afterAll, beforeAll, expect, test } from 'vitest';
import { askAt } from '../ask.ts';
import type { Ask } from '../ask.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';

let serving: Serving;
let ask: Ask;
beforeAll(async () => {
  serving = await serveAgent({ unknownNodes: 'refuse' });
  ask = askAt(serving.url);
});
afterAll(() => serving.close());

const run = { assistant_id: 'echo', input: { input: 'Ada' } };
const toned = { assistant_id: 'toned', input: {} };

test.each<[string, object, (string | number)[], RegExp]>([
  ['a misspelled context key', { ...run, context: { greting: 'hi' } }, ['context', 'greting'], /mean "greeting"\?$/],
  ['a missing context value', toned, ['context', 'tone'], /./],
  [
    'an invalid configurable value',
    { ...toned, config: { configurable: { tone: 'rude' } } },
    ['config', 'configurable', 'tone'],
    /"warm"/,
  ],
  ['an answer without a thread', { ...run, command: { resume: 'yes' } }, ['command', 'resume'], /^needs a thread/],
  ['an invalid command', { ...run, command: { resum: 1 } }, ['command', 'resum'], /takes "resume", "update"/],
  [
    'an interrupt at an unknown node',
    { ...run, interrupt_before: ['answr'] },
    ['interrupt_before', 0],
    /did you mean "answer"\?$/,
  ],
  [
    'a goto to an unknown node',
    { ...run, command: { goto: 'nowhere' } },
    ['command', 'goto'],
    /has "prepare", "answer"$/,
  ],
])('rejects a run with %s, and names its position', async (_, body, loc, msg) => {
  expect(await ask('POST', '/runs/wait', body)).toMatchObject({
    status: 422,
    body: { detail: [{ loc: ['body', ...loc], msg: expect.stringMatching(msg) }] },
  });
});

test('accepts unknown context keys if the schema does', async () => {
  const { body } = await ask('POST', '/runs/wait', { ...run, context: { greeting: 'hey', customer: 7 } });
  expect(body).toMatchObject({ output: 'hey Ada' });
  const schemas = (await ask('GET', '/assistants/echo/schemas')).body;
  expect(Object(schemas).context_schema).not.toHaveProperty('additionalProperties');
});

test('configurable values are the context if none is sent', async () => {
  const warm = { config: { configurable: { tone: 'warm' } } };
  expect((await ask('POST', '/runs/wait', { ...toned, ...warm })).body).toEqual({ said: 'warm words' });
  const made = (await ask('POST', '/assistants', { graph_id: 'toned', context: { tone: 'cold' } })).body;
  const mine = { ...toned, assistant_id: Object(made)['assistant_id'] };
  expect((await ask('POST', '/runs/wait', mine)).body).toEqual({ said: 'cold words' });
  expect((await ask('POST', '/runs/wait', { ...mine, ...warm })).body).toEqual({ said: 'warm words' });
});

test('rejects a new assistant with a misspelled context key, but runs an old one', async () => {
  const slip = { graph_id: 'echo', context: { greting: 'hi' } };
  const loc = ['body', 'context', 'greting'];
  expect(await ask('POST', '/assistants', slip)).toMatchObject({ status: 422, body: { detail: [{ loc }] } });
  const made = (await ask('POST', '/assistants', { graph_id: 'made', context: { tome: 'warm', tone: 'warm' } })).body;
  const assistant_id = String(Object(made)['assistant_id']);
  expect(await ask('PATCH', `/assistants/${assistant_id}`, { graph_id: 'toned' })).toMatchObject({ status: 200 });
  expect((await ask('POST', '/runs/wait', { ...toned, assistant_id })).body).toEqual({ said: 'warm words' });
});

test('an unknown assistant has the same error message everywhere', async () => {
  const words = {
    detail: expect.stringMatching(/^Assistant not found\. No assistant found for "askr": pass a graph id/),
  };
  for (const [method, path, body] of [
    ['GET', '/assistants/askr', undefined],
    ['GET', '/assistants/askr/schemas', undefined],
    ['POST', '/runs/wait', { ...run, assistant_id: 'askr' }],
  ] as const)
    expect(await ask(method, path, body)).toMatchObject({ status: 404, body: words });
  const parts = [{ kind: 'text', text: 'hi' }];
  const message = { kind: 'message', messageId: 'm', role: 'user', parts };
  const call = { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } };
  const reported = JSON.stringify((await ask('POST', '/a2a/askr', call)).body);
  expect(reported).toContain('Assistant not found.');
});
