import { readFileSync } from 'node:fs';
import { join } from 'node:path';

type Recorded = 'updates' | 'fail' | 'messages-tuple' | 'updates-events' | 'debug';

/**
 * The recorded streams, by the stream mode that was asked for, and how many events each has. `recorded/README.md` says
 * where they are from. The one of `messages-tuple` is whole: its graph has no model that would say something.
 */
export const recordedStreams: readonly (readonly [name: Recorded, events: number])[] = [
  ['updates', 3],
  ['fail', 5],
  ['messages-tuple', 1],
  ['updates-events', 9],
  ['debug', 9],
];

/** The bytes of a recorded body. */
export function recordedBytes(name: Recorded): Buffer {
  const whole = readFileSync(join(import.meta.dirname, 'recorded', `${name}.txt`));
  return whole.subarray(whole.indexOf('\r\n\r\n') + 4);
}
