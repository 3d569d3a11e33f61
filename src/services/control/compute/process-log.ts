import * as z from 'zod';
import { cutMark } from '../../../kit/plain-text.ts';
import { type Clock, pause, steadyNow } from '../../../kit/clock.ts';
import { fromJson } from '../../../kit/json-text.ts';
import type { Mask } from '../../../contract/masking/mask.ts';
import type { GuardedProcess } from './guarded-process.ts';
import type { LogLevel, WriteLine } from './log-line.ts';
import { plainLine, readLines, type OutputLine, sharedReadRate, type ReadRate } from './output-lines.ts';

interface ProcessLogDependencies {
  write: WriteLine;
  mask: Mask;
  clock: Clock;
  /** The level of the process's standard error; with `error`, lines of `warning: …` are warnings. */
  errorLevel: LogLevel;
  bounds?: LineBounds;
  /** The rate limit of its output, both streams together. */
  rate?: ReadRate;
}

const maxLineLength = 4_000;

/** Writes a process's output to a log line by line, masked and limited. Resolves when the output is closed. */
export async function logProcess(
  { stdout, stderr }: Pick<GuardedProcess, 'stdout' | 'stderr'>,
  { write, mask, clock, errorLevel, bounds = defaultBounds, rate = sharedReadRate() }: ProcessLogDependencies,
): Promise<void> {
  const writeMasked = ({ text, cut, level }: LevelledLine): void => {
    const line = plainLine(text);
    if (line === '') return;
    const masked = mask(line, { cut });
    const isWarning = level === 'error' && line.startsWith('warning: ');
    const isWhole = !cut && masked.length <= maxLineLength;
    write(isWarning ? 'warning' : level, isWhole ? masked : `${masked.slice(0, maxLineLength)}${cutMark}`);
  };
  /** Writes the message of an entry of the agent server's own log, and any other line as it is. */
  const writeEntry = (line: LevelledLine): void => {
    const entry = readAgentServerEntry(line.text);
    if (!entry) return writeMasked(line);
    const isCut = entry.msg.endsWith(cutMark);
    const message = isCut ? entry.msg.slice(0, -cutMark.length).trimEnd() : entry.msg;
    const lines = message.split(/[\r\n\u2028\u2029]+/).map((text, at) => (at === 0 ? text : `  ${text}`));
    for (const [at, text] of lines.entries()) {
      writeMasked({ text, cut: isCut && at === lines.length - 1, level: entry.level });
    }
  };
  const budget = lineBudget(writeEntry, (message) => write('warning', message), clock, bounds);
  const writeAs = (level: LogLevel) => (line: OutputLine) => budget.writeLine({ ...line, level });
  await Promise.all([
    readLines(stdout, writeAs('info'), { rate, clock }),
    readLines(stderr, writeAs(errorLevel), { rate, clock }),
  ]);
  budget.end();
}

const levels = { debug: 'info', info: 'info', warn: 'warning', error: 'error' } as const;
const agentServerEntry = z.object({
  name: z.literal('agent-server'),
  level: z.enum(['debug', 'info', 'warn', 'error']).transform((level) => levels[level]),
  msg: z.string(),
});

const readAgentServerEntry = (line: string): z.infer<typeof agentServerEntry> | undefined =>
  line.startsWith('{"level":') ? agentServerEntry.safeParse(fromJson(line)).data : undefined;

export interface LineBounds {
  burst: number;
  perSecond: number;
  /** How many of the last skipped lines are written anyway: errors are usually there. */
  keepLast: number;
}

const defaultBounds: LineBounds = { burst: 5_000, perSecond: 20, keepLast: 100 };

type LevelledLine = OutputLine & { level: LogLevel };

/** How long to wait before the first notice about skipped lines, so that it covers more than a few. */
const noticeDelayMs = 200;

/**
 * Creates a budget that passes lines to `write`, and the number of dropped lines to `warn`. A timer reports skipped
 * lines and writes the last of them: the process may print nothing more, and its log would look complete.
 */
function lineBudget(
  write: (line: LevelledLine) => void,
  warn: (message: string) => void,
  clock: Clock,
  bounds: LineBounds,
) {
  let allowance = bounds.burst;
  let since = steadyNow(clock);
  let skippedCount = 0;
  let lastSkipped: LevelledLine[] = [];
  const ended = new AbortController();

  const refill = (): void => {
    const now = steadyNow(clock);
    allowance = Math.min(bounds.burst, allowance + ((now - since) / 1_000) * bounds.perSecond);
    since = now;
  };
  const catchUp = (): void => {
    const droppedCount = skippedCount - lastSkipped.length;
    if (droppedCount > 0) warn(`[${droppedCount} lines left out: too many to keep]`);
    for (const line of lastSkipped) write(line);
    // The allowance may become negative: the next lines wait until it is not.
    allowance -= lastSkipped.length;
    skippedCount = 0;
    lastSkipped = [];
  };
  const catchUpLater = async (): Promise<void> => {
    const debtMs = (Math.max(0, -allowance) / bounds.perSecond) * 1_000;
    await pause(clock, Math.max(noticeDelayMs, debtMs), ended.signal);
    if (ended.signal.aborted) return;
    refill();
    catchUp();
  };

  return {
    writeLine(line: LevelledLine): void {
      refill();
      if (skippedCount === 0 && allowance >= 1) {
        allowance -= 1;
        write(line);
        return;
      }
      if (skippedCount === 0) void catchUpLater();
      skippedCount += 1;
      lastSkipped.push(line);
      if (lastSkipped.length > bounds.keepLast) lastSkipped.shift();
    },
    end(): void {
      ended.abort();
      catchUp();
    },
  };
}
