import { type Clock, steadyNow } from '../../src/kit/clock.ts';
import type { InputOwner } from './turns.ts';

/** What reading may take within an hour (ms); an ordinary deploy file takes some hundredths of a second. */
const repositoryMs = 2 * 60_000;
const installationMs = 5 * repositoryMs;

/** From here on the files of an installation count as slow (ms). */
const slowMs = 20_000;

const hourMs = 60 * 60_000;

/** How long the files of each repository, and those of each installation, have been read within an hour. */
export interface ReadingBudget {
  /** How long until the owner may have files read again (ms); undefined where it may now. */
  wait(owner: InputOwner): number | undefined;
  spend(owner: InputOwner, ms: number): void;
  /** Whether the files of an installation have taken so long within this hour that others are to be kept from it. */
  isSlow(installationId: number): boolean;
}

/** Counts in the memory of this process: a restart begins anew. */
export function createReadingBudget(clock: Pick<Clock, 'now' | 'steadyNow'>): ReadingBudget {
  const hours = new Map<string, { since: number; spentMs: number }>();
  const forgetOld = (now: number): void => {
    for (const [key, { since }] of hours) if (now - since >= hourMs) hours.delete(key);
  };
  const limitsOf = ({ installationId, repositoryId }: InputOwner): [key: string, limitMs: number][] => [
    [`repository ${repositoryId}`, repositoryMs],
    [`installation ${installationId}`, installationMs],
  ];
  return {
    wait(owner) {
      const now = steadyNow(clock);
      forgetOld(now);
      const waits = limitsOf(owner).flatMap(([key, limitMs]) => {
        const hour = hours.get(key);
        return hour !== undefined && hour.spentMs >= limitMs ? [hour.since + hourMs - now] : [];
      });
      return waits.length > 0 ? Math.max(...waits) : undefined;
    },
    spend(owner, ms) {
      const now = steadyNow(clock);
      for (const [key] of limitsOf(owner)) {
        const hour = hours.get(key) ?? { since: now, spentMs: 0 };
        hours.set(key, { ...hour, spentMs: hour.spentMs + ms });
      }
    },
    isSlow(installationId) {
      forgetOld(steadyNow(clock));
      return (hours.get(`installation ${installationId}`)?.spentMs ?? 0) >= slowMs;
    },
  };
}
