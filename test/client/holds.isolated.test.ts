import nock from 'nock';
import { afterEach, describe, expect, test } from 'vitest';
import type { HoldDecision, Revision } from '../../src/contract/control/revision.ts';
import { decideHold } from '../../src/deploy/machine/decide-hold.ts';
import { type HoldState, holdStateOf } from '../../src/deploy/rules/hold-state.ts';
import { checkNothingPending, connectedControl, host } from './intercepted.ts';
import { deploymentId, deploymentReply, revisionId, revisionReply, serviceError } from './stand-in.ts';

const deploymentPath = `/v2/deployments/${deploymentId}`;

afterEach(checkNothingPending);

describe('a hold before traffic', () => {
  const revisionPath = `/api-host${deploymentPath}/revisions/${revisionId}`;

  test('is requested by a creation, a change and a redeploy', async () => {
    const client = connectedControl();
    const scope = nock(host, { reqheaders: { 'landfall-hold': '1800' } });
    scope.post('/api-host/v2/deployments').reply(201, deploymentReply);
    scope.patch(`/api-host${deploymentPath}`).reply(200, deploymentReply);
    scope.post(`${revisionPath}/redeploy`).reply(200, deploymentReply);
    const request = {
      name: 'support',
      source: 'github' as const,
      source_config: {},
      source_revision_config: {},
      secrets: [],
    };
    await client.createDeployment(request, { holdSeconds: 1_800 });
    await client.patchDeployment(deploymentId, {}, { holdSeconds: 1_800 });
    await client.redeployRevision(deploymentId, revisionId, { holdSeconds: 1_800 });
    expect(scope.isDone()).toBe(true);
  });

  test('is not requested without seconds', async () => {
    nock(host, { badheaders: ['landfall-hold'] })
      .patch(`/api-host${deploymentPath}`)
      .reply(200, deploymentReply);
    expect((await connectedControl().patchDeployment(deploymentId, {})).id).toBe(deploymentId);
  });

  const hold = {
    address: 'https://control.example.test/agents/d@r',
    ends_at: '2026-01-01T00:30:00Z',
    decision: null,
  };
  const held = { ...revisionReply, status: 'DEPLOYING', hold };
  const decided = (decision: HoldDecision) => ({ ...held, hold: { ...hold, decision } });
  const deciding = (decision: HoldDecision, client = connectedControl()) =>
    decideHold({
      deploymentId,
      revisionId,
      decision,
      why: 'It answered wrongly.',
      control: client,
      options: () => ({}),
    });

  test('is decided with the reason, again after a response that was lost', async () => {
    const scope = nock(host);
    scope.post(`${revisionPath}/discard`, { why: 'It answered wrongly.' }).replyWithError(new Error('reset'));
    scope.post(`${revisionPath}/discard`, { why: 'It answered wrongly.' }).reply(200, decided('discarded'));
    expect((await deciding('discarded')).kind).toBe('discarded');
  });

  test.each([
    ['another client decided otherwise', decided('discarded'), 'discarded'],
    ['it ended by itself', { ...held, status: 'DEPLOY_FAILED' }, 'ended'],
    ['it is not held yet', { ...held, hold: { ...hold, ends_at: null } }, 'pending'],
  ])('that is refused says what the revision says: %s', async (_, revision, state) => {
    nock(host).post(`${revisionPath}/promote`).reply(409, { detail: 'no' });
    nock(host).get(revisionPath).reply(200, revision);
    expect((await deciding('promoted')).kind).toBe(state);
  });

  test.each([
    ['the promotion took effect', decided('promoted'), 'promoted'],
    ['it did not', held, undefined],
  ])('whose responses are all lost is read from the revision: %s', async (_, revision, state) => {
    nock(host).post(`${revisionPath}/promote`).times(2).reply(502, '');
    nock(host).get(revisionPath).reply(200, revision);
    const found = deciding('promoted').then(
      ({ kind }) => kind,
      () => undefined,
    );
    expect(await found).toBe(state);
  });

  test('is not read from the revision where the key may not decide', async () => {
    nock(host).post(`${revisionPath}/promote`).reply(403, { detail: 'Forbidden' });
    expect(await serviceError(deciding('promoted'))).toMatchObject({ kind: 'unauthorized' });
  });

  test.each<[string, Partial<Revision>, HoldState]>([
    ['none', {}, { kind: 'none' }],
    ['held', { hold }, { kind: 'held', address: hold.address, endsAt: hold.ends_at }],
    [
      'held with a status that is not known yet',
      { status: 'WARMING', hold },
      { kind: 'held', address: hold.address, endsAt: hold.ends_at },
    ],
    ['promoted, and live', { status: 'DEPLOYED', hold: decided('promoted').hold }, { kind: 'promoted' }],
    ['interrupted', { status: 'INTERRUPTED', hold }, { kind: 'ended' }],
  ])('of a revision is read: %s', (_, revision, state) => {
    expect(holdStateOf({ status: 'DEPLOYING', ...revision })).toEqual(state);
  });
});
