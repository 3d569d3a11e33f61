/**
 * Where the deployment answers, as its callers see it: whoever stands in front of it says so by the usual headers. It is
 * only told to the very caller who sent them.
 *
 * @param url the request's own.
 * @param within what every path of the server itself begins with; may be empty.
 */
export function publicBase(url: string, headers: Headers, within: string): URL {
  const own = new URL(url);
  const [proto, host, prefix] = ['proto', 'host', 'prefix'].map((name) => first(headers.get(`x-forwarded-${name}`)));
  const scheme = proto === 'https' || proto === 'http' ? proto : own.protocol.slice(0, -1);
  const path = prefix !== undefined && /^(?:\/[\w.~-]+)+\/?$/.test(prefix) ? prefix.replace(/\/$/, '') : '';
  const origin = `${scheme}://${host ?? headers.get('host') ?? own.host}`;
  return new URL(`${path}${within.replace(/\/$/, '')}/`, URL.canParse(origin) ? origin : own.origin);
}

/** Of the parties in front, the outermost. */
const first = (value: string | null): string | undefined => value?.split(',')[0]?.trim() || undefined;
