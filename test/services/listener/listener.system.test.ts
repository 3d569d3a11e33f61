import { loggerTo } from '../../logger.ts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/kit/clock.ts';
import { ClaimLost } from '../../../src/services/control/compute/compute.ts';
import { findListener, startListener, type RunningListener } from '../../../src/services/listener/listener.ts';
import { connectWork, type WorkClient } from '../../../src/services/listener/work-client.ts';
import { fromImage, openServiceFixture, refusalOf, type ServiceFixture } from '../control/service-fixture.ts';
import { fakeCompute, type FakeCompute } from './fake-compute.ts';

let fixture: ServiceFixture;
let work: WorkClient;
let clusters = 0;
const atTheEnd: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  fixture = await openServiceFixture({ clock: systemClock });
  work = connectWork(fixture.baseUrl, { apiKey: fixture.apiKey, userAgent: 'test' });
});
afterEach(async () => {
  for (const end of atTheEnd.splice(0)) await end();
});
afterAll(async () => {
  await work.close();
  await fixture.close();
});

const sleep = (ms: number): Promise<void> => systemClock.sleep(ms);

async function until<T>(find: () => Promise<T | undefined | false>): Promise<T> {
  for (const end = performance.now() + 120_000; performance.now() < end; await sleep(20)) {
    const found = await find();
    if (found) return found;
  }
  throw new Error('waited in vain');
}

/** A listener of its own, with processes that take its work. */
async function setup() {
  const found = await findListener(work, { computeId: `own-${(clusters += 1)}`, namespaces: undefined, version: '1' });
  const logged: string[] = [];
  return {
    logged,
    listenerId: found.id,
    begin: (
      compute: FakeCompute,
      more: { holder?: string; leaseSeconds?: number; work?: WorkClient } = {},
    ): RunningListener => {
      const listener = startListener({
        work,
        listenerId: found.id,
        compute,
        holder: 'one',
        atOnce: 2,
        leaseSeconds: 2,
        clock: systemClock,
        random: () => 0,
        log: loggerTo((message) => logged.push(message)),
        ...more,
      });
      atTheEnd.push(() => {
        listener.stop();
        return listener.ended;
      });
      return listener;
    },
    deploy: (changes: object = {}) =>
      fixture.control.createDeployment(fromImage({ ...changes, source_config: { listener_id: found.id } })),
  };
}

const revisionOf = (made: { id: string; latest_revision_id: string | null }) =>
  fixture.control.getRevision(made.id, made.latest_revision_id ?? '');
const becomes = (made: { id: string; latest_revision_id: string | null }, status: string) =>
  until(async () => {
    const revision = await revisionOf(made);
    return revision.status === status && revision;
  });
const newImage = (id: string) =>
  fixture.control.patchDeployment(id, { source_revision_config: { image_uri: 'registry.example.com/agent:2' } });

describe('finding its listener', () => {
  test('it is made, and found again', async () => {
    const wanted = { computeId: 'found', namespaces: ['a', 'b'], version: '1' };
    const made = await findListener(work, wanted);
    expect(made).toMatchObject({ compute_id: 'found', compute_config: { k8s_namespaces: ['a', 'b'] } });
    expect((await findListener(work, { ...wanted, namespaces: undefined })).id).toBe(made.id);
    expect(await findListener(work, { ...wanted, version: '2', namespaces: ['b'] })).toMatchObject({
      id: made.id,
      version: '2',
      compute_config: { k8s_namespaces: ['b'] },
    });
  });

  test('five that begin together have one', async () => {
    const wanted = { computeId: 'together', namespaces: undefined, version: '1' };
    const found = await Promise.all(Array.from({ length: 5 }, () => findListener(work, wanted)));
    expect(new Set(found.map(({ id }) => id)).size).toBe(1);
  });
});

