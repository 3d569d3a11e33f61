/** Lets pieces of work go one after the other, in the order in which they came. */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve();

  /** Does the work once all that came before has ended, however it did. */
  do<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work, work);
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}
