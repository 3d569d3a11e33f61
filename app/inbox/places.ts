/** Counts the work of each installation, and admits no more of it than there are places for it. */
export interface Places {
  /** Works in a place of the installation. @returns false, without working, where all of its places are taken. */
  within(installationId: number | undefined, work: () => Promise<void>): Promise<boolean>;
}

/** @param most how many places an installation has now; work without one is always admitted. */
export function createPlaces(most: (installationId: number) => number): Places {
  const taken = new Map<number, number>();
  return {
    async within(installationId, work) {
      if (installationId === undefined) {
        await work();
        return true;
      }
      const before = taken.get(installationId) ?? 0;
      if (before >= most(installationId)) return false;
      taken.set(installationId, before + 1);
      try {
        await work();
        return true;
      } finally {
        const left = (taken.get(installationId) ?? 1) - 1;
        if (left > 0) taken.set(installationId, left);
        else taken.delete(installationId);
      }
    },
  };
}
