/** Notifies followers of a log that there may be new lines. */
export interface ChangeBell {
  /** This revision has changed: it has more lines, another status, or is no longer the live one. */
  ring(revisionId: string): void;
  /** Anything may have changed. */
  ringAll(): void;
  /** Subscribes to a revision: misses no ring from now on. */
  listen(revisionId: string): Listening;
}

/** A subscription to one revision. */
export interface Listening {
  /** Resolves at the next ring; at once if it has rung since the last call. */
  next(): Promise<void>;
  /** Ends the subscription. */
  end(): void;
}

/** Creates a bell. */
export function changeBell(): ChangeBell {
  const ears = new Map<string, Set<() => void>>();
  return {
    ring(revisionId) {
      for (const hear of ears.get(revisionId) ?? []) hear();
    },
    ringAll() {
      for (const those of ears.values()) for (const hear of those) hear();
    },
    listen(revisionId) {
      let rung = Promise.withResolvers<void>();
      const hear = (): void => rung.resolve();
      const those = ears.get(revisionId) ?? new Set();
      ears.set(revisionId, those.add(hear));
      return {
        async next() {
          const awaited = rung;
          await awaited.promise;
          if (rung === awaited) rung = Promise.withResolvers<void>();
        },
        end() {
          those.delete(hear);
          if (those.size === 0 && ears.get(revisionId) === those) ears.delete(revisionId);
        },
      };
    },
  };
}
