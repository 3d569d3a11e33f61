import type { ThreadEventFilter } from '../../../../contract/agent/thread-stream.ts';
import type { LoggedEvent } from '../../runs/event-log.ts';
import { matchesFilter } from './event.ts';

/** Which events of a thread a client gets. */
export interface Selection {
  channels: readonly string[];
  /** The `seq` after which events are read; all that are kept by default. */
  since: number | undefined;
  /** Whether the client gets an event. Called once for each, in the order of `seq`. */
  accept(event: Pick<LoggedEvent, 'event' | 'json'>, seq: number): boolean;
}

/** The events that one filter selects, after the last one that the client has: `Last-Event-ID`, if it is a `seq`. */
export function selectionOf(filter: ThreadEventFilter, lastEventId?: string): Selection {
  const last = /^\d+$/.test(lastEventId ?? '') ? Number(lastEventId) : undefined;
  return {
    channels: filter.channels,
    // A client that comes back sends its first request again, so the id is the later one.
    since: last !== undefined && Number.isSafeInteger(last) ? Math.max(last, filter.since ?? 0) : filter.since,
    accept: (event) => matchesFilter(filter, event),
  };
}

interface Subscription {
  filter: ThreadEventFilter;
  /** The last `seq` that was processed for it, at first its `since`; -1 if none. */
  lastSeq: number;
}

/** The subscriptions of one connection. A new one replays stored events; an event that several select is sent once. */
export class Subscriptions implements Selection {
  readonly #all = new Map<string, Subscription>();

  add(id: string, filter: ThreadEventFilter): void {
    this.#all.set(id, { filter, lastSeq: filter.since ?? -1 });
  }

  /** @returns whether there was such a subscription. */
  remove(id: string): boolean {
    return this.#all.delete(id);
  }

  get size(): number {
    return this.#all.size;
  }

  get channels(): string[] {
    return [...new Set([...this.#all.values()].flatMap(({ filter }) => filter.channels))];
  }

  get since(): number | undefined {
    const first = Math.min(...[...this.#all.values()].map(({ lastSeq }) => lastSeq));
    return first < 0 ? undefined : first;
  }

  accept(event: Pick<LoggedEvent, 'event' | 'json'>, seq: number): boolean {
    let isSelected = false;
    for (const subscription of this.#all.values()) {
      if (subscription.lastSeq >= seq) continue;
      subscription.lastSeq = seq;
      isSelected ||= matchesFilter(subscription.filter, event);
    }
    return isSelected;
  }
}
