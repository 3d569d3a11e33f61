import { steadyNow, type Clock } from '../../../kit/clock.ts';
import { hashToken, makeToken } from './session-token.ts';

/** How long a link is valid (ms). */
const validMs = 12 * 3_600_000;

/** The most links that are valid at the same time; the oldest expires. */
const mostLinks = 100;

/** The codes of one-time links. They are in memory only, so a link expires when the service that printed it stops. */
export function createSignInLinks(clock: Pick<Clock, 'now' | 'steadyNow'>) {
  const expiries = new Map<string, number>();
  const idOf = (code: string): string => hashToken(code).toString('hex');
  return {
    issue(): string {
      const code = makeToken();
      expiries.set(idOf(code), steadyNow(clock) + validMs);
      for (const [oldest] of expiries) if (expiries.size > mostLinks) expiries.delete(oldest);
      return code;
    },
    /** Uses up a code. @returns whether it was valid */
    use(code: string): boolean {
      const id = idOf(code);
      const expiry = expiries.get(id);
      expiries.delete(id);
      return expiry !== undefined && steadyNow(clock) < expiry;
    },
  };
}
