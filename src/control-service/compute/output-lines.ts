import { StringDecoder } from 'node:string_decoder';
import type { Readable } from 'node:stream';
import { type Clock, pause, steadyNow } from '../../clock.ts';
import { trimEndOf, withoutControls } from '../../contract/plain-text.ts';
import type { ReadRate } from './read-rate.ts';

/** The most characters of an unfinished line that are kept; the rest is dropped. */
const longestRead = 16_384;

/** A raw line of a process, and whether it was truncated. */
export interface OutputLine {
  text: string;
  cut: boolean;
}

/**
 * Splits a process's output into lines as it arrives, no faster than `rate` allows: backpressure then stops the process.
 * Lines are passed on raw: most of a flood is dropped, and `plainLine` need not parse those.
 *
 * Resolves when the output has ended or was destroyed.
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
    const room = longestRead - pending.length;
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
