import { stripVTControlCharacters } from 'node:util';

const width = 80;
const uuids = /\b([0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;

/** Prints for a terminal of 80 by 24, and for a log just as well: plain lines, none longer than the screen. */
export class Screen {
  readonly #write: (text: string) => void;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  line(text = ''): void {
    this.#write(`${clip(text, width)}\n`);
  }

  /** A line that is to be copied, so it is never cut. */
  whole(text: string): void {
    this.#write(`${text}\n`);
  }

  /** What a step of the demo is about to show. */
  act(number: number, title: string): void {
    this.line();
    this.line(`${number}. ${title}`);
    this.line('-'.repeat(Math.min(width, title.length + 4)));
  }

  /** A line that another program printed; of an id its beginning is enough here. */
  quote(text: string): void {
    this.line(`   ${stripVTControlCharacters(text).replace(uuids, '$1')}`);
  }

  /** What was shown and whether it held. */
  table(rows: readonly { title: string; held: boolean; seen: string }[]): void {
    const longest = Math.min(40, Math.max(...rows.map(({ title }) => title.length)));
    this.line();
    for (const { title, held, seen } of rows) {
      this.line(`${held ? ' ok ' : 'FAIL'}  ${clip(title, longest).padEnd(longest)}  ${seen}`);
    }
  }
}

const clip = (text: string, limit: number): string => (text.length > limit ? `${text.slice(0, limit - 1)}…` : text);
