import type { Clock } from '../../clock.ts';
import type { Mask } from '../../contract/mask.ts';
import type { GuardedProcess } from './guarded-process.ts';
import { lineBudget, usualBounds, type LineBounds } from './line-budget.ts';
import type { LogLevel, WriteLine } from './log-line.ts';
import { plainLine, readLines, type OutputLine } from './output-lines.ts';
import { sharedReadRate, type ReadRate } from './read-rate.ts';

export interface ProcessLogSettings {
  write: WriteLine;
  mask: Mask;
  clock: Clock;
  /** The level of the process's standard error; with `error`, lines of `warning: …` are warnings. */
  errorLevel: LogLevel;
  bounds?: LineBounds;
  /** The rate limit of its output, both streams together. */
  rate?: ReadRate;
}

/** The most characters of a line that are logged. */
const maxLineLength = 4_000;

/**
 * Writes a process's output into a log, line by line, masked and with limits.
 *
 * @returns resolves when the process has closed its output.
 */
export async function logProcess(
  { stdout, stderr }: Pick<GuardedProcess, 'stdout' | 'stderr'>,
  { write, mask, clock, errorLevel, bounds = usualBounds, rate = sharedReadRate() }: ProcessLogSettings,
): Promise<void> {
  const writeLine = ({ text, cut, level }: OutputLine & { level: LogLevel }): void => {
    const line = plainLine(text);
    if (line === '') return;
    const masked = mask(line, { cut });
    const isWarning = level === 'error' && line.startsWith('warning: ');
    const isShort = !cut && masked.length <= maxLineLength;
    write(isWarning ? 'warning' : level, isShort ? masked : `${masked.slice(0, maxLineLength)} [...]`);
  };
  const budget = lineBudget(writeLine, (message) => write('warning', message), clock, bounds);
  const readAs = (level: LogLevel) => (line: OutputLine) => budget.writeLine({ ...line, level });
  await Promise.all([
    readLines(stdout, readAs('info'), { rate, clock }),
    readLines(stderr, readAs(errorLevel), { rate, clock }),
  ]);
  budget.end();
}
