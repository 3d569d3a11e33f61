import { isIP } from 'node:net';

interface CallerSettings {
  /** The address of the other end of the connection. */
  peer: string;
  forwardedFor: string | undefined;
  publicUrl: string | undefined;
}

/**
 * The address of a caller, for counting its wrong keys. Behind a reverse proxy of this machine it is the last one of
 * `X-Forwarded-For`, which the proxy added: the caller can forge the others.
 */
export function callerAddress({ peer, forwardedFor = '', publicUrl }: CallerSettings): string {
  if (publicUrl === undefined || !loopback.test(peer)) return peer;
  const last = forwardedFor.split(',').at(-1)?.trim() ?? '';
  // Some web servers add the port.
  const address = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(last);
  const bare = address?.[1] ?? address?.[2] ?? last;
  return isIP(bare) === 0 ? peer : bare;
}

const loopback = /^(?:::1|(?:::ffff:)?127(?:\.\d{1,3}){3})$/i;
