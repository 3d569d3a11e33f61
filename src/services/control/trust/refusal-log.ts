import { steadyNow, type Clock } from '../../../kit/clock.ts';
import type { Logger } from '../../../kit/logger.ts';
import { asOneLine } from '../../../kit/plain-text.ts';

interface RefusalLogDependencies {
  log: Pick<Logger, 'warn'>;
  clock: Pick<Clock, 'now' | 'steadyNow'>;
}

interface Refusal {
  status: number;
  detail: string;
}

/** How many refusals are logged in an interval (ms). Anybody may send tokens, and must not fill the log with them. */
const maxLines = 10;
const intervalMs = 60_000;
const maxLength = 600;

/** Logs refused exchanges, a bounded number of them; each line says how many there were since the service started. */
export function createRefusalLog({ log, clock }: RefusalLogDependencies): (refusal: Refusal) => void {
  let since = -Infinity;
  let logged = 0;
  let omitted = 0;
  let total = 0;
  return ({ status, detail }) => {
    total += 1;
    if (steadyNow(clock) - since >= intervalMs) {
      since = steadyNow(clock);
      logged = 0;
    }
    if (logged >= maxLines) {
      omitted += 1;
      return;
    }
    logged += 1;
    const more = omitted === 0 ? '' : ` Before it, ${omitted} more were refused.`;
    log.warn({ status, refused: total, omitted }, `No key for a token: ${asOneLine(detail, maxLength)}${more}`);
    omitted = 0;
  };
}
