import type { Clock } from '../../clock.ts';
import type { LeashedProcess } from './leashed-process.ts';
import { lineBudget, usualBounds, type LineBounds } from './line-budget.ts';
import type { LogLevel, WriteLine } from './log-line.ts';
import type { Mask } from './mask.ts';
import { readLines } from './output-lines.ts';

export interface ProcessLogSettings {
  write: WriteLine;
  mask: Mask;
  clock: Clock;
  /** The level of what the process writes to its standard error; where it is `error`, `warning: …` is a warning. */
  errorLevel: LogLevel;
  bounds?: LineBounds;
}

/** Characters of a line that are told. */
const longestTold = 4_000;

/**
 * Writes what a process says into a log, line by line, masked and bounded.
 *
 * @returns resolves when the process has said its last word.
 */
export async function logProcess(
  { stdout, stderr }: Pick<LeashedProcess, 'stdout' | 'stderr'>,
  { write, mask, clock, errorLevel, bounds = usualBounds }: ProcessLogSettings,
): Promise<void> {
  const budget = lineBudget(write, clock, bounds);
  const teller =
    (levelOf: (line: string) => LogLevel) =>
    (line: string, cut: boolean): void => {
      const masked = cut ? `${mask.cut(line)} [...]` : mask.whole(line);
      budget.tell(levelOf(line), masked.length > longestTold ? `${masked.slice(0, longestTold)} [...]` : masked);
    };
  const graver = (line: string): LogLevel =>
    errorLevel === 'error' && line.startsWith('warning: ') ? 'warning' : errorLevel;
  await Promise.all([
    readLines(
      stdout,
      teller(() => 'info'),
    ),
    readLines(stderr, teller(graver)),
  ]);
  budget.end();
}
