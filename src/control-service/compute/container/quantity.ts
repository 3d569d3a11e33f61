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
