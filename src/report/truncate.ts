import { truncateToBytes } from './summary.ts';

/** What GitHub takes for a summary or a text of a check run: characters, which are never more than bytes. */
export const checkLimitBytes = 65_535;

/**
 * Sections of Markdown one below the other, cut behind a line where they do not fit into `limitBytes`; `rest` is what
 * then says so. A block of code that is cut is closed.
 */
export function truncateSections(sections: readonly string[], limitBytes: number, rest: string): string {
  const whole = sections.join('\n\n').toWellFormed();
  if (Buffer.byteLength(whole) <= limitBytes) return whole;
  const kept: string[] = [];
  let left = limitBytes - Buffer.byteLength(rest) - 2;
  for (const section of sections) {
    const fits = truncateToBytes(section, left);
    if (fits) kept.push(fits);
    if (fits !== section) break;
    left -= Buffer.byteLength(fits) + 2;
  }
  return [...kept, rest].join('\n\n').toWellFormed();
}
