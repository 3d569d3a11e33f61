import { readFileSync } from 'node:fs';
import { join } from 'node:path';

type Recorded = 'updates' | 'fail' | 'messages-tuple' | 'updates-events' | 'debug';

/**
 * The recorded streams, by requested stream mode, with their number of events. `recorded/README.md` lists their
 * origin. `messages-tuple` is complete: its graph has no model that would emit a message.
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
