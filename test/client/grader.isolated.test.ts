import nock from 'nock';
import { afterEach, expect, test } from 'vitest';
import { connectGraders } from '../../src/client/grader.ts';
import { checkNothingPending } from './intercepted.ts';
import { quickClock, serviceError } from './stand-in.ts';

const host = 'https://models.example.test';
const grader = { baseUrl: `${host}/v1`, model: 'judge-1', key: 'MODEL_KEY', timeoutMs: 30_000 };
const prompt = { rules: 'Judge.', data: '{"answer":"hello"}' };
const key = 'the-key-of-the-model';

const connected = (keys: Record<string, string> = { MODEL_KEY: `${key}\n` }) =>
  connectGraders({ keyOf: (name) => keys[name], userAgent: 'landfall/test', clock: quickClock(), env: {} });

const says = (content: unknown) => ({ id: '1', choices: [{ index: 0, message: { role: 'assistant', content } }] });

afterEach(checkNothingPending);

test('a judge gets rules, data and a schema, and its judgement is read', async () => {
  let sent: unknown;
  nock(host, { reqheaders: { authorization: `Bearer ${key}` } })
    .post('/v1/chat/completions', (body) => (sent = body))
    .reply(200, says('{"reason": "It greets.", "holds": true}'));
  expect(await connected().judge(grader, prompt, {})).toEqual({ reason: 'It greets.', holds: true });
  expect(sent).toMatchObject({
    model: 'judge-1',
    messages: [
      { role: 'system', content: 'Judge.' },
      { role: 'user', content: '{"answer":"hello"}' },
    ],
    response_format: { type: 'json_schema', json_schema: { strict: true } },
  });
});

test.each([
  ['prose', says('Yes, it holds.')],
  ['more than a judgement', says('{"reason": "", "holds": true, "score": 1}')],
  ['a judgement in a code block', says('```json\n{"reason": "", "holds": true}\n```')],
  ['a number for a boolean', says('{"reason": "", "holds": 1}')],
  ['no text', says(null)],
  ['no choice', { choices: [] }],
])('%s is no judgement', async (_, reply) => {
  nock(host).post('/v1/chat/completions').reply(200, reply);
  expect((await serviceError(connected().judge(grader, prompt, {}))).kind).toBe('unreadable');
});

test('a failure is reported without the key', async () => {
  nock(host)
    .post('/v1/chat/completions')
    .reply(401, { error: { message: `Incorrect API key provided: ${key}` } });
  const error = await serviceError(connected().judge(grader, prompt, {}));
  expect(error.kind).toBe('unauthorized');
  expect(`${error.message} ${error.detail}`).not.toContain(key);
});

test('without the key that is named nothing is sent', async () => {
  const error = await serviceError(connected({}).judge(grader, prompt, {}));
  expect(error.message).toContain('the variable or secret that its `key` names is not set');
});

test('two texts are as alike as their vectors', async () => {
  const vectors = (one: number[], other: number[]) => ({
    data: [
      { index: 1, embedding: other },
      { index: 0, embedding: one },
    ],
  });
  nock(host)
    .post('/v1/embeddings', { model: 'judge-1', input: ['a', 'b'] })
    .reply(200, vectors([3, 4], [4, 3]));
  expect(await connected().similarity(grader, ['a', 'b'], {})).toBeCloseTo(0.96, 10);
  nock(host)
    .post('/v1/embeddings')
    .reply(200, vectors([1, 2], [1]));
  expect((await serviceError(connected().similarity(grader, ['a', 'b'], {}))).kind).toBe('unreadable');
});
