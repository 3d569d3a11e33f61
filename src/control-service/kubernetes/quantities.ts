import type { ResolvedShare } from '../deployments/validation/resolved-resources.ts';

/** Cores in Kubernetes' canonical form: `2`, or thousandths, `500m`. */
const cores = (count: number): string => (Number.isInteger(count) ? String(count) : `${Math.round(count * 1_000)}m`);

/** Memory in MB: the document says MB beside GiB, so a MB is 1,000,000 bytes, which Kubernetes calls `M`. */
const megabytes = (count: number): string => `${count}M`;

/** Storage in GiB, `Gi`. */
export const gibibytes = (count: number): string => `${count}Gi`;

const amounts = (cpu: number | undefined, memoryMb: number | undefined): Record<string, string> => ({
  ...(cpu === undefined ? {} : { cpu: cores(cpu) }),
  ...(memoryMb === undefined ? {} : { memory: megabytes(memoryMb) }),
});

/** A container's requests and limits; leaves out a side without values. */
export function resourcesOf(share: ResolvedShare): Record<string, Record<string, string>> {
  const requests = amounts(share.cpu, share.memoryMb);
  const limits = amounts(share.cpuLimit, share.memoryLimitMb);
  return {
    ...(Object.keys(requests).length === 0 ? {} : { requests }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
  };
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
