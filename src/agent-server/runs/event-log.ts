/** One event of a run as it goes out: its name, with a namespace where it has one, and its data as JSON. */
export interface LoggedEvent {
  /** Its number, where the run's events are kept. */
  id: number | undefined;
  event: string;
  json: string;
}

/** Called with each event, and once more without one when there will be no other. */
export type Follower = (event: LoggedEvent | undefined) => void;

/** What a log may keep of a run's events, in characters. */
const MOST_KEPT = 16 * 1024 * 1024;

/** Which events a log keeps for those who do not follow yet. */
export type Keeping = 'all' | 'until-followed' | 'none';

/**
 * What happens in one run, told to whoever follows. Followers hear events as they happen, and before them what is kept
 * for them: everything of a resumable run, else what happened before the caller who asked for the stream could listen.
 * The first event, which names the run, is told to everyone.
 */
export class EventLog {
  readonly #followers = new Set<Follower>();
  readonly #keeping: Keeping;
  #first: LoggedEvent | undefined;
  #kept: LoggedEvent[] = [];
  #keptSize = 0;
  #next = 0;
  #closed = false;

  constructor(keeping: Keeping) {
    this.#keeping = keeping;
  }

  add(event: string, json: string): void {
    const logged: LoggedEvent = { id: this.#keeping === 'all' ? this.#next++ : undefined, event, json };
    if (this.#first === undefined) this.#first = logged;
    else if (this.#keeping === 'all' || (this.#keeping === 'until-followed' && this.#followers.size === 0))
      this.#keep(logged);
    for (const follower of this.#followers) follower(logged);
  }

  /** No event comes after this. */
  close(): void {
    this.#closed = true;
    for (const follower of this.#followers) follower(undefined);
    this.#followers.clear();
  }

  /**
   * Follows the events: what is kept, of a resumable run only from the one after `afterId`, then what happens.
   *
   * @returns stops following.
   */
  follow(follower: Follower, afterId = -1): () => void {
    const missed = [...(this.#first ? [this.#first] : []), ...this.#kept];
    for (const event of missed) if (event.id === undefined || event.id > afterId) follower(event);
    if (this.#keeping === 'until-followed') this.#kept = [];
    if (this.#closed) follower(undefined);
    else this.#followers.add(follower);
    return () => void this.#followers.delete(follower);
  }

  #keep(event: LoggedEvent): void {
    this.#kept.push(event);
    this.#keptSize += event.json.length;
    while (this.#keptSize > MOST_KEPT) this.#keptSize -= this.#kept.shift()?.json.length ?? 0;
  }
}
