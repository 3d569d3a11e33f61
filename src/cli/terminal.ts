import { strictMaskOf, type Mask } from '../contract/masking/mask.ts';
import { jsonWithoutCommands, withoutCommands } from '../deploy/words/sanitize.ts';
import { noLiveLine, type LiveLine } from './live-line.ts';

/** Where text goes: standard output and standard error, or what a test reads. */
export interface Streams {
  out: (text: string) => void;
  err: (text: string) => void;
}

/** Everything that the command line prints passes through here, and every secret in it leaves as `***`. */
export class Terminal {
  readonly #streams: Streams;
  readonly #secrets = new Set<string>();
  readonly #json: boolean;
  #mask: Mask = strictMaskOf([]);
  #live: LiveLine = noLiveLine;

  /** @param json the one line of standard output is JSON: progress goes to standard error. */
  constructor(streams: Streams, { json = false }: { json?: boolean } = {}) {
    this.#streams = streams;
    this.#json = json;
  }

  /** From now on this is never shown. */
  hide(secret: string): void {
    if (secret.trim() === '' || this.#secrets.has(secret)) return;
    this.#secrets.add(secret);
    this.#mask = strictMaskOf([...this.#secrets]);
  }

  /** The text without anything that is hidden. */
  masked(text: string): string {
    return this.#mask(text);
  }

  /** From now on lines go above this one. */
  keepBelow(live: LiveLine): void {
    this.#live = live;
  }

  /** A line about what happens. */
  print(line: string): void {
    const write = this.#json ? this.#streams.err : this.#streams.out;
    this.#live.above(() => write(`${withoutCommands(this.#mask(line))}\n`));
  }

  /** A line about what is wrong. */
  complain(line: string): void {
    this.#live.above(() => this.#streams.err(`${withoutCommands(this.#mask(line))}\n`));
  }

  /** The result as one line of JSON, with `--json`. Masks only string values, so that it stays valid JSON. */
  conclude(result: unknown): void {
    if (!this.#json) return;
    const masked = JSON.stringify(result, (_, value: unknown) =>
      typeof value === 'string' ? this.#mask(value) : value,
    );
    this.#streams.out(`${jsonWithoutCommands(masked)}\n`);
  }
}

/** The streams of this process. */
export const processStreams: Streams = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
};
