import { isIP } from 'node:net';

interface CallerSettings {
  /** The address of the other end of the connection. */
  peer: string;
  forwardedFor: string | undefined;
  /** The addresses of the reverse proxies, whose header counts. */
  trustedProxies: readonly string[];
}

/**
 * The address of a caller, for counting its wrong keys. Behind a trusted proxy it is the last one of `X-Forwarded-For`,
 * which the proxy added: the caller can forge the others, and everyone who connects directly all of them.
 */
export function callerAddress({ peer, forwardedFor = '', trustedProxies }: CallerSettings): string {
  if (!trustedProxies.some((proxy) => comparable(proxy) === comparable(peer))) return peer;
  const last = forwardedFor.split(',').at(-1)?.trim() ?? '';
  // Some web servers add the port.
  const address = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(last);
  const bare = address?.[1] ?? address?.[2] ?? last;
  return isIP(bare) === 0 ? peer : bare;
}

/** An IPv4 address as itself, where a socket of both kinds shows it as IPv6; IPv6 in its shortest form, unless it has a zone. */
function comparable(address: string): string {
  const mapped = /^::ffff:(?=[\d.]+$)/i;
  const bare = address.replace(mapped, '');
  return isIP(bare) === 6 ? (URL.parse(`http://[${bare}]`)?.hostname ?? bare) : bare;
}
