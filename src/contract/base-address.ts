import { withoutTrailingSlashes } from './plain-text.ts';

/** Where a service is: the part that every path of it hangs below. */
export interface BaseAddress {
  /** Scheme, host and port. */
  origin: string;
  /** The path prefix without a slash at its end: empty, or like `/api-host`. */
  prefix: string;
  loopback: boolean;
}

/** A base address as it was written, or why nothing is sent there. `told` is what of it may be shown. */
export type ReadAddress = { ok: true; address: BaseAddress } | { ok: false; problem: string; shown: string };

/**
 * Reads a base address, with or without a path prefix (control-service.md, "Base address"). Plain http off loopback is
 * refused unless it was allowed: a key would travel in clear. So is an address with a user, a query or a fragment in it.
 */
export function readAddress(written: string, { allowHttp = false }: { allowHttp?: boolean } = {}): ReadAddress {
  const trimmed = written.trim();
  if (!URL.canParse(trimmed)) {
    return {
      ok: false,
      problem: 'this is not an address: write it like https://host/path',
      shown: '(an unreadable address)',
    };
  }
  const url = new URL(trimmed);
  const shown = `${url.protocol}//${url.host}${url.pathname}`;
  const refused = (problem: string): ReadAddress => ({ ok: false, problem, shown });
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refused('the address has to begin with https://');
  if (url.username || url.password) {
    return refused('the address holds a user or a password: leave it out and give the key by itself');
  }
  if (url.search || url.hash) return refused('the address holds a ? or a #: end it with its path');
  const loopback = isLoopback(url.hostname);
  if (url.protocol === 'http:' && !loopback && !allowHttp) {
    return refused(
      'plain http would show the key to the network: use https, or set allow-http if this network is yours',
    );
  }
  return { ok: true, address: { origin: url.origin, prefix: withoutTrailingSlashes(url.pathname), loopback } };
}

/** True for a host that is this machine itself, as `URL` spells it. */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname === '[::1]' ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname) ||
    /^\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\]$/.test(hostname)
  );
}
