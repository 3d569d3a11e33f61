/**
 * The public URL of the deployment, from the forwarding headers of the proxy. It is only returned to the caller who
 * sent them.
 *
 * @param url the request's own.
 * @param within the mount prefix of the server itself; may be empty.
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
