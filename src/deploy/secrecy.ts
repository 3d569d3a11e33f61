/** Shorter ones stand in ordinary words: hiding them would garble every sentence and hide nothing. */
const shortest = 4;

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
    for (const { value } of secrets) {
      if (value === '' || this.#hidden.has(value)) continue;
      this.#hidden.add(value);
      this.#mask(value);
    }
    this.#ordered = [...new Set([...this.#hidden].flatMap(spellings))].toSorted((a, b) => b.length - a.length);
  }

  /** The text of another party, with every secret in it blotted out. */
  redact(text: string): string {
    return this.#ordered.reduce((blotted, secret) => blotted.replaceAll(secret, '***'), text);
  }
}

/** A log tells a secret of many lines one line at a time; a body tells it as JSON, an address percent-encoded. */
function spellings(secret: string): string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed()), ...lines].filter(
    (spelling) => spelling.length >= shortest,
  );
}
