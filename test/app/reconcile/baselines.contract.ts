import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Intent } from '../../../app/reconcile/intent.ts';
import { LeaseLost, maxBaselines, type Baseline, type Lease, type WorkStore } from '../../../app/reconcile/store.ts';
import type { OpenedStore } from './store.contract.ts';
import { anIntent } from '../an-intent.ts';
import { commitOf, requestOf, start } from './requests.ts';

const id = 'deployment-1';

const baselineOf = (revisionId: string, testHash: string, more: Partial<Baseline> = {}): Baseline => ({
  revisionId,
  testHash,
  takenAt: start,
  answers: [{ answer: 'right', first_event_ms: null, total_ms: 60, nodes: ['talk'], tools: [] }],
  ...more,
});

/** What every store does with what tests measured of revisions. */
export function baselinesContract(open: () => Promise<OpenedStore>): void {
  let opened: OpenedStore;
  let store: WorkStore;
  beforeEach(async () => {
    opened = await open();
    store = opened.store;
    opened.setNow(start);
  });
  afterEach(() => opened.close());

  const leased = async (deploymentId = id): Promise<{ lease: Lease; intent: Intent }> => {
    const intent = await store.request(requestOf(commitOf('a'), { deploymentId }));
    const lease = await store.takeLease(deploymentId, 'one', 60_000);
    if (!intent || !lease) throw new Error('the request was known already, or the lease was not given');
    return { lease, intent };
  };

  describe('baselines', () => {
    test('are of one test on one revision of one deployment, and replaced by newer ones', async () => {
      const { lease } = await leased();
      const { lease: another } = await leased('deployment-2');
      const [one, two] = [baselineOf('r1', 'h1'), baselineOf('r1', 'h2')];
      await store.save(lease, { baselines: [one, two, baselineOf('r2', 'h1')] });
      await store.save(another, { baselines: [baselineOf('r1', 'h1', { takenAt: start + 5 })] });
      expect(await store.baselines(id, 'r1', ['h1', 'h2', 'h3'])).toEqual([one, two]);
      expect(await store.baselines(id, 'r1', ['h2'])).toEqual([two]);
      expect(await store.baselines(id, 'r1', [])).toEqual([]);
      const newer = baselineOf('r1', 'h1', { takenAt: start + 9, answers: [...one.answers, ...one.answers] });
      await store.save(lease, { baselines: [newer] });
      expect(await store.baselines(id, 'r1', ['h1'])).toEqual([newer]);
      const lost = { ...lease, holder: 'two' };
      await expect(store.save(lost, { baselines: [one] })).rejects.toThrow(LeaseLost);
      expect(await store.baselines(id, 'r1', ['h1'])).toEqual([newer]);
    });

    test('of a deployment are bounded: those that were taken first go', async () => {
      const { lease } = await leased();
      const hashes = Array.from({ length: maxBaselines + 2 }, (_, nth) => `h${nth}`);
      const baselines = hashes.map((hash, nth) => baselineOf('r1', hash, { takenAt: start + nth }));
      await store.save(lease, { baselines: baselines.slice(0, -2) });
      expect(await store.baselines(id, 'r1', hashes)).toHaveLength(maxBaselines);
      await store.save(lease, { baselines: baselines.slice(-2) });
      expect(await store.baselines(id, 'r1', hashes)).toHaveLength(maxBaselines);
      expect(await store.baselines(id, 'r1', ['h0', 'h1', 'h2'])).toEqual([baselines[2]]);
    });

    test('are pruned with the intents of their revision', async () => {
      const { lease, intent } = await leased();
      const kept = baselineOf('r1', 'h1');
      await store.save(lease, {
        intents: [anIntent('following', { ...intent, revisionId: 'r1' })],
        baselines: [kept, baselineOf('r0', 'h1'), baselineOf('r0', 'h2', { takenAt: start + 2 })],
      });
      expect(await store.forget(start, 50)).toBe(0);
      expect(await store.forget(start + 1, 50)).toBe(1);
      expect(await store.baselines(id, 'r0', ['h1', 'h2'])).toHaveLength(1);
      expect(await store.baselines(id, 'r1', ['h1'])).toEqual([kept]);
    });
  });
}
