/** One event of a run: its name, including the namespace if any, and its data as JSON. */
export interface LoggedEvent {
  /** Its number in the run, if it is one of its own events. */
  id: number | undefined;
  event: string;
  json: string;
}

/** Called with each event, and finally once without one. */
export type Follower = (event: LoggedEvent | undefined) => void;

/** A source of a run's events. */
export interface Followable {
  /** First the kept events, of a resumable run those after `afterId`, then new ones. @returns unsubscribes. */
  follow(follower: Follower, afterId?: number): () => void;
}

/** The most that is stored of one attempt (characters): beyond that, the oldest events are dropped. */
export const maxStored = 64 * 1024 * 1024;

/** The memory limits (characters) of stored events, of events being stored, and of events that are not stored. */
const storedKept = 1024 * 1024;
const maxKept = 16 * 1024 * 1024;

/** An attempt's event numbers start at a multiple of this, because it does not know the last number of the previous one. */
export const attemptIds = 1_000_000_000;

/** Which events a log keeps for later followers. */
export type EventRetention = 'all' | 'until-followed' | 'none';

/**
 * The events of one run. Followers first receive the kept events: all of a resumable run, else those before the caller
 * that requested the stream could subscribe. Every follower receives the first event, which names the run.
 */
export class EventLog implements Followable {
  /** The lowest number from which all events are in memory. */
  complete: number;
  readonly #followers = new Set<Follower>();
  #retention: EventRetention;
  #recorder: ((event: LoggedEvent) => void) | undefined;
  readonly #taps = new Set<Follower>();
  #first: LoggedEvent | undefined;
  #kept: LoggedEvent[] = [];
  #keptSize = 0;
  #next: number;
  #stored = -1;
  #closed = false;

  /** @param firstId the number of the first event. */
  constructor(retention: EventRetention, firstId = 0) {
    this.#retention = retention;
    this.#next = firstId;
    this.complete = firstId;
  }

  add(event: string, json: string): void {
    this.addNumbered({ id: this.#next++, event, json });
  }

  /** Adds an event that is already numbered. */
  addNumbered(logged: LoggedEvent): void {
    if (this.#first === undefined) this.#first = logged;
    else if (this.#retention !== 'none') this.#keep(logged);
    this.#recorder?.(logged);
    for (const tap of this.#taps) tap(logged);
    for (const follower of this.#followers) follower(logged);
  }

  /** Whether anyone receives new events, now or later: else they need not be serialized. */
  get isHeard(): boolean {
    if (this.#followers.size > 0 || this.#taps.size > 0 || this.#recorder !== undefined) return true;
    return this.#first === undefined || this.#retention !== 'none';
  }

  close(): void {
    this.#closed = true;
    for (const follower of this.#followers) follower(undefined);
    this.#followers.clear();
    for (const tap of this.#taps) tap(undefined);
    this.#taps.clear();
  }

  follow(follower: Follower, afterId = -1): () => void {
    const listen: Follower = (event) => {
      if (event?.id === undefined || event.id > afterId) follower(event);
    };
    this.#known().forEach(listen);
    if (this.#retention === 'until-followed') {
      this.#retention = 'none';
      this.#kept = [];
      this.#keptSize = 0;
    }
    if (this.#closed) follower(undefined);
    else this.#followers.add(listen);
    return () => void this.#followers.delete(listen);
  }

  /** Passes all kept and new events to the recorder, which does not count as a follower. */
  record(recorder: (event: LoggedEvent) => void): void {
    for (const event of this.#known()) recorder(event);
    this.#recorder = recorder;
  }

  /** Passes the first event and new ones to an observer, for which no events are kept. @returns unsubscribes. */
  tap(follower: Follower): () => void {
    const tap: Follower = (event) => follower(event);
    if (this.#first) tap(this.#first);
    if (this.#closed) tap(undefined);
    else this.#taps.add(tap);
    return () => void this.#taps.delete(tap);
  }

  /** Marks events up to this number as stored, so that they may be dropped from memory. */
  stored(id: number): void {
    this.#stored = id;
    this.#trim();
  }

  #known(): LoggedEvent[] {
    return [...(this.#first ? [this.#first] : []), ...this.#kept];
  }

  #keep(event: LoggedEvent): void {
    this.#kept.push(event);
    this.#keptSize += event.json.length;
    this.#trim();
  }

  #trim(): void {
    let dropped = 0;
    for (const { id = -1, json } of this.#kept) {
      const max = this.#retention !== 'all' ? maxKept : id <= this.#stored ? storedKept : maxStored;
      if (this.#keptSize <= max) break;
      this.#keptSize -= json.length;
      this.complete = id + 1;
      dropped += 1;
    }
    if (dropped > 0) this.#kept.splice(0, dropped);
  }
}
