import { expect, test } from 'vitest';
import { AgentModel, says } from '../smoke/agent-model.ts';
import { goesLive, serviceError, type ControlModel } from './control-model.ts';
import { built, DeployFixture, first, github, hello, image, imaged, second, workflowOn } from './deploy-fixture.ts';
import type { RunOfTest } from './deploy-fixture.ts';
import { deadly, JournalInMemory, prepare, writes } from './killed-run.ts';

const third = 'c'.repeat(40);
const toSecond = { workflow: workflowOn(second), smokeTests: [hello] };
const risky = { ...toSecond, onFailure: 'rollback' as const };

/** Kills a run at its nth request of this kind, and returns what it kept. */
async function killed(
  fixture: DeployFixture,
  request: RunOfTest,
  at: [keyof ControlModel, 'before' | 'after', number?],
) {
  const [method, when, nth = 1] = at;
  const journal = new JournalInMemory();
  const { control, died } = deadly(fixture.control, nth, when, method);
  const end = await Promise.race([fixture.deploy({ ...request, control, further: control, journal }), died]);
  expect(end).toBe('killed');
  return journal;
}

test.each([false, true])(
  'goes back over no revision that others made meanwhile (If-Match: %s)',
  async (heedsIfLatest) => {
    const { fixture, agentAt } = await prepare({ wrong: ['r2'], builds: second });
    fixture.control.heedsIfLatest = heedsIfLatest;
    const request = { ...risky, agentAt };
    const { kept } = await killed(fixture, request, ['redeployRevision', 'before']);
    fixture.control.push(goesLive(third));
    await fixture.passes(60_000);
    const outcome = await fixture.deploy({ ...request, kept });
    const reason = { code: 'other-serves', active: 'r3', broken: 'r2' };
    expect(outcome).toMatchObject({ kind: 'broken', activeRevisionId: 'r3', rollback: { kind: 'impossible', reason } });
    expect(writes(fixture.control)).toEqual(['patch']);
  },
);

test('sends nothing where nobody could look whether it was sent', async () => {
  const { fixture, agentAt } = await prepare({ before: [first, second] });
  const request: RunOfTest = { mode: 'rollback', smokeTests: [hello], agentAt };
  const journal = await killed(fixture, request, ['redeployRevision', 'after']);
  const busy = serviceError('busy', 'list revisions', { status: 503 });
  fixture.control.fails('revisions', busy, { times: 13 });
  const outcome = await fixture.deploy({ ...request, journal, kept: journal.kept });
  expect(outcome).toMatchObject({ kind: 'failed', rollback: { reason: { code: 'service-error' } } });
  expect(writes(fixture.control)).toEqual(['redeploy']);
  expect(await fixture.deploy({ ...request, kept: journal.kept })).toMatchObject({ kind: 'rolled-back' });
  expect(writes(fixture.control)).toEqual(['redeploy']);
});

test('takes no deployment of others for the one that it was to create', async () => {
  const { fixture, agentAt } = await prepare({ before: [] });
  const request = { smokeTests: [hello], agentAt, desired: { ...github, secrets: [{ name: 'NEW', value: 'new' }] } };
  const { kept } = await killed(fixture, request, ['createDeployment', 'before']);
  fixture.control.has({ ...built, source_config: { repo_url: 'https://github.com/other/agent' } }, goesLive(third));
  await fixture.passes(60_000);
  expect(await fixture.deploy({ ...request, kept })).toMatchObject({ kind: 'refused', changed: false });
  expect(writes(fixture.control)).toEqual([]);
});

test('begins anew where the deployment is gone', async () => {
  const { fixture, agentAt } = await prepare({ builds: second });
  const request = { ...toSecond, agentAt };
  const { kept } = await killed(fixture, request, ['getRevision', 'before', 3]);
  fixture.control.service.deployment = undefined;
  expect(await fixture.deploy({ ...request, kept })).toMatchObject({ kind: 'deployed' });
  expect(writes(fixture.control)).toEqual(['patch', 'create']);
});

/** r1 is live, of an image, on a service that deploys no old revision again; r2 is wrong. */
async function ofImage() {
  const fixture = new DeployFixture();
  fixture.control.lacks.add('redeploy');
  fixture.control.has(imaged, goesLive());
  await fixture.passes(60_000);
  const [right, broken] = [new AgentModel(fixture.clock), new AgentModel(fixture.clock, says('good bye'))];
  const agentAt = () => (fixture.control.service.deployment?.active_revision_id === 'r2' ? broken : right);
  return { fixture, agentAt };
}

