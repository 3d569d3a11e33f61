import { StringDecoder } from 'node:string_decoder';
import type { Readable } from 'node:stream';
import { type Clock, pause, steadyNow } from '../../../kit/clock.ts';
import { trimEndOf, withoutControls } from '../../../kit/plain-text.ts';

/** The most characters of an unfinished line that are kept; the rest is dropped. */
const maxReadBytes = 16_384;

/** A raw line of a process, and whether it was truncated. */
export interface OutputLine {
  text: string;
  cut: boolean;
}

/**
 * Splits a process's output into lines, no faster than `rate` allows: backpressure then stops the process. Lines are
 * raw: most of a flood is dropped unparsed. Resolves at the end of it.
 */
export function readLines(
  output: Readable,
  writeLine: (line: OutputLine) => void,
  { rate, clock }: { rate: ReadRate; clock: Clock },
): Promise<void> {
  const decoder = new StringDecoder('utf8');
  let pending = '';
  let cut = false;

  const take = (text: string): void => {
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
    take(first);
    for (const text of rest) {
      end();
      take(text);
    }
    const waitMs = rate.spend(chunk.length, rest.length, steadyNow(clock));
    if (waitMs === 0) return;
    output.pause();
    void pause(clock, waitMs, closed.signal).then(() => output.resume());
  });
  return new Promise((resolve) => {
    output.once('close', () => {
      closed.abort();
      take(decoder.end());
      end();
      resolve();
    });
  });
}

/** A line without colours and other terminal control; of an overwritten line only its last state. */
export function plainLine(written: string): string {
  const last = trimEndOf(written, '\r');
  return withoutControls(last.slice(last.lastIndexOf('\r') + 1)).trimEnd();
}

/** It limits what a flood costs the service. */
interface ReadBounds {
  burst: number;
  perSecond: number;
}

/** For one output, about what a build on this machine prints at its fastest. */
const boundsOfOutput: ReadBounds = { burst: 8 * 1_048_576, perSecond: 1_048_576 };

/** The cost of each line in bytes: a flood of empty lines is more work than one of long ones. */
const bytesPerLine = 16;

/** Creates a token bucket that may be overdrawn once: the debt has to be waited for. Sharers wait in turn. */
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

const rateOfAll = readRate({ burst: 32 * 1_048_576, perSecond: 4 * 1_048_576 });

/** One output's own rate limit, which also counts towards the one of all outputs. */
export function sharedReadRate(bounds: ReadBounds = boundsOfOutput, all: ReadRate = rateOfAll): ReadRate {
  const own = readRate(bounds);
  return {
    spend: (bytes, lines, now) => Math.max(own.spend(bytes, lines, now), all.spend(bytes, lines, now)),
  };
}
