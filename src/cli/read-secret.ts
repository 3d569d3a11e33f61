import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { hasCode } from '../kit/errors.ts';

/**
 * Reads a secret from standard input: from a terminal one line, which is not shown, else all of it without the line
 * break at its end.
 */
export async function readSecret(
  question: string,
  input: NodeJS.ReadableStream & { isTTY?: boolean } = process.stdin,
): Promise<string> {
  if (!input.isTTY) return (await text(input)).replace(/\r?\n$/, '');
  process.stderr.write(question);
  // The reader would repeat what is typed: its output goes nowhere.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input, output: nowhere, terminal: true });
  const interrupted = new AbortController();
  reader.on('SIGINT', () => interrupted.abort());
  try {
    return await reader.question('', { signal: interrupted.signal });
  } catch (error) {
    // Ctrl-C, or Ctrl-D, which ends the input.
    if (interrupted.signal.aborted || hasCode(error, 'ABORT_ERR')) return '';
    throw error;
  } finally {
    reader.close();
    process.stderr.write('\n');
  }
}
