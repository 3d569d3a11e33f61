import type { ResolvedShare } from '../deployments/validation/resolved-resources.ts';

/** Cores in Kubernetes' canonical form: `2`, or thousandths, `500m`. */
const cores = (count: number): string => (Number.isInteger(count) ? String(count) : `${Math.round(count * 1_000)}m`);

export const gibibytes = (count: number): string => `${count}Gi`;

/** A MB is 1,000,000 bytes, which Kubernetes calls `M`: the document says MB beside GiB. */
const amounts = (cpu: number | undefined, memoryMb: number | undefined): Record<string, string> => ({
  ...(cpu === undefined ? {} : { cpu: cores(cpu) }),
  ...(memoryMb === undefined ? {} : { memory: `${memoryMb}M` }),
});

/** A container's `resources`: its requests and limits; leaves out what has no values. */
export function resourcesOf(share: ResolvedShare): Record<string, unknown> {
  const sides = { requests: amounts(share.cpu, share.memoryMb), limits: amounts(share.cpuLimit, share.memoryLimitMb) };
  const set = Object.entries(sides).filter(([, side]) => Object.keys(side).length > 0);
  return set.length > 0 ? { resources: Object.fromEntries(set) } : {};
}

const suffixes: Readonly<Record<string, number>> = {
  '': 1,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** Parses a Kubernetes quantity (`500m`, `256Mi`, `1.5`); undefined for an invalid one. */
export function quantity(text: string): number | undefined {
  const [, number, suffix] = /^(\d+(?:\.\d+)?)([a-zA-Z]*)$/.exec(text.trim()) ?? [];
  const times = suffix === undefined ? undefined : suffixes[suffix];
  return number === undefined || times === undefined ? undefined : Number(number) * times;
}
