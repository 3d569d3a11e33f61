import { beforeEach, expect, test } from 'vitest';
import { terms } from '../reconcile/requests.ts';
import { HandlerFixture, targetsOn } from './handler-fixture.ts';

let fixture: HandlerFixture;
beforeEach(() => {
  fixture = new HandlerFixture();
  const deployAfter = { checks: ['build'], timeoutMs: 60_000 };
  const [gated] = targetsOn('main', 'support').targets;
  const [plain] = targetsOn('main', 'sales').targets;
  if (!gated || !plain) throw new Error('there are no targets');
  const rules = { ...terms.rules, deployAfter };
  fixture.branches.set('main', { targets: [{ ...gated, terms: { ...gated.terms, rules } }, plain], refused: [] });
});

test.each<[what: string, event: string, payload: (sha: string) => object]>([
  ['a check that ended', 'check_run', (sha) => ({ action: 'completed', check_run: { name: 'build', head_sha: sha } })],
  ['a check suite that ended', 'check_suite', (sha) => ({ action: 'completed', check_suite: { head_sha: sha } })],
  ['a status', 'status', (sha) => ({ sha, context: 'build', state: 'success' })],
])('%s wakes the deployments that may wait for it, however often it comes', async (_, event, payload) => {
  const head = fixture.commit();
  await fixture.push(head);
  for (const delivery of ['guid-2', 'guid-2', 'guid-3']) await fixture.receive(event, payload(head), delivery);
  expect(fixture.decided.get('guid-2')).toMatchObject({ did: ['woke deployment d-support'] });
  expect(fixture.intents()).toHaveLength(2);
});

test.each([
  ['another check', 'lint', 'nothing waits'],
  ['the check', 'build', 'woke deployment d-support'],
])('of a push that waits, %s wakes it or not', async (_, name, did) => {
  const head = fixture.commit();
  await fixture.push(head);
  const intent = fixture.intents().find(({ deploymentId }) => deploymentId === 'd-support');
  if (!intent) throw new Error('nothing was requested');
  const pending = { names: ['build'], count: 1 };
  await fixture.save({ ...intent, state: 'waiting', decision: { kind: 'await', code: 'checks', pending } });
  await fixture.receive('check_run', { action: 'completed', check_run: { name, head_sha: head } }, 'guid-2');
  expect(fixture.decided.get('guid-2')).toMatchObject({ did: [did] });
});

test('a change of the checks of another commit wakes nothing', async () => {
  await fixture.push(fixture.commit());
  await fixture.receive('status', { sha: 'f'.repeat(40), context: 'build' }, 'guid-2');
  expect(fixture.decided.get('guid-2')).toMatchObject({ did: ['nothing waits'] });
});

test('an event of a check before its push requests nothing', async () => {
  const head = fixture.commit();
  await fixture.receive('status', { sha: head, context: 'build' }, 'guid-2');
  expect(fixture.intents()).toEqual([]);
});
