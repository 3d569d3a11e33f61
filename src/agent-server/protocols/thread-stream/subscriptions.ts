import type { ThreadEventFilter } from '../../../contract/agent/thread-stream.ts';
import type { LoggedEvent } from '../../runs/event-log.ts';
import { matchesFilter } from './event.ts';

/** Which events of a thread a client gets. */
export interface Selection {
  channels: readonly string[];
  /** The `seq` after which events are read; all that are kept by default. */
  since: number | undefined;
  /** Whether the client gets an event. Asked once for each, in order. */
  takes(event: Pick<LoggedEvent, 'event' | 'json'>, seq: number): boolean;
}

/** The events that one filter selects. */
export const selectionOf = (filter: ThreadEventFilter): Selection => ({
  channels: filter.channels,
  since: filter.since,
  takes: (event) => matchesFilter(filter, event),
});

interface Subscription {
  filter: ThreadEventFilter;
  /** The `seq` of the last event that was read for it; -1 for none. */
  readTo: number;
}

/**
 * The subscriptions of one connection. A later one begins with what is kept, so events are read again for it, of which
 * the others get none a second time. An event of several is sent once.
 */
export class Subscriptions implements Selection {
  readonly #all = new Map<string, Subscription>();

  add(id: string, filter: ThreadEventFilter): void {
    this.#all.set(id, { filter, readTo: filter.since ?? -1 });
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
    const first = Math.min(...[...this.#all.values()].map(({ readTo }) => readTo));
    return first < 0 ? undefined : first;
  }

  takes(event: Pick<LoggedEvent, 'event' | 'json'>, seq: number): boolean {
    let taken = false;
    for (const subscription of this.#all.values()) {
      if (subscription.readTo >= seq) continue;
      subscription.readTo = seq;
      taken ||= matchesFilter(subscription.filter, event);
    }
    return taken;
  }
}
