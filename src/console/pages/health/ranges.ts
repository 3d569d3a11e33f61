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

/** The period of an address; the shortest where it names none. */
export const rangeOf = (id: string | undefined): Range => ranges.find((range) => range.id === id) ?? ranges[0];
