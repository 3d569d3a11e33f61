import { saysDiskIsFull } from './free-space.ts';
import type { CommandEnd } from './run-command.ts';

/** Describes a failed command of a build; mentions a full disk wherever the output does. */
export function failure(what: string, { how, said, output }: Extract<CommandEnd, { kind: 'failed' }>): string {
  const ended = how.endsWith('.') ? how : `${how}.`;
  const words = said === undefined ? `${what} failed: ${ended}` : `${what} failed: ${ended} It said: ${said}`;
  return !saysDiskIsFull(words) && output.some(saysDiskIsFull) ? `${words} The disk is full.` : words;
}
