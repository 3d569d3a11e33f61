/** Limits concurrent runs; the others wait in order of arrival. */
export class Slots {
  free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.free = count;
  }

  /** Takes a slot if one is free and no run waits for it. */
  tryTake(): boolean {
    if (this.free === 0) return false;
    this.free -= 1;
    return true;
  }

  /** Waits for a slot; rejects with the signal's reason if that aborts first. */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.tryTake()) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      const place = this.#waiting.indexOf(resolve);
      // No longer queued: the run has received the slot and will release it.
      if (place < 0) return;
      this.#waiting.splice(place, 1);
      reject(signal.reason);
    };
    this.#waiting.push(resolve);
    signal.addEventListener('abort', leave, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  /** Releases a slot to the run that has waited longest. */
  release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.free += 1;
  }
}
