import { secretSpellings, shortestHidden } from '../contract/secret-spellings.ts';

/** What the story must never repeat, and the words of others without it. */
export class Secrecy {
  readonly #mask: (secret: string) => void;
  readonly #hidden = new Set<string>();
  #ordered: readonly string[] = [];

  /** `mask` is called once with every secret, before anything that could hold it is told. */
  constructor(mask: (secret: string) => void) {
    this.#mask = mask;
  }

  learn(secrets: readonly { value: string }[]): void {
    const fresh = secrets.map(({ value }) => value).filter((value) => value !== '' && !this.#hidden.has(value));
    if (fresh.length === 0) return;
    for (const value of new Set(fresh)) {
      this.#hidden.add(value);
      this.#mask(value);
    }
    const spelled = new Set([...this.#hidden].flatMap(secretSpellings).filter((each) => each.length >= shortestHidden));
    // The longest first: a secret that begins like another one must not leave its own end standing.
    this.#ordered = [...spelled].toSorted((a, b) => b.length - a.length);
  }

  /** The text of another party, with every secret in it blotted out. */
  redact(text: string): string {
    return this.#ordered.reduce((blotted, secret) => blotted.replaceAll(secret, '***'), text);
  }
}
