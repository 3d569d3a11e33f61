import { withoutControls } from '../kit/plain-text.ts';

const width = 80;
/** Ids outside of addresses, which people copy. */
const uuids = /(?<![/\w])([0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;

/** Prints plain lines for terminals and logs, wrapped at 80 columns. */
export class Renderer {
  readonly #write: (text: string) => void;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  line(text = ''): void {
    for (const part of wrapLines(text, width)) this.#write(`${part}\n`);
  }

  /** A line for copying: never wrapped. */
  unwrapped(text: string): void {
    this.#write(`${text}\n`);
  }

  /** The title of the scenario that begins. */
  heading(number: number, title: string): void {
    this.line();
    this.line(`${number}. ${title}`);
    this.line('-'.repeat(Math.min(width, title.length + 4)));
  }

  /** A line of another program's output; long ids are shortened. */
  quote(text: string): void {
    this.line(`   ${withoutControls(text).replace(uuids, '$1')}`);
  }

  /** The result of every scenario. */
  table(rows: readonly { title: string; isProven: boolean; isSkipped?: boolean; summary: string }[]): void {
    this.line();
    for (const { title, isProven, isSkipped, summary } of rows) {
      this.line(`${isSkipped ? 'skip' : isProven ? ' ok ' : 'FAIL'}  ${title}`);
      this.line(`      ${summary}`);
    }
  }
}

/** Wraps a text between words. Continuation lines are indented below the first; a long word is never broken. */
export function wrapLines(text: string, columns: number): string[] {
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