test('goes back to an image, and says that the former secrets are not known', async () => {
  const { fixture, agentAt } = await ofImage();
  const desired = { ...image, imageUri: 'registry.test/agent:2', secrets: [{ name: 'TOKEN', value: 'new-token' }] };
  const request = { desired, agentAt, smokeTests: [hello], onFailure: 'rollback' as const };
  const { kept, text } = await killed(fixture, request, ['redeployRevision', 'before']);
  expect(text).not.toContain('new-token');
  const outcome = await fixture.deploy({ ...request, kept });
  expect(outcome).toMatchObject({ kind: 'rolled-back', activeRevisionId: 'r3' });
  expect(outcome.notes).toEqual([expect.stringContaining('hides the former values of the secrets')]);
});

test.each([false, true])('goes back to an image once (idempotency keys: %s)', async (honoursKeys) => {
  const { fixture, agentAt } = await ofImage();
  fixture.control.honoursKeys = honoursKeys;
  const desired = { ...image, imageUri: 'registry.test/agent:2' };
  const request = { desired, agentAt, smokeTests: [hello], onFailure: 'rollback' as const };
  const { kept } = await killed(fixture, request, ['patchDeployment', 'after', 2]);
  expect(await fixture.deploy({ ...request, kept })).toMatchObject({ kind: 'rolled-back' });
  expect(fixture.control.service.revisions).toHaveLength(3);
});

test('decides about its held revision, though nothing is tested any more', async () => {
  const { fixture, agentAt } = await prepare({ holds: true, builds: second });
  const request = { ...toSecond, agentAt };
  const { kept } = await killed(fixture, request, ['getRevision', 'before', 3]);
  const outcome = await fixture.deploy({ ...request, smokeTests: [], kept });
  expect(outcome).toMatchObject({ kind: 'deployed', activeRevisionId: 'r2' });
  expect(writes(fixture.control)).toEqual(['patch', 'promote']);
});

test('keeps nothing of a request that was refused', async () => {
  const { fixture, agentAt } = await prepare({});
  fixture.control.fails('patch', serviceError('rejected', 'patch deployment', { status: 422 }));
  const journal = new JournalInMemory();
  expect(await fixture.deploy({ ...toSecond, agentAt, journal })).toMatchObject({ kind: 'refused' });
  expect([journal.text.includes('"sending"'), journal.kept]).toEqual([true, undefined]);
});

test('leaves what an earlier run kept until it has sent something itself', async () => {
  const { fixture, agentAt } = await prepare({ builds: second });
  const journal = await killed(fixture, { ...toSecond, agentAt }, ['getRevision', 'before', 3]);
  fixture.control.fails('list', serviceError('unauthorized', 'list deployments', { status: 401 }));
  expect(await fixture.deploy({ ...toSecond, agentAt, journal })).toMatchObject({ kind: 'refused' });
  expect(journal.kept?.deploy.state).toBe('following');
});

test.each<[what: string, change: RunOfTest]>([
  ['an invalid plan', { desired: { ...github, repoUrl: 'https://github.com/acme/other' } }],
  ['an obstacle', { mode: 'rollback', desired: { ...github, deploymentId: 'd1', name: 'another' } }],
  ['nothing to do for the live revision', { workflow: workflowOn(first) }],
])('leaves what an earlier run kept of another revision, after %s', async (_, change) => {
  const { fixture, agentAt } = await prepare({ builds: second, holds: true });
  const journal = await killed(fixture, { ...toSecond, agentAt }, ['getRevision', 'before', 3]);
  const outcome = await fixture.deploy({ ...toSecond, ...change, agentAt, journal });
  expect(outcome.changed).toBe(false);
  expect(journal.kept?.deploy).toMatchObject({ state: 'following', own: { revisionId: 'r2' } });
});

test('keeps nothing of an earlier run whose revision is live and tested', async () => {
  const { fixture, agentAt } = await prepare({ builds: second });
  const journal = await killed(fixture, { ...toSecond, agentAt }, ['getRevision', 'before', 3]);
  await fixture.passes(60_000);
  expect(await fixture.deploy({ ...toSecond, agentAt, journal })).toMatchObject({ kind: 'unchanged' });
  expect(journal.kept).toBeUndefined();
});