describe('carrying out', () => {
  test('a revision is run with all that it takes, and is live', async () => {
    const { begin, deploy } = await setup();
    const compute = fakeCompute('running');
    begin(compute);
    const made = await deploy({ secrets: [{ name: 'WORD', value: 'a-secret' }] });
    await becomes(made, 'DEPLOYED');
    const [start] = compute.starts;
    expect(start?.spec).toMatchObject({
      deploymentId: made.id,
      revisionId: made.latest_revision_id,
      name: made.name,
      program: { kind: 'image', imageUri: 'registry.example.com/agent:1' },
      databaseUrl: '',
      secrets: [{ name: 'WORD', value: 'a-secret' }],
    });
    expect(await fixture.control.getDeployment(made.id)).toMatchObject({ active_revision_id: made.latest_revision_id });
  });

  test('a failure is reported with its reason, and the lines before it', async () => {
    const { begin, deploy } = await setup();
    const compute = fakeCompute();
    begin(compute);
    const made = await deploy();
    const start = await compute.nextStart();
    start.spec.log('warning', 'Pod agent-1: it has no image');
    start.end({ failed: 'The image is missing.' });
    expect(await becomes(made, 'DEPLOY_FAILED')).toMatchObject({ status_message: 'The image is missing.' });
    const { logs } = await fixture.control.deployLogs(made.id, made.latest_revision_id ?? '', {});
    expect(logs.map(({ message }) => message)).toEqual([
      'Starting the agent of image registry.example.com/agent:1.',
      'Pod agent-1: it has no image',
      'The image is missing.',
    ]);
  });

  test('what breaks down is a failure that says so', async () => {
    const { begin, deploy } = await setup();
    const compute = fakeCompute();
    begin(compute);
    const made = await deploy();
    (await compute.nextStart()).breakDown(new Error('no such cluster'));
    expect(await becomes(made, 'DEPLOY_FAILED')).toMatchObject({
      status_message: expect.stringContaining('no such cluster'),
    });
  });

  test('lines are there while it is still at work', async () => {
    const { begin, deploy } = await setup();
    const compute = fakeCompute();
    begin(compute);
    const made = await deploy();
    const start = await compute.nextStart();
    start.spec.log('info', '1 of 2 replicas are available');
    await until(async () => {
      const { logs } = await fixture.control.deployLogs(made.id, made.latest_revision_id ?? '', {});
      return logs.some(({ message }) => message === '1 of 2 replicas are available');
    });
    expect(await revisionOf(made)).toMatchObject({ status: 'DEPLOYING' });
    start.end('running');
    await becomes(made, 'DEPLOYED');
  });

  test('a lease is kept for as long as the work takes', async () => {
    const { begin, deploy } = await setup();
    const [one, two] = [fakeCompute(), fakeCompute('running')];
    begin(one);
    const made = await deploy();
    const start = await one.nextStart();
    begin(two, { holder: 'two' });
    await sleep(3_500);
    expect(two.starts).toEqual([]);
    start.end('running');
    await becomes(made, 'DEPLOYED');
  });

  test('an interrupted revision is broken off, and what it left is put back', async () => {
    const { begin, deploy } = await setup();
    const compute = fakeCompute();
    begin(compute);
    const made = await deploy();
    (await compute.nextStart()).end('running');
    await becomes(made, 'DEPLOYED');
    const next = await newImage(made.id);
    const start = await compute.nextStart();
    await fixture.control.interruptRevision(made.id, next.latest_revision_id ?? '');
    const back = await compute.nextStart();
    expect(start.signal.aborted && !(start.signal.reason instanceof ClaimLost)).toBe(true);
    // There is time to undo it.
    expect(start.hold?.lost.aborted).toBe(false);
    expect(back.spec.revisionId).toBe(made.latest_revision_id);
    back.end('running');
    expect(await revisionOf(next)).toMatchObject({ status: 'INTERRUPTED' });
  });

  test(
    'a deleted deployment is removed, as often as it takes, and gone',
    { meta: { claims: ['control.delete.deployment'] } },
    async () => {
      const { begin, deploy, logged } = await setup();
      const compute = fakeCompute('running');
      begin(compute);
      const made = await deploy();
      await becomes(made, 'DEPLOYED');
      compute.failingRemovals = 2;
      await fixture.control.deleteDeployment(made.id);
      await until(async () => compute.removed.length > 0);
      expect(compute.removed).toEqual([{ id: made.id, name: made.name, namespace: undefined }]);
      // The listener logs the reason once.
      expect(logged.filter((line) => line.includes('could not be removed'))).toEqual([
        `${made.name} could not be removed, which is tried again until it can: the cluster is away.`,
      ]);
      await until(async () => {
        await fixture.rollouts.settled();
        return (await refusalOf(fixture.control.getDeployment(made.id)).catch(() => undefined))?.status === 404;
      });
    },
  );
});

