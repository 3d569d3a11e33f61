import { backoffMs } from '../clock.ts';

const shortestMs = 500;
const longestMs = 30_000;

/**
 * How long to wait after so many failures in a row (ms): longer each time, never the same for two of several that failed
 * together, and for as long as the server requests.
 *
 * @param random from 0 to 1.
 */
export function retryDelayMs(failures: number, random: number, requestedMs = 0): number {
  const most = backoffMs(failures, shortestMs, longestMs);
  return Math.max(requestedMs, most * (0.5 + random / 2));
}
