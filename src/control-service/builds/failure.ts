import { saysDiskIsFull } from './free-space.ts';
import type { CommandEnd } from './run-command.ts';

/** Says that a command of the build failed, and how; also that it met a full disk, wherever in its output that stands. */
export function failure(what: string, { how, said, output }: Extract<CommandEnd, { kind: 'failed' }>): string {
  const ended = how.endsWith('.') ? how : `${how}.`;
  const words = said === undefined ? `${what} failed: ${ended}` : `${what} failed: ${ended} It said: ${said}`;
  return !saysDiskIsFull(words) && output.some(saysDiskIsFull) ? `${words} The disk is full.` : words;
}
