import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';

/**
 * Reads a secret from standard input: from a terminal one line, which is not shown, else all of it without the line
 * break at its end.
 */
export async function readSecret(question: string): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).replace(/\r?\n$/, '');
  process.stderr.write(question);
  // The reader would repeat what is typed: its output goes nowhere.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  const interrupted = new AbortController();
  reader.on('SIGINT', () => interrupted.abort());
  try {
    return await reader.question('', { signal: interrupted.signal });
  } catch (error) {
    if (interrupted.signal.aborted) return '';
    throw error;
  } finally {
    reader.close();
    process.stderr.write('\n');
  }
}
