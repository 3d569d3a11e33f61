import { maskOf, maskStart } from '../../contract/masking/mask.ts';

/**
 * Redacts the secrets of a run from untrusted text. `mask` is called once with each, before anything that holds it is
 * shown.
 */
export class Redactor {
  readonly #mask: (secret: string) => void;
  readonly #hidden = new Set<string>();
  #hide = maskOf([]);

  constructor(mask: (secret: string) => void) {
    this.#mask = mask;
  }

  add(secrets: readonly string[]): void {
    const fresh = secrets.filter((value) => value !== '' && !this.#hidden.has(value));
    if (fresh.length === 0) return;
    for (const value of new Set(fresh)) {
      this.#hidden.add(value);
      this.#mask(value);
    }
    this.#hide = maskOf(this.#hidden);
  }

  /** The secrets that are known by now. */
  known(): string[] {
    return [...this.#hidden];
  }

  redact(text: string): string {
    return this.#hide(text);
  }

  redactStart(text: string, most: number): string {
    return maskStart(this.#hide, text, most);
  }
}
