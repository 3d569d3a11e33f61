import { StringDecoder } from 'node:string_decoder';
import type { Readable } from 'node:stream';
import { type Clock, pause, steadyNow } from '../../../kit/clock.ts';
import { trimEndOf, withoutControls } from '../../../kit/plain-text.ts';

/** The most characters that are kept of a line; the rest is dropped. */
const maxReadBytes = 16_384;

/** A raw line of a process, and whether it was truncated. */
export interface OutputLine {
  text: string;
  cut: boolean;
}

/**
 * Splits a process's output into lines, no faster than `rate` allows: beyond it, backpressure stops the process. The
 * lines are raw, because most lines of a flood are dropped unparsed. Resolves at the end of the output.
 */
export function readLines(
  output: Readable,
  writeLine: (line: OutputLine) => void,
  { rate, clock }: { rate: ReadRate; clock: Clock },
): Promise<void> {
  const decoder = new StringDecoder('utf8');
  let pending = '';
  let cut = false;

  const append = (text: string): void => {
    const room = maxReadBytes - pending.length;
    cut ||= text.length > room;
    pending += text.slice(0, room);
  };
  const end = (): void => {
    if (pending !== '') writeLine({ text: pending, cut });
    pending = '';
    cut = false;
  };

  const closed = new AbortController();
  output.on('data', (chunk: Buffer) => {
    const [first = '', ...rest] = decoder.write(chunk).split('\n');
    append(first);
    for (const text of rest) {
      end();
      append(text);
    }
    const waitMs = rate.spend(chunk.length, rest.length, steadyNow(clock));
    if (waitMs === 0) return;
    output.pause();
    void pause(clock, waitMs, closed.signal).then(() => output.resume());
  });
  return new Promise((resolve) => {
    output.once('close', () => {
      closed.abort();
      append(decoder.end());
      end();
      resolve();
    });
  });
}

/** A line without colours and other terminal control; of a line that overwrites itself, the last state. */
export function plainLine(raw: string): string {
  const last = trimEndOf(raw, '\r');
  return withoutControls(last.slice(last.lastIndexOf('\r') + 1)).trimEnd();
}

/** Limits (bytes) on reading output, so that a flood does not slow down the service. */
interface ReadBounds {
  burst: number;
  perSecond: number;
}

/** The limits of one output: about the speed of the most talkative builds. */
const outputBounds: ReadBounds = { burst: 8 * 1_048_576, perSecond: 1_048_576 };

/** The cost of each line in bytes: a flood of empty lines is more work than one of long ones. */
const bytesPerLine = 16;

/** Creates a token bucket that one read may overdraw: the next read then waits until the debt is paid. */
export function readRate({ burst, perSecond }: ReadBounds) {
  let allowance = burst;
  let since: number | undefined;
  return {
    /** Records bytes that were read. Returns the milliseconds to wait before the next read. */
    spend(bytes: number, lines: number, now: number): number {
      const elapsed = Math.max(0, now - (since ?? now));
      since = now;
      allowance = Math.min(burst, allowance + (elapsed / 1_000) * perSecond) - bytes - lines * bytesPerLine;
      return allowance >= 0 ? 0 : Math.ceil((-allowance / perSecond) * 1_000);
    },
  };
}

export type ReadRate = ReturnType<typeof readRate>;

const totalRate = readRate({ burst: 32 * 1_048_576, perSecond: 4 * 1_048_576 });

/** Creates the rate limit of one output, which also respects the limit of all outputs together. */
export function sharedReadRate(bounds: ReadBounds = outputBounds, all: ReadRate = totalRate): ReadRate {
  const own = readRate(bounds);
  return {
    spend: (bytes, lines, now) => Math.max(own.spend(bytes, lines, now), all.spend(bytes, lines, now)),
  };
}
