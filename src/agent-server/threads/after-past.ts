import type { Follower, LoggedEvent } from '../runs/event-log.ts';

/**
 * Tells what was, once that is read, and then what happens: what happens while the past is read comes after it.
 *
 * @param follow follows what happens, from now on.
 * @param complain told why the past can't be told; what happens is told all the same.
 * @returns stops following.
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
