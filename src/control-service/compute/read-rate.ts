/** How much output is read: what a flood costs the service is bounded by it, and not by how fast it comes. */
export interface ReadBounds {
  /** Bytes at once. */
  burst: number;
  /** Bytes a second once the burst is used up. */
  perSecond: number;
}

/** For one output, about what a build on this machine prints at its fastest. */
const boundsOfOutput: ReadBounds = { burst: 8 * 1_048_576, perSecond: 1_048_576 };
/** For all outputs of the service together. */
const boundsOfAll: ReadBounds = { burst: 32 * 1_048_576, perSecond: 4 * 1_048_576 };

/** Each line costs as much as this many bytes: a flood of empty ones is more work than one of long ones. */
const bytesPerLine = 16;

export interface ReadRate {
  /** Notes what was read. Returns the milliseconds to wait before more is read. */
  spend: (bytes: number, lines: number, now: number) => number;
}

/** Makes a rate that may be overdrawn once: what is owed has to be waited for. Those who share one wait in turn. */
export function readRate({ burst, perSecond }: ReadBounds): ReadRate {
  let allowance = burst;
  let since: number | undefined;
  return {
    spend(bytes, lines, now) {
      const elapsed = Math.max(0, now - (since ?? now));
      since = now;
      allowance = Math.min(burst, allowance + (elapsed / 1_000) * perSecond) - bytes - lines * bytesPerLine;
      return allowance >= 0 ? 0 : Math.ceil((-allowance / perSecond) * 1_000);
    },
  };
}

const rateOfAll = readRate(boundsOfAll);

/** A rate of one output's own that takes part in the one of all outputs of this service. */
export function sharedReadRate(bounds: ReadBounds = boundsOfOutput, all: ReadRate = rateOfAll): ReadRate {
  const own = readRate(bounds);
  return {
    spend: (bytes, lines, now) => Math.max(own.spend(bytes, lines, now), all.spend(bytes, lines, now)),
  };
}
