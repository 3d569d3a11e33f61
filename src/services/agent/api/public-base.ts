/**
 * The public URL of the deployment, from the proxy's headers, for the caller who sent them. @param within the server's
 * mount prefix; may be empty.
 */
export function publicBase(url: string, headers: Headers, within: string): URL {
  const own = new URL(url);
  const [proto, host, prefix] = ['proto', 'host', 'prefix'].map((name) => first(headers.get(`x-forwarded-${name}`)));
  const scheme = proto === 'https' || proto === 'http' ? proto : own.protocol.slice(0, -1);
  const path = prefix !== undefined && /^(?:\/[\w.~-]+)+\/?$/.test(prefix) ? prefix.replace(/\/$/, '') : '';
  const origin = `${scheme}://${host ?? headers.get('host') ?? own.host}`;
  return new URL(`${path}${within.replace(/\/$/, '')}/`, URL.canParse(origin) ? origin : own.origin);
}

/** The value of the outermost proxy. */
const first = (value: string | null): string | undefined => value?.split(',')[0]?.trim() || undefined;
