/** One event of a run as it goes out: its name, with a namespace where it has one, and its data as JSON. */
export interface LoggedEvent {
  /** Its number, where the run's events are kept. */
  id: number | undefined;
  event: string;
  json: string;
}

/** Called with each event, and once more without one when there will be no other. */
export type Follower = (event: LoggedEvent | undefined) => void;

/** What can be followed: a run's events, wherever they come from. */
export interface Followable {
  /**
   * Follows the events: what is kept, of a resumable run only from the one after `afterId`, then what happens.
   *
   * @returns stops following.
   */
  follow(follower: Follower, afterId?: number): () => void;
}

/** The most that is stored of one attempt (characters), whoever may still ask for it: then the oldest events go. */
export const MOST_STORED = 64 * 1024 * 1024;

/** What a log keeps in memory (characters): of events that are stored, of those that are about to be, and of those that will not be. */
const STORED_KEPT = 1024 * 1024;
const UNSTORED_KEPT = MOST_STORED;
const MOST_KEPT = 16 * 1024 * 1024;

/** The numbers of an attempt's events begin at a multiple of this: an attempt does not know how far the former came. */
export const ATTEMPT_IDS = 1_000_000_000;

/** Which events a log keeps for those who do not follow yet. */
export type EventRetention = 'all' | 'until-followed' | 'none';

/**
 * What happens in one run, told to whoever follows. Followers hear events as they happen, and before them what is kept
 * for them: everything of a resumable run, else what happened before the caller who asked for the stream could listen.
 * The first event, which names the run, is told to everyone.
 */
export class EventLog implements Followable {
  readonly #followers = new Set<Follower>();
  #retention: EventRetention;
  #recorder: ((event: LoggedEvent) => void) | undefined;
  readonly #taps = new Set<Follower>();
  #first: LoggedEvent | undefined;
  #kept: LoggedEvent[] = [];
  #keptSize = 0;
  #next: number;
  /** Events with a lower number than this are not all here. */
  #complete: number;
  #stored = -1;
  #closed = false;

  /** @param firstId the number of the first event, where they are kept. */
  constructor(retention: EventRetention, firstId = 0) {
    this.#retention = retention;
    this.#next = firstId;
    this.#complete = firstId;
  }

  add(event: string, json: string): void {
    this.addNumbered({ id: this.#retention === 'all' ? this.#next++ : undefined, event, json });
  }

  /** Adds an event that has its number from elsewhere. */
  addNumbered(logged: LoggedEvent): void {
    if (this.#first === undefined) this.#first = logged;
    else if (this.#retention !== 'none') this.#keep(logged);
    this.#recorder?.(logged);
    for (const tap of this.#taps) tap(logged);
    for (const follower of this.#followers) follower(logged);
  }

  /** Whether anybody hears of what is added now, or later: else it need not even be put into words. */
  get isHeard(): boolean {
    if (this.#followers.size > 0 || this.#taps.size > 0 || this.#recorder !== undefined) return true;
    return this.#first === undefined || this.#retention !== 'none';
  }

  /** No event comes after this. */
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

  /** Has every event handed to one who stores them, who is no follower: what is here, then what happens. */
  record(recorder: (event: LoggedEvent) => void): void {
    for (const event of this.#known()) recorder(event);
    this.#recorder = recorder;
  }

  /**
   * Has the first event, and every one from now on, told to one who is no follower: nothing is kept for him, and nothing
   * that is kept for others is let go.
   *
   * @returns tells no more.
   */
  tap(follower: Follower): () => void {
    const tap: Follower = (event) => follower(event);
    if (this.#first) tap(this.#first);
    if (this.#closed) tap(undefined);
    else this.#taps.add(tap);
    return () => void this.#taps.delete(tap);
  }

  /** Events up to this number are stored, and may be forgotten here. */
  stored(id: number): void {
    this.#stored = id;
    this.#trim();
  }

  /** The lowest number from which on all events are here. */
  get complete(): number {
    return this.#complete;
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
    for (const { id, json } of this.#kept) {
      const most = id === undefined ? MOST_KEPT : id <= this.#stored ? STORED_KEPT : UNSTORED_KEPT;
      if (this.#keptSize <= most) break;
      this.#keptSize -= json.length;
      if (id !== undefined) this.#complete = id + 1;
      dropped += 1;
    }
    if (dropped > 0) this.#kept.splice(0, dropped);
  }
}
