let drawn: number | undefined;

/**
 * The next version of a channel: the next whole number, and a fraction that no other step draws. Values of channels are
 * stored under their versions, once; where two steps come after the same one (a run from a state of the past, or after
 * one that was rolled back), whole numbers alone would give the second the values of the first.
 *
 * Within one step, which the engine computes without a pause, the same version comes after the same version: the engine
 * tells by that which nodes ran side by side.
 */
export function nextVersion(current: number | undefined): number {
  if (drawn === undefined) {
    drawn = (1 + Math.floor(Math.random() * 999_999_999)) / 1e9;
    queueMicrotask(() => (drawn = undefined));
  }
  return Number((Math.floor(current ?? 0) + 1 + drawn).toFixed(9));
}
