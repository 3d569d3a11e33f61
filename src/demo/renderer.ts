import { withoutControls } from '../kit/plain-text.ts';

const width = 80;
/** An id in a sentence; one in an address stays whole, because people copy addresses. */
const uuids = /(?<![/\w])([0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;

/** Prints for a terminal of 80 columns, and for a log just as well: plain lines, long ones broken between words. */
export class Renderer {
  readonly #write: (text: string) => void;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  line(text = ''): void {
    for (const part of wrapped(text, width)) this.#write(`${part}\n`);
  }

  /** A line that is to be copied, so it is never broken. */
  whole(text: string): void {
    this.#write(`${text}\n`);
  }

  /** What a step of the demo is about to show. */
  act(number: number, title: string): void {
    this.line();
    this.line(`${number}. ${title}`);
    this.line('-'.repeat(Math.min(width, title.length + 4)));
  }

  /** A line of another program's output; long ids are shortened. */
  quote(text: string): void {
    this.line(`   ${withoutControls(text).replace(uuids, '$1')}`);
  }

  /** What was shown and whether it held. */
  table(rows: readonly { title: string; held: boolean; isSkipped?: boolean; seen: string }[]): void {
    this.line();
    for (const { title, held, isSkipped, seen } of rows) {
      this.line(`${isSkipped ? 'skip' : held ? ' ok ' : 'FAIL'}  ${title}`);
      this.line(`      ${seen}`);
    }
  }
}

/** The lines of a text on a screen so wide; what goes on stands under what it goes on from. A long word stays whole. */
export function wrapped(text: string, columns: number): string[] {
  const indent = /^[\s|]*/.exec(text)?.[0] ?? '';
  const lines: string[] = [];
  let line = indent;
  for (const word of text.slice(indent.length).split(' ')) {
    if (line.length > indent.length && line.length + word.length >= columns) {
      lines.push(line.trimEnd());
      line = `${indent}  ${word}`;
    } else {
      line += line.length > indent.length ? ` ${word}` : word;
    }
  }
  return [...lines, line.trimEnd()];
}
