const hour = 3_600_000;

/** The periods that the page shows. */
export const ranges = [
  { id: '1h', label: '1 hour', ms: hour },
  { id: '6h', label: '6 hours', ms: 6 * hour },
  { id: '24h', label: '24 hours', ms: 24 * hour },
  { id: '7d', label: '7 days', ms: 7 * 24 * hour },
  { id: '30d', label: '30 days', ms: 30 * 24 * hour },
] as const;
export type Range = (typeof ranges)[number];

const shortestMs = 600_000;

/** The start of a period (ms): no figures are older than their deployment. */
export const startOf = ({ ms }: Range, createdAt: string, now: number): number =>
  Math.max(now - ms, Math.min(Date.parse(createdAt), now - shortestMs));

/** The period of an address; the shortest where it names none. */
export const rangeOf = (id: string | undefined): Range => ranges.find((range) => range.id === id) ?? ranges[0];
