let drawn: number | undefined;

/**
 * Returns the next version of a channel: the next whole number plus a fraction drawn for each step. Channel values are
 * stored once per version; with whole numbers alone, two branches from the same checkpoint (a run from a past state, or
 * after a rollback) would share values.
 *
 * Within one synchronous step the same version follows the same version: the engine uses it to see which nodes ran in
 * parallel.
 */
export function nextVersion(current: number | undefined): number {
  if (drawn === undefined) {
    drawn = (1 + Math.floor(Math.random() * 999_999_999)) / 1e9;
    queueMicrotask(() => (drawn = undefined));
  }
  return Number((Math.floor(current ?? 0) + 1 + drawn).toFixed(9));
}
