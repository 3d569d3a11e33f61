import { maskOf, maskStart } from '../contract/mask.ts';

/** Collects the secrets of a run and redacts them from untrusted text. */
export class Redactor {
  readonly #mask: (secret: string) => void;
  readonly #hidden = new Set<string>();
  #hide = maskOf([]);

  /** `mask` is called once with every secret, before anything that could hold it is reported. */
  constructor(mask: (secret: string) => void) {
    this.#mask = mask;
  }

  add(secrets: readonly { value: string }[]): void {
    const fresh = secrets.map(({ value }) => value).filter((value) => value !== '' && !this.#hidden.has(value));
    if (fresh.length === 0) return;
    for (const value of new Set(fresh)) {
      this.#hidden.add(value);
      this.#mask(value);
    }
    this.#hide = maskOf(this.#hidden);
  }

  /** The text of another party, with every secret in it blotted out. */
  redact(text: string): string {
    return this.#hide(text);
  }

  /** The first characters of such a text. */
  redactStart(text: string, most: number): string {
    return maskStart(this.#hide, text, most);
  }
}
