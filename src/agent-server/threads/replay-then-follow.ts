import type { Follower, LoggedEvent } from '../runs/event-buffer.ts';

/**
 * Delivers past events once they are read, then new ones; events that occur meanwhile are queued after them.
 *
 * @param follow subscribes to new events.
 * @param complain called if the past can't be read; new events are delivered anyway.
 * @returns unsubscribes.
 */
export function afterPast(
  past: Promise<readonly LoggedEvent[]>,
  follow: (follower: Follower) => () => void,
  notify: Follower,
  complain: (error: unknown) => void,
): () => void {
  let waiting: Parameters<Follower>[0][] | undefined = [];
  const leave = follow((event) => {
    if (waiting) waiting.push(event);
    else notify(event);
  });
  past
    .then((events) => events.forEach(notify))
    .catch(complain)
    .finally(() => {
      waiting?.forEach(notify);
      waiting = undefined;
    });
  return leave;
}
