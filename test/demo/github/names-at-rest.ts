/**
 * Repositories keep their names while requests are answered: an answer is put together from several looks, and a rename
 * in their midst would make the later ones miss. Any number of requests at once, a rename alone.
 */
export class NamesAtRest {
  readonly #answering = new Set<Promise<unknown>>();
  #rename: Promise<unknown> | undefined;

  /** Runs an action that needs stable names, after all requested renames. */
  async keep<T>(act: () => Promise<T>): Promise<T> {
    while (this.#rename) await this.#rename;
    const answering = act();
    this.#answering.add(answering);
    try {
      return await answering;
    } finally {
      this.#answering.delete(answering);
    }
  }

  /** Carries out a rename, once all that began before it has ended. */
  async change<T>(act: () => Promise<T>): Promise<T> {
    const before = [...this.#answering, ...(this.#rename ? [this.#rename] : [])];
    let finish = (): void => {};
    const over = new Promise<void>((resolve) => (finish = resolve));
    this.#rename = over;
    try {
      await Promise.allSettled(before);
      return await act();
    } finally {
      if (this.#rename === over) this.#rename = undefined;
      finish();
    }
  }
}
