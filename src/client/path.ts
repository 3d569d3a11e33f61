/** Encodes a path segment. Throws for a value that would change the path. */
export function segment(what: string, value: string): string {
  if (value === '' || value === '.' || value === '..')
    throw new Error(`${what} is ${JSON.stringify(value)}, which is no id`);
  return encodeURIComponent(value);
}

/** Builds a query of the defined values; a list is joined by commas. */
export function query(values: Record<string, string | number | boolean | readonly string[] | undefined>): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) pairs.set(name, String(value));
  return pairs.size === 0 ? '' : `?${pairs.toString()}`;
}
