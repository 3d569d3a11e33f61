import { withoutControls } from '../kit/plain-text.ts';
import { minHiddenLength } from '../contract/masking/secret-spellings.ts';
import { strictMaskOf, type Mask } from '../contract/masking/mask.ts';
import { jsonWithoutCommands, withoutCommands } from '../deploy/words/sanitize.ts';
import { noLiveLine, type LiveLine } from './live-line.ts';

/** Standard output and standard error. Tests replace them. */
export interface Streams {
  out: (text: string) => void;
  err: (text: string) => void;
  /** The columns of the terminal that standard output is; undefined where it is none. */
  columns?: (() => number | undefined) | undefined;
  /** Aborts when the reader of standard output has closed it. */
  closed?: AbortSignal | undefined;
}

/** Prints all output of the command line, and replaces every secret in it by `***`. */
export class Terminal {
  readonly #streams: Streams;
  readonly #secrets = new Set<string>();
  readonly #json: boolean;
  #mask: Mask = strictMaskOf([]);
  #live: LiveLine = noLiveLine;
  /** The end of a text that is not written yet: it may be the beginning of a secret. */
  #text = '';
  #isWithinLine = false;

  /** @param json if true, standard output is one line of JSON and progress goes to standard error. */
  constructor(streams: Streams, { json = false }: { json?: boolean } = {}) {
    this.#streams = streams;
    this.#json = json;
  }

  /** Whether the result is printed as JSON. */
  get isJson(): boolean {
    return this.#json;
  }

  /** The columns of the terminal; undefined where the output is none. */
  get width(): number | undefined {
    return this.#streams.columns?.();
  }

  /** Aborts when nobody reads standard output any longer. */
  get closed(): AbortSignal | undefined {
    return this.#streams.closed;
  }

  /** Masks this secret from now on. */
  hide(secret: string): void {
    if (secret.trim() === '' || this.#secrets.has(secret)) return;
    this.#secrets.add(secret);
    this.#mask = strictMaskOf([...this.#secrets]);
  }

  /** The text with all secrets masked. */
  masked(text: string): string {
    return this.#mask(text);
  }

  /** Prints lines above this one from now on. */
  keepBelow(live: LiveLine): void {
    this.#live = live;
  }

  /** Prints a line about the progress. */
  print(line: string): void {
    const write = this.#json ? this.#streams.err : this.#streams.out;
    this.#live.writeAbove(() => write(`${this.#shown(line)}\n`));
  }

  /** Prints a line on standard error: about a problem, or about the output. */
  complain(line: string): void {
    this.#live.writeAbove(() => this.#streams.err(`${this.#shown(line)}\n`));
  }

  /** The text without secrets, control sequences and commands. Masked twice: a secret may have controls in it or between. */
  #shown(text: string): string {
    const plain = withoutControls(this.#mask(text).replace(/\r\n?/g, '\n'));
    return withoutCommands(this.#mask(plain));
  }

  /** Writes text of an agent as it comes, but for what may be the beginning of a secret: its rest may come later. */
  write(text: string): void {
    if (this.#json || text === '') return;
    this.#text += withoutControls(text);
    const end = cutsOf(this.#text).find((at) => this.#canCut(at)) ?? 0;
    this.#writeText(this.#text.slice(0, end));
    this.#text = this.#text.slice(end);
  }

  /** Whether the text that is not written yet can be cut there: within no secret, and no beginning of one. */
  #canCut(at: number): boolean {
    const [head, rest] = [this.#text.slice(0, at), this.#text.slice(at)];
    return this.#mask(this.#text, { cut: true }) === this.#mask(head) + this.#mask(rest, { cut: true });
  }

  /** Writes the rest of such a text, and ends its line. */
  endText(): void {
    this.#writeText(this.#text);
    this.#text = '';
    if (this.#isWithinLine) this.#streams.out('\n');
    this.#isWithinLine = false;
  }

  #writeText(text: string): void {
    if (text === '') return;
    const masked = this.#mask(text);
    // Only at the start of a line a runner finds a command.
    const shown = this.#isWithinLine ? withoutCommands(`.${masked}`).slice(1) : withoutCommands(masked);
    this.#streams.out(shown);
    this.#isWithinLine = !shown.endsWith('\n');
  }

  /** Prints the result as one line of JSON, with `--json`. Masks only string values, so that it stays valid JSON. */
  conclude(result: unknown): void {
    if (!this.#json) return;
    const masked = JSON.stringify(result, (_, value: unknown) =>
      typeof value === 'string' ? this.#mask(value) : value,
    );
    this.#streams.out(`${jsonWithoutCommands(masked)}\n`);
  }
}

/** How much has to be known behind a cut: a shorter beginning of a secret is not found. */
const minRest = minHiddenLength - 1;
/** From this length on, a text without white space is cut within words. */
const maxHeldWord = 200;
/** A text of this length is cut anywhere. */
const maxHeld = 8_192;
/** How many places are tried at each part of a text. */
const maxCuts = 4;

/**
 * Where a text may be cut, the last place first: behind white space, and where it has none within a word that is longer
 * than the secrets that are masked only as whole words.
 */
function cutsOf(text: string): number[] {
  const cuts: number[] = [];
  for (let at = text.length - minRest; at > 0 && cuts.length < maxCuts; at -= 1) {
    if (text[at - 1] === ' ' || text[at - 1] === '\n') cuts.push(at);
  }
  if (cuts.length > 0 || text.length < maxHeldWord) return cuts;
  // The beginning of a secret is longer where it is escaped.
  for (let at = text.length - maxHeldWord / 2; at > minHiddenLength && cuts.length < maxCuts; at -= 1) {
    if (withinWord.test(text.slice(at - minHiddenLength, at + 1)) && !lowSurrogate.test(text.charAt(at))) cuts.push(at);
  }
  return cuts.length === 0 && text.length >= maxHeld ? [text.length] : cuts;
}

const withinWord = /^[\p{L}\p{N}_]+$/u;
const lowSurrogate = /[\udc00-\udfff]/;

/** The streams of this process. */
export const processStreams: Streams = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  columns: () => (process.stdout.isTTY ? process.stdout.columns : undefined),
};
