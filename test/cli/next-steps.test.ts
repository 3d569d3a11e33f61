import { expect, test } from 'vitest';
import { isKeyVariable, nextSteps } from '../../src/cli/next-steps.ts';
import type { SmokeTest } from '../../src/deploy/file/smoke-test.ts';
import type { Outcome } from '../../src/deploy/machine/outcome-types.ts';

const outcome: Outcome = {
  kind: 'deployed',
  passes: true,
  reason: '',
  changed: true,
  notes: [],
  deploymentId: 'd1',
  deploymentUrl: 'https://agent.test/',
};

const asks: SmokeTest = {
  name: 'answers',
  assistant: 'support',
  thread: false,
  input: { question: "What's new?" },
  streamModes: ['updates'],
  expect: [],
  attempts: 1,
  timeoutMs: 1000,
};

test('a deploy with a smoke test is followed by its page, its request and its log', () => {
  expect(
    nextSteps(
      outcome,
      { name: 'support', smokeTests: [asks], hasKeyVariable: true },
      'https://console.test/deployments/d1',
    ),
  ).toEqual([
    'Next:',
    '  page  https://console.test/deployments/d1',
    `  call  printf 'X-Api-Key: %s\\n' "$LANDFALL_API_KEY" | curl -sS -H @- -H 'Content-Type: application/json' ` +
      `'https://agent.test/runs/wait' -d '{"assistant_id":"support","input":{"question":"What'\\''s new?"}}'`,
    '  ask   landfall ask support "…"',
    '  logs  landfall logs support -f',
  ]);
});

test('a deploy without one is followed by the list of its assistants', () => {
  const [, call, , logs] = nextSteps(outcome, { name: undefined, smokeTests: [], hasKeyVariable: true }, undefined);
  expect(call).toContain(`'https://agent.test/assistants/search' -d '{}'`);
  expect(logs).toBe('  logs  landfall logs d1 -f');
});

test('a deploy with the key of a login names no request that needs it as a variable', () => {
  const steps = nextSteps(outcome, { name: 'support', smokeTests: [asks], hasKeyVariable: false }, undefined);
  expect(steps).toEqual(['Next:', '  ask   landfall ask support "…"', '  logs  landfall logs support -f']);
});

test.each([
  ['the key of the environment', 'key', { LANDFALL_API_KEY: 'key' }, true],
  ['the key of a login beside one', 'stored', { LANDFALL_API_KEY: 'key' }, false],
  ['the key of a login', 'stored', {}, false],
  ['a token instead of a key', undefined, {}, false],
])('a request may name %s: %j, %j, %j', (_, key, env, isVariable) => {
  expect(isKeyVariable(key, env)).toBe(isVariable);
});

test('a deploy that did not learn the address of its agent is followed by nothing', () => {
  const { deploymentUrl: _, ...unknown } = outcome;
  expect(nextSteps(unknown, { name: 'support', smokeTests: [], hasKeyVariable: true }, undefined)).toEqual([]);
});
