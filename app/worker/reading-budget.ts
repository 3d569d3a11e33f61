import { type Clock, steadyNow } from '../../src/kit/clock.ts';
import type { InputOwner } from './turns.ts';

/** How long reading may take within an hour (ms); a usual deploy file takes a few hundredths of a second. */
const repositoryMs = 2 * 60_000;
const installationMs = 5 * repositoryMs;

/** The files of an installation count as slow from this time on (ms). */
const slowMs = 20_000;

const hourMs = 60 * 60_000;

/** Limits how long the files of each repository and each installation are read within an hour. */
export interface ReadingBudget {
  /** How long until files of the owner may be read again (ms); undefined if they may be read now. */
  wait(owner: InputOwner): number | undefined;
  spend(owner: InputOwner, ms: number): void;
  /** Whether the files of an installation were slow within this hour, so that others must be protected from it. */
  isSlow(installationId: number): boolean;
}

/** Counts in memory; a restart resets the counts. */
export function createReadingBudget(clock: Pick<Clock, 'now' | 'steadyNow'>): ReadingBudget {
  const hours = new Map<string, { since: number; spentMs: number }>();
  const removeExpired = (now: number): void => {
    for (const [key, { since }] of hours) if (now - since >= hourMs) hours.delete(key);
  };
  const limitsOf = ({ installationId, repositoryId }: InputOwner): [key: string, limitMs: number][] => [
    [`repository ${repositoryId}`, repositoryMs],
    [`installation ${installationId}`, installationMs],
  ];
  return {
    wait(owner) {
      const now = steadyNow(clock);
      removeExpired(now);
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
      removeExpired(steadyNow(clock));
      return (hours.get(`installation ${installationId}`)?.spentMs ?? 0) >= slowMs;
    },
  };
}
