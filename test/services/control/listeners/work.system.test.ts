import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Clock } from '../../../../src/kit/clock.ts';
import type { WorkClaim } from '../../../../src/contract/control/listener-work.ts';
import { maxLines } from '../../../../src/services/control/logs/repository.ts';
import { fromGit, fromImage, unknownId, openServiceFixture, refusalOf } from '../service-fixture.ts';
import type { ServiceFixture } from '../service-fixture.ts';

/** A clock that stands still until it is advanced. */
function handClock(): Clock & { goOn: (ms: number) => void } {
  let now = Date.UTC(2030, 0, 1);
  return { now: () => (now += 1), sleep: () => Promise.resolve(), goOn: (ms) => (now += ms) };
}

describe('over HTTP', () => {
  const clock = handClock();
  let fixture: ServiceFixture;
  let listeners = 0;
  beforeAll(async () => {
    fixture = await openServiceFixture({ clock });
  });
  afterAll(() => fixture.close());

  /** Creates a listener for each test, with deployments on request. */
  async function setup(namespaces: string[] = []) {
    const { id: listener } = await fixture.control.createListener({
      compute_type: 'k8s',
      compute_id: `cluster-${(listeners += 1)}`,
      compute_config: { k8s_namespaces: namespaces },
    });
    const claim = (holder = 'first', more = {}): Promise<WorkClaim | undefined> =>
      fixture.control.claimWork(listener, { holder, lease_seconds: 10, ...more });
    return {
      listener,
      claim,
      deploy: (changes: { secrets?: object[]; source_config?: object; secret_references?: object[] } = {}) =>
        fixture.control.createDeployment(
          fromImage({ ...changes, source_config: { listener_id: listener, ...changes.source_config } }),
        ),
      claimed: async (holder = 'first'): Promise<WorkClaim> => {
        const work = await claim(holder);
        if (!work) throw new Error('there is no work');
        return work;
      },
      report: (work: WorkClaim, status: string, more: object = {}) =>
        fixture.control.reportWork(listener, work.claim_id, { status, ...more }),
      renew: (work: WorkClaim) => fixture.control.renewClaim(listener, work.claim_id),
      release: (work: WorkClaim, query = {}) => fixture.control.releaseClaim(listener, work.claim_id, query),
    };
  }
  const revisionOf = (deployment: { id: string; latest_revision_id: string | null }) =>
    fixture.control.getRevision(deployment.id, deployment.latest_revision_id ?? '');
  const newImage = (id: string, tag: string) =>
    fixture.control.patchDeployment(id, { source_revision_config: { image_uri: `registry.example.com/agent:${tag}` } });

  test('a revision with a listener waits, and says for which', async () => {
    const { deploy } = await setup();
    const made = await deploy();
    await fixture.rollouts.settled();
    expect(await revisionOf(made)).toMatchObject({
      status: 'CREATING',
      status_message: expect.stringContaining(`cluster-${listeners}`),
    });
    expect(await fixture.control.getDeployment(made.id)).toMatchObject({ status: 'AWAITING_DATABASE' });
  });

  test('a listener has the time of its last request about work, to the minute', async () => {
    const { listener, claim } = await setup();
    const lastReport = async (): Promise<number | undefined> => {
      const { last_report_at } = await fixture.control.getListener(listener);
      return last_report_at == null ? undefined : Date.parse(last_report_at);
    };
    expect(await lastReport()).toBeUndefined();
    await claim();
    const first = await lastReport();
    expect(first).toEqual(expect.any(Number));
    clock.goOn(30_000);
    await claim();
    expect(await lastReport()).toBe(first);
    clock.goOn(40_000);
    await refusalOf(fixture.control.renewClaim(listener, unknownId()));
    expect(await lastReport()).toBeGreaterThan((first ?? 0) + 69_000);
  });

  test('a claim returns everything that the revision needs', async () => {
    const { deploy, claimed } = await setup(['agents', 'others']);
    const made = await deploy({
      secrets: [{ name: 'TOKEN', value: 'a-secret-value' }],
      secret_references: [{ name: 'KEY', secret_name: 'keys', secret_key: 'one' }],
      source_config: { resource_spec: { min_scale: 2 }, listener_config: { k8s_namespace: 'others' } },
    });
    const work = await claimed();
    expect(work).toEqual({
      claim_id: expect.any(String),
      expires_at: expect.any(String),
      lease_seconds: 10,
      deployment: { id: made.id, name: made.name, namespace: 'others' },
      revision: {
        id: made.latest_revision_id,
        image_uri: 'registry.example.com/agent:1',
        secrets: [{ name: 'TOKEN', value: 'a-secret-value' }],
        secret_references: [{ name: 'KEY', secret_name: 'keys', secret_key: 'one' }],
        resource_spec: { min_scale: 2 },
        deployment_type: null,
        tracing: { project_id: made.tracer_session_id, token: expect.stringMatching(/^lft_[\w-]{43}$/) },
      },
    });
    expect(await revisionOf(made)).toMatchObject({
      status: 'AWAITING_DEPLOY',
      status_message: expect.stringContaining('first'),
    });
  });

  test(
    'uses the requested namespace, else the listener’s first, and keeps it',
    { meta: { claims: ['control.listener-config.k8s-namespace-used'] } },
    async () => {
      const { listener, deploy, claimed, report } = await setup(['agents', 'others']);
      const made = await deploy();
      const first = await claimed();
      expect(first.deployment.namespace).toBe('agents');
      await report(first, 'DEPLOYED');
      await fixture.control.patchListener(listener, { compute_config: { k8s_namespaces: ['others', 'agents'] } });
      await newImage(made.id, '2');
      expect((await claimed()).deployment.namespace).toBe('agents');
      expect((await (await setup()).claim())?.deployment.namespace).toBeUndefined();
    },
  );

  test(
    'only a DEPLOYED revision is live',
    { meta: { claims: ['control.deployment.active-revision-is-deployed'] } },
    async () => {
      const { deploy, claimed, report, claim } = await setup();
      const made = await deploy();
      const work = await claimed();
      await report(work, 'DEPLOYING');
      expect(await revisionOf(made)).toMatchObject({ status: 'DEPLOYING' });
      expect(await fixture.control.getDeployment(made.id)).toMatchObject({ active_revision_id: null });
      await report(work, 'DEPLOYED', { image_version: '0.9' });
      expect(await fixture.control.getDeployment(made.id)).toMatchObject({
        status: 'READY',
        active_revision_id: made.latest_revision_id,
        image_version: '0.9',
      });
      expect(await claim()).toBeUndefined();
    },
  );

  test('a failure says why, and the live revision stays', async () => {
    const { deploy, claimed, report } = await setup();
    const made = await deploy();
    await report(await claimed(), 'DEPLOYED');
    const changed = await newImage(made.id, 'broken');
    await report(await claimed(), 'DEPLOY_FAILED', { message: 'Back-off pulling image' });
    expect(await revisionOf(changed)).toMatchObject({
      status: 'DEPLOY_FAILED',
      status_message: 'Back-off pulling image',
    });
    expect(await fixture.control.getDeployment(made.id)).toMatchObject({
      active_revision_id: made.latest_revision_id,
      latest_revision_id: changed.latest_revision_id,
    });
  });

  test('queues the next revision while one runs, and starts only the newest', async () => {
    const { deploy, claimed, report, claim } = await setup();
    const made = await deploy();
    const work = await claimed();
    const second = await newImage(made.id, '2');
    await fixture.rollouts.settled();
    expect(await revisionOf(second)).toMatchObject({ status: 'QUEUED' });
    const third = await newImage(made.id, '3');
    expect(await claim('second')).toBeUndefined();
    await report(work, 'DEPLOYED');
    expect((await claimed()).revision).toMatchObject({ id: third.latest_revision_id });
    expect(await revisionOf(second)).toMatchObject({
      status: 'SKIPPED',
      status_message: expect.stringContaining(third.latest_revision_id ?? ''),
    });
  });

  test('ten concurrent claims get each revision once', async () => {
    const { deploy, claim } = await setup();
    const made = [await deploy(), await deploy(), await deploy()];
    const claims = await Promise.all(Array.from({ length: 10 }, (_, at) => claim(`holder-${at}`)));
    const got = claims.flatMap((work) => work?.deployment.id ?? []);
    expect(got.toSorted()).toEqual(made.map(({ id }) => id).toSorted());
  });

  test('an expired lease is taken over, and reports of the former holder are refused', async () => {
    const { deploy, claimed, report, renew, release, claim } = await setup();
    const made = await deploy();
    const former = await claimed('former');
    await report(former, 'DEPLOYING');
    clock.goOn(9_000);
    expect(await claim('next')).toBeUndefined();
    clock.goOn(1_500);
    const next = await claimed('next');
    expect(next.revision?.id).toBe(former.revision?.id);
    expect(await revisionOf(made)).toMatchObject({
      status: 'AWAITING_DEPLOY',
      status_message: expect.stringContaining('former'),
    });
    const late = { status: 409, detail: expect.stringContaining('This claim has ended') };
    expect(await refusalOf(report(former, 'DEPLOYED'))).toMatchObject(late);
    expect(await refusalOf(renew(former))).toMatchObject(late);
    expect(await refusalOf(release(former))).toMatchObject(late);
    await report(next, 'DEPLOYED');
    expect(await revisionOf(made)).toMatchObject({ status: 'DEPLOYED' });
  });

  test('setting the clock back by a day does not extend a lease', async () => {
    const { deploy, claim, claimed } = await setup();
    await deploy();
    await claimed('first');
    clock.goOn(-24 * 60 * 60_000);
    expect(await claim('second')).toBeUndefined();
    clock.goOn(10_001);
    expect(await claim('second')).toBeDefined();
    clock.goOn(24 * 60 * 60_000);
  });

  test('renewals and reports extend a lease, even an expired one that is still free', async () => {
    const { deploy, claimed, report, renew, claim } = await setup();
    await deploy();
    const work = await claimed();
    clock.goOn(9_000);
    await renew(work);
    clock.goOn(9_000);
    await report(work, 'DEPLOYING');
    clock.goOn(9_000);
    expect(await claim('next')).toBeUndefined();
    clock.goOn(5_000);
    expect(await renew(work)).toMatchObject({ wanted: true });
    expect(await claim('next')).toBeUndefined();
  });

  test('released work is free at once', async () => {
    const { deploy, claimed, report, release } = await setup();
    const made = await deploy();
    const work = await claimed('first');
    await report(work, 'DEPLOYING');
    await release(work);
    expect(await revisionOf(made)).toMatchObject({ status: 'AWAITING_DEPLOY' });
    expect((await claimed('second')).revision?.id).toBe(made.latest_revision_id);
    expect(await refusalOf(report(work, 'DEPLOYED'))).toMatchObject({ status: 409 });
  });

  test('a repeated report is accepted after a lost response', async () => {
    const { deploy, claimed, report } = await setup();
    const made = await deploy();
    const work = await claimed();
    await report(work, 'DEPLOYED');
    expect(await report(work, 'DEPLOYED')).toMatchObject({ claim_id: work.claim_id });
    expect(await refusalOf(report(work, 'DEPLOY_FAILED', { message: 'no' }))).toMatchObject({ status: 409 });
    expect(await revisionOf(made)).toMatchObject({ status: 'DEPLOYED' });
  });

  test(
    'keeps log lines in order, once each, without secrets',
    { meta: { claims: ['control.logs.deploy'] } },
    async () => {
      const { deploy, claimed, report } = await setup();
      const made = await deploy({ secrets: [{ name: 'TOKEN', value: 'swordfish-42' }] });
      const work = await claimed();
      const line = (sequence: number, message: string) => ({ sequence, level: 'info', message });
      await report(work, 'DEPLOYING', { log: [line(1, 'one'), line(2, 'two swordfish-42')] });
      await report(work, 'DEPLOYING', { log: [line(1, 'one'), line(2, 'two again'), line(3, 'three')] });
      await report(work, 'DEPLOY_FAILED', { message: 'It said swordfish-42.', log: [line(5, 'five')] });
      const { logs } = await fixture.control.deployLogs(made.id, made.latest_revision_id ?? '', {});
      expect(logs.map(({ message }) => message)).toEqual(['one', 'two ***', 'three', 'five', 'It said ***.']);
      expect(await revisionOf(made)).toMatchObject({ status_message: 'It said ***.' });
    },
  );

  test('the holder of an interrupted one is notified and releases it; the next waits', async () => {
    const { deploy, claimed, report, renew, release, claim } = await setup();
    const made = await deploy();
    const work = await claimed();
    await report(work, 'DEPLOYING');
    await fixture.control.interruptRevision(made.id, made.latest_revision_id ?? '');
    const next = await newImage(made.id, '2');
    expect(await claim('second')).toBeUndefined();
    expect(await renew(work)).toMatchObject({ wanted: false });
    expect(await refusalOf(report(work, 'DEPLOYED'))).toMatchObject({
      status: 409,
      detail: expect.stringContaining('INTERRUPTED'),
    });
    await release(work);
    expect((await claim('second'))?.revision?.id).toBe(next.latest_revision_id);
    expect(await revisionOf(made)).toMatchObject({ status: 'INTERRUPTED' });
  });

  test('an interrupted one is rolled back to the live one, or removed without one', async () => {
    const { deploy, claimed, report, release, claim } = await setup();
    const made = await deploy();
    const first = await claimed();
    await fixture.control.interruptRevision(made.id, made.latest_revision_id ?? '');
    await release(first);
    const removal = await claimed();
    expect(removal).toMatchObject({ deployment: { id: made.id }, revision: null });
    await report(removal, 'REMOVED');
    expect(await claim()).toBeUndefined();
    expect(await fixture.control.getDeployment(made.id)).toMatchObject({ id: made.id });

    const live = await newImage(made.id, '2');
    await report(await claimed(), 'DEPLOYED');
    const next = await newImage(made.id, '3');
    const lost = await claimed();
    await report(lost, 'DEPLOYING');
    await fixture.control.interruptRevision(made.id, next.latest_revision_id ?? '');
    clock.goOn(11_000);
    const back = await claimed();
    expect(back.revision).toMatchObject({ id: live.latest_revision_id });
    await report(back, 'DEPLOYING');
    await report(back, 'DEPLOYED');
    expect(await revisionOf(next)).toMatchObject({ status: 'INTERRUPTED' });
    expect(await fixture.control.getDeployment(made.id)).toMatchObject({ active_revision_id: live.latest_revision_id });
    expect(await claim()).toBeUndefined();
  });

  test('one that left nothing in the cluster needs no rollback', async () => {
    const { deploy, claimed, release, claim } = await setup();
    const made = await deploy();
    const work = await claimed();
    await fixture.control.interruptRevision(made.id, made.latest_revision_id ?? '');
    await release(work, { undone: true });
    expect(await claim()).toBeUndefined();
  });

  test('the failure of one that was taken over is rolled back too', async () => {
    const { deploy, claimed, report, claim } = await setup();
    const made = await deploy();
    await report(await claimed(), 'DEPLOYED');
    await newImage(made.id, '2');
    await report(await claimed('former'), 'DEPLOYING');
    clock.goOn(11_000);
    await report(await claimed('next'), 'DEPLOY_FAILED', { message: 'It does not start.' });
    const back = await claimed('next');
    expect(back.revision).toMatchObject({ id: made.latest_revision_id });
    await report(back, 'DEPLOYED');
    expect(await claim()).toBeUndefined();
  });

  test('a failed rollback shows on the live revision and is retried with backoff', async () => {
    const { deploy, claimed, report, release, claim } = await setup();
    const made = await deploy();
    await report(await claimed(), 'DEPLOYED');
    const next = await newImage(made.id, '2');
    const lost = await claimed();
    await fixture.control.interruptRevision(made.id, next.latest_revision_id ?? '');
    await release(lost);
    const back = await claimed();
    expect(back.revision).toMatchObject({ id: made.latest_revision_id });
    await report(back, 'DEPLOY_FAILED', { message: 'The cluster has no room.' });
    expect(await revisionOf(made)).toMatchObject({
      status: 'DEPLOYED',
      status_message:
        'This revision could not be restored in the cluster; it is tried again. Reason: The cluster has no room.',
    });
    expect(await claim()).toBeUndefined();
    clock.goOn(60_000);
    await report(await claimed(), 'DEPLOY_FAILED', { message: 'The cluster has no room.' });
    clock.goOn(50_000);
    expect(await claim()).toBeUndefined();
    clock.goOn(15_000);
    await report(await claimed(), 'DEPLOYED');
    expect(await revisionOf(made)).toMatchObject({ status: 'DEPLOYED', status_message: null });
    clock.goOn(700_000);
    expect(await claim()).toBeUndefined();
  });

  test('a new revision does not wait for a failed rollback', async () => {
    const { deploy, claimed, report, release } = await setup();
    const made = await deploy();
    await report(await claimed(), 'DEPLOYED');
    const next = await newImage(made.id, '2');
    const lost = await claimed();
    await fixture.control.interruptRevision(made.id, next.latest_revision_id ?? '');
    await release(lost);
    await report(await claimed(), 'DEPLOY_FAILED', { message: 'The cluster has no room.' });
    const newest = await newImage(made.id, '3');
    expect((await claimed()).revision).toMatchObject({ id: newest.latest_revision_id });
  });

  test('a deployment in a cluster gets no address if the service does not serve it', async () => {
    const { deploy } = await setup();
    expect(await deploy()).toMatchObject({ url: null, source_config: { custom_url: null } });
    const custom_url = 'https://support.acme.example';
    expect(await deploy({ source_config: { custom_url } })).toMatchObject({ url: custom_url });
    // The service serves what it runs itself.
    fixture.rollouts.fate = 'held';
    const own = await fixture.control.createDeployment(fromImage());
    fixture.rollouts.fate = 'live';
    expect(own.url).toMatch(new RegExp(`/agents/${own.id}$`));
  });

  test(
    'the listener carries a deletion out and reports its end',
    { meta: { claims: ['control.delete.deployment'] } },
    async () => {
      const { deploy, claimed, report, claim } = await setup();
      const made = await deploy();
      await report(await claimed(), 'DEPLOYED');
      await fixture.control.deleteDeployment(made.id);
      expect(await fixture.control.getDeployment(made.id)).toMatchObject({ status: 'AWAITING_DELETE' });
      const work = await claimed();
      expect(work).toMatchObject({ deployment: { id: made.id, name: made.name }, revision: null });
      expect(await refusalOf(report(work, 'DEPLOYED'))).toMatchObject({ status: 409 });
      await fixture.rollouts.settled();
      expect(await fixture.control.getDeployment(made.id)).toMatchObject({ status: 'AWAITING_DELETE' });
      await report(work, 'REMOVED');
      await fixture.rollouts.settled();
      expect(await refusalOf(fixture.control.getDeployment(made.id))).toMatchObject({ status: 404 });
      expect(await refusalOf(report(work, 'REMOVED'))).toMatchObject({ status: 409 });
      expect(await claim()).toBeUndefined();
    },
  );

  test('a deletion waits for the holder of a running revision, then goes first', async () => {
    const { deploy, claimed, release, renew, claim } = await setup();
    const made = await deploy();
    const work = await claimed();
    await fixture.control.deleteDeployment(made.id);
    expect(await claim('second')).toBeUndefined();
    expect(await renew(work)).toMatchObject({ wanted: false });
    await release(work);
    expect(await claim('second')).toMatchObject({ revision: null });
  });

  test('keeps the newest 20,000 reported lines, as for all other logs', async () => {
    const { deploy, claimed, report } = await setup();
    const made = await deploy();
    const revision = made.latest_revision_id ?? '';
    const work = await claimed();
    for (let from = 0; from < maxLines; from += 5_000) {
      const lines = Array.from({ length: 5_000 }, (_, at) => ({ level: 'info', message: `old ${from + at}` }));
      await fixture.store.appendLog(revision, 'deploy', lines);
    }
    const reported = (first: number, count: number) =>
      Array.from({ length: count }, (_, at) => ({ sequence: first + at, level: 'info', message: `new ${first + at}` }));
    const oldest = async () =>
      (await fixture.control.deployLogs(made.id, revision, { order: 'asc', limit: 1 })).logs[0];
    await report(work, 'DEPLOYING', { log: reported(1, 3) });
    expect(await oldest()).toMatchObject({ message: 'old 3' });
    await report(work, 'DEPLOYING', { log: reported(4, 500) });
    await report(work, 'DEPLOYING', { log: reported(504, 500) });
    expect(await oldest()).toMatchObject({ message: 'old 1003' });
    const newest = await fixture.control.deployLogs(made.id, revision, { order: 'desc', limit: 1 });
    expect(newest.logs[0]).toMatchObject({ message: 'new 1003' });
  });

  test('what no listener ever took is deleted without one', async () => {
    const { deploy, claim } = await setup();
    const made = await deploy();
    await fixture.control.deleteDeployment(made.id);
    expect(await claim()).toBeUndefined();
    await fixture.rollouts.settled();
    expect(await refusalOf(fixture.control.getDeployment(made.id))).toMatchObject({ status: 404 });
  });

  test('deletes a deployment of a lost cluster without its listener on request', async () => {
    const { deploy, claimed, report, claim, listener, renew } = await setup();
    const [made, other] = [await deploy(), await deploy()];
    for (const _ of [made, other]) await report(await claimed(), 'DEPLOYED');
    await fixture.control.deleteDeployment(made.id);
    const work = await claimed();
    expect(await fixture.control.getDeployment(made.id)).toMatchObject({
      status: 'AWAITING_DELETE',
      status_message: expect.stringContaining('without_listener=true'),
    });
    await fixture.control.deleteDeployment(made.id, { without_listener: true });
    await fixture.control.deleteDeployments({ deployment_ids: [other.id], without_listener: true });
    await fixture.rollouts.settled();
    for (const { id } of [made, other]) {
      expect(await refusalOf(fixture.control.getDeployment(id))).toMatchObject({ status: 404 });
    }
    expect(await refusalOf(renew(work))).toMatchObject({ status: 409 });
    expect(await claim()).toBeUndefined();
    await fixture.control.deleteListener(listener);
  });

  test('REMOVED is refused for a revision', async () => {
    const { deploy, claimed, report } = await setup();
    await deploy();
    expect(await refusalOf(report(await claimed(), 'REMOVED'))).toMatchObject({ status: 409 });
  });

  test('work is fair: the one started last comes last', async () => {
    const { deploy, claimed, release } = await setup();
    const [one, two] = [await deploy(), await deploy()];
    const first = await claimed();
    await release(first);
    const second = await claimed();
    await release(second);
    expect([first.deployment.id, second.deployment.id].toSorted()).toEqual([one.id, two.id].toSorted());
    expect((await claimed()).deployment.id).toBe(first.deployment.id);
  });

  test('a waiting claim gets new work at once', async () => {
    const { deploy, claim } = await setup();
    const began = performance.now();
    const waiting = claim('patient', { wait_seconds: 20 });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const made = await deploy();
    expect((await waiting)?.deployment.id).toBe(made.id);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  test('a waiting claim ends empty after its time', async () => {
    const { claim } = await setup();
    const began = performance.now();
    expect(await claim('patient', { wait_seconds: 1 })).toBeUndefined();
    expect(performance.now() - began).toBeGreaterThan(900);
  });

  test('work without a listener, or of another one, is never claimed', async () => {
    const [mine, others] = [await setup(), await setup()];
    await others.deploy();
    fixture.rollouts.fate = 'held';
    await fixture.control.createDeployment(fromImage());
    await fixture.control.createDeployment(fromGit());
    fixture.rollouts.fate = 'live';
    expect(await mine.claim()).toBeUndefined();
    expect(await others.claim()).toBeDefined();
  });

  test('the service takes no work that has a listener', async () => {
    const { deploy, claimed, report } = await setup();
    const made = await deploy();
    expect(await fixture.store.claimNextRevision(made.id)).toBeUndefined();
    expect(await fixture.store.deploymentsWithWork()).not.toContain(made.id);
    await report(await claimed(), 'DEPLOYED');
    const served = (await fixture.store.activeRevisions()).map(({ deployment }) => deployment.id);
    expect(served).not.toContain(made.id);
  });

  test.each([
    ['no holder', {}, 'body.holder'],
    ['a wait of 31 s', { holder: 'me', wait_seconds: 31 }, 'body.wait_seconds'],
    ['a lease of a second', { holder: 'me', lease_seconds: 1 }, 'body.lease_seconds'],
    ['a lease of an hour', { holder: 'me', lease_seconds: 3_600 }, 'body.lease_seconds'],
  ])('a claim with %s is a 422', async (_, body, at) => {
    const { listener } = await setup();
    expect(await refusalOf(fixture.control.claimWork(listener, body))).toMatchObject({ status: 422, at: [at] });
  });

  test.each([
    ['another status', { status: 'QUEUED' }, 422],
    ['a failure without a reason', { status: 'DEPLOY_FAILED' }, 400],
    [
      'lines out of order',
      { status: 'DEPLOYING', log: [2, 2].map((sequence) => ({ sequence, level: 'info', message: '' })) },
      400,
    ],
    ['a line of level 9', { status: 'DEPLOYING', log: [{ sequence: 1, level: '9', message: '' }] }, 422],
  ])('a report of %s is refused', async (_, body, status) => {
    const { listener, deploy, claimed } = await setup();
    await deploy();
    const { claim_id } = await claimed();
    expect(await refusalOf(fixture.control.reportWork(listener, claim_id, body))).toMatchObject({ status });
  });

  test('a claim of another listener, of another tenant or without an owner is a 404', async () => {
    const [mine, others] = [await setup(), await setup()];
    await mine.deploy();
    const { claim_id } = await mine.claimed();
    expect(await refusalOf(fixture.control.renewClaim(others.listener, claim_id))).toMatchObject({ status: 409 });
    expect(await refusalOf(fixture.stranger.renewClaim(mine.listener, claim_id))).toMatchObject({ status: 404 });
    expect(await refusalOf(fixture.control.renewClaim(mine.listener, unknownId()))).toMatchObject({ status: 409 });
    expect(await refusalOf(fixture.control.renewClaim(mine.listener, 'none'))).toMatchObject({ status: 422 });
  });
});
