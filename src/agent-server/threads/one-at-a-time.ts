/** Runs tasks one after the other, in the order of arrival. */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs the task once all earlier ones have settled. */
  do<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work, work);
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}
