import type { LogEntry } from '../../../contract/control/log.ts';

/** The text of an error in a log: the line that reports it, and the indented ones below, which are its stack. */
export function stackIn(logs: readonly LogEntry[], first: LogEntry): string {
  const start = logs.findIndex(({ id, message }) => id === first.id && message === first.message);
  const below = start < 0 ? [] : logs.slice(start + 1);
  const end = below.findIndex(({ message }) => !/^\s+\S/.test(message));
  return [first, ...(end < 0 ? below : below.slice(0, end))].map(({ message }) => message).join('\n');
}
