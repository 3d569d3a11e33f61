import { steadyNow, type Clock } from '../../clock.ts';
import { hashToken, makeToken } from './session-token.ts';

/** How long a link is valid (ms). */
const validMs = 12 * 3_600_000;

/** The most links that are valid at the same time; the oldest ends. */
const mostLinks = 100;

/** The codes of one-time links. They are in memory only: a link ends with the service that printed it. */
export function createSignInLinks(clock: Pick<Clock, 'now' | 'steadyNow'>) {
  const ends = new Map<string, number>();
  const idOf = (code: string): string => hashToken(code).toString('hex');
  return {
    issue(): string {
      const code = makeToken();
      ends.set(idOf(code), steadyNow(clock) + validMs);
      for (const [oldest] of ends) if (ends.size > mostLinks) ends.delete(oldest);
      return code;
    },
    /** Whether the code was valid; it is not any more. */
    redeem(code: string): boolean {
      const id = idOf(code);
      const end = ends.get(id);
      ends.delete(id);
      return end !== undefined && steadyNow(clock) < end;
    },
  };
}
