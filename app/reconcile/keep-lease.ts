import { pause } from '../../src/clock.ts';
import type { AppContext } from '../context.ts';
import { LeaseLost, type Lease } from './store.ts';

/**
 * Renews a lease again and again, so that a long step keeps it.
 *
 * @param lost called once another process holds it.
 * @returns ends it.
 */
export function keepLease(
  lease: Lease,
  leaseMs: number,
  { store, clock, log }: Pick<AppContext, 'store' | 'clock' | 'log'>,
  lost: () => void,
): () => void {
  const done = new AbortController();
  const renew = async (): Promise<void> => {
    for (;;) {
      await pause(clock, leaseMs / 3, done.signal);
      if (done.signal.aborted) return;
      try {
        await store.renewLease(lease, leaseMs);
      } catch (error) {
        if (error instanceof LeaseLost) {
          if (!done.signal.aborted) lost();
          return;
        }
        log(`the lease of deployment ${lease.deploymentId} was not renewed: ${String(error)}`);
      }
    }
  };
  void renew();
  return () => done.abort();
}
