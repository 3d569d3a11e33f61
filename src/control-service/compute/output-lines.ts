import { StringDecoder } from 'node:string_decoder';
import type { Readable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';

/** Characters of a line that are kept while it has not ended; what follows them is dropped. */
const longestRead = 16_384;

/**
 * Cuts a process's output into lines as it comes, without colours; of a line that was written over only its last state.
 * A line that is too long to keep is told with `cut`.
 *
 * Resolves when the output has ended or was destroyed.
 */
export function readLines(output: Readable, tell: (line: string, cut: boolean) => void): Promise<void> {
  const decoder = new StringDecoder('utf8');
  let pending = '';
  let cut = false;

  const take = (text: string): void => {
    const room = longestRead - pending.length;
    cut ||= text.length > room;
    pending += text.slice(0, room);
  };
  const end = (): void => {
    const plain = stripVTControlCharacters(pending.replace(/\r+$/, '')).replaceAll('\0', '');
    const line = plain.slice(plain.lastIndexOf('\r') + 1).trimEnd();
    if (line !== '') tell(line, cut);
    pending = '';
    cut = false;
  };

  output.on('data', (chunk: Buffer) => {
    const [first = '', ...rest] = decoder.write(chunk).split('\n');
    take(first);
    for (const text of rest) {
      end();
      take(text);
    }
  });
  return new Promise((resolve) => {
    output.once('close', () => {
      take(decoder.end());
      end();
      resolve();
    });
  });
}
