import nock from 'nock';
import { afterEach, expect, test } from 'vitest';
import type { Expectation } from '../../../src/deploy/file/smoke-test.ts';
import { says } from './agent-in-memory.ts';
import { Driving, graderUrl, secret, testExpecting } from './driving.ts';

const host = 'https://models.example.test';

afterEach(() => {
  const missed = nock.pendingMocks();
  nock.cleanAll();
  if (missed.length > 0) throw new Error(`never requested: ${missed.join(', ')}`);
});

/** An answer that repeats the secret, which is the key of the grader as well. */
function judgedBy(baseUrl: string, key = 'TOKEN') {
  const judge: Expectation = {
    kind: 'graded',
    path: '$.reply',
    grading: { kind: 'judge', criterion: 'Is kind' },
    grader: { baseUrl, model: 'judge-1', key, timeoutMs: 30_000 },
    decides: true,
  };
  const driving = new Driving(testExpecting('hello', { expect: [judge] }));
  driving.agent.commands = [says(`it is ${secret}`, 100)];
  return driving;
}

const judgement = (holds: boolean) => ({
  choices: [{ message: { content: JSON.stringify({ reason: `It says ${secret}.`, holds }) } }],
});

test.each([
  [true, 'passed'],
  [false, 'failed'],
])('a judge gets the answer without its secrets, and decides: %s', async (holds, kind) => {
  const sent: string[] = [];
  nock(host, { reqheaders: { authorization: `Bearer ${secret}` } })
    .post('/v1/chat/completions', (body) => sent.push(JSON.stringify(body)) > 0)
    .twice()
    .reply(200, judgement(holds));
  const verdict = await judgedBy(graderUrl).run();
  expect(verdict.kind).toBe(kind);
  expect(JSON.stringify(verdict)).toContain('It says ***.');
  expect(sent.join()).toContain('it is ***');
  expect(sent.join()).not.toContain(secret);
});

test.each([
  ['the address is not one that the operator allows', `${host}:8443/v1`, 'TOKEN', 'LANDFALL_GRADERS'],
  ['the key is no secret of the deployment', graderUrl, 'HOME', 'is not set'],
])('nothing is sent where %s, and nothing is proven', async (_, url, key, why) => {
  const verdict = await judgedBy(url, key).run();
  expect(verdict.tests[0]?.verdict).toMatchObject({ kind: 'unproven', because: 'ungraded' });
  expect(JSON.stringify(verdict)).toContain(why);
});