describe('several, and what becomes of one', () => {
  test('two take what there is between them, and each revision once', async () => {
    const { begin, deploy } = await setup();
    const [one, two] = [fakeCompute('running'), fakeCompute('running')];
    begin(one, { holder: 'one' });
    begin(two, { holder: 'two' });
    const made = await Promise.all(Array.from({ length: 6 }, () => deploy()));
    for (const each of made) await becomes(each, 'DEPLOYED');
    const started = [...one.starts, ...two.starts].map(({ spec }) => spec.revisionId);
    expect(started.toSorted()).toEqual(made.flatMap(({ latest_revision_id }) => latest_revision_id ?? []).toSorted());
  });

  test('one that leaves hands back what it is at, as it stands, and the other goes on', async () => {
    const { begin, deploy } = await setup();
    const [one, two] = [fakeCompute(), fakeCompute('running')];
    const leaving = begin(one, { leaseSeconds: 60 });
    const made = await deploy();
    const start = await one.nextStart();
    begin(two, { holder: 'two', leaseSeconds: 60 });
    const began = performance.now();
    leaving.stop();
    expect(await leaving.ended).toBeUndefined();
    expect(start.signal.reason).toBeInstanceOf(ClaimLost);
    await becomes(made, 'DEPLOYED');
    expect(performance.now() - began).toBeLessThan(8_000);
  });

  test('one whose lease was taken over touches nothing more, and is not heard', async () => {
    const { begin, deploy, listenerId } = await setup();
    const [one, two] = [fakeCompute(), fakeCompute()];
    // Its renewals do not arrive: it knows by its own clock when to stop.
    const deaf: WorkClient = { ...work, renew: (_l, _c, options) => never(options?.signal) };
    begin(one, { work: deaf });
    const made = await deploy();
    const start = await one.nextStart();
    start.hold?.check();
    await until(async () => start.signal.aborted);
    expect(start.signal.reason).toBeInstanceOf(ClaimLost);
    expect(start.hold?.lost.aborted).toBe(true);
    expect(() => start.hold?.check()).toThrow(ClaimLost);
    begin(two, { holder: 'two' });
    const next = await Promise.race([two.nextStart(), one.nextStart()]);
    next.end('running');
    await becomes(made, 'DEPLOYED');
    expect(listenerId).toBeDefined();
  });

  test('a key that is not let in ends it, with a sentence', async () => {
    const { listenerId, begin } = await setup();
    const stranger = connectWork(fixture.baseUrl, { apiKey: 'lf_0000000000000000_none', userAgent: 'test' });
    const listener = begin(fakeCompute(), { work: stranger });
    expect(await listener.ended).toContain('401');
    await stranger.close();
    expect(listenerId).toBeDefined();
  });

  test('retries an unreachable service until it responds', async () => {
    const { begin, deploy, logged } = await setup();
    const nowhere = connectWork('http://127.0.0.1:1', {
      apiKey: fixture.apiKey,
      userAgent: 'test',
      retry: { attempts: 1 },
    });
    let failures = 0;
    const flaky: WorkClient = {
      ...work,
      claim: (...requested) => ((failures += 1) <= 3 ? nowhere : work).claim(...requested),
    };
    const compute = fakeCompute('running');
    begin(compute, { work: flaky });
    await becomes(await deploy(), 'DEPLOYED');
    await nowhere.close();
    expect(logged.filter((line) => line.includes('Trying again'))).toHaveLength(1);
    expect(logged).toContain('The control service answers again.');
  });
});

function never(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));
}
