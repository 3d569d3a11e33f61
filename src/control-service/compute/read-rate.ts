/** A rate limit for reading output: it limits what a flood costs the service. */
export interface ReadBounds {
  /** Bytes at once. */
  burst: number;
  /** Bytes per second once the burst is used up. */
  perSecond: number;
}

/** For one output, about what a build on this machine prints at its fastest. */
const boundsOfOutput: ReadBounds = { burst: 8 * 1_048_576, perSecond: 1_048_576 };
/** For all outputs of the service together. */
const boundsOfAll: ReadBounds = { burst: 32 * 1_048_576, perSecond: 4 * 1_048_576 };

/** The cost of each line in bytes: a flood of empty lines is more work than one of long ones. */
const bytesPerLine = 16;

export interface ReadRate {
  /** Records bytes that were read. Returns the milliseconds to wait before the next read. */
  spend: (bytes: number, lines: number, now: number) => number;
}

/** Creates a token bucket that may be overdrawn once: the debt has to be waited for. Sharers wait in turn. */
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

/** One output's own rate limit, which also counts towards the one of all outputs. */
export function sharedReadRate(bounds: ReadBounds = boundsOfOutput, all: ReadRate = rateOfAll): ReadRate {
  const own = readRate(bounds);
  return {
    spend: (bytes, lines, now) => Math.max(own.spend(bytes, lines, now), all.spend(bytes, lines, now)),
  };
}
