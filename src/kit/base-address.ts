import { withoutTrailingSlashes } from './plain-text.ts';

/** The base URL of a service, to which all paths are appended. */
export interface BaseAddress {
  /** Scheme, host and port. */
  origin: string;
  /** The path prefix without a trailing slash: empty, or like `/api-host`. */
  prefix: string;
  loopback: boolean;
}

/** A parsed base URL, or why it is not used. `shown` is the part that may be displayed. */
export type ReadAddress = { ok: true; address: BaseAddress } | { ok: false; problem: string; shown: string };

/**
 * Parses a base URL, with or without a path prefix (docs/design/contract.md#base-address). Refuses plain http except on
 * loopback, unless allowed: it would send a key unencrypted. Refuses a URL with a user, a query or a fragment.
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

/** Why a value can't be sent as a header, without showing it; undefined if it can, or is absent. */
export function invalidInHeader(what: string, value: string | undefined): string | undefined {
  if (value === undefined || /^[\x21-\x7e]*$/.test(value)) return undefined;
  return `${what} holds a space, a line break or a letter that no header may carry`;
}

/** A base address without anything but its place: two spellings of it are one text. */
export function addressOf(baseUrl: string): string {
  const read = readAddress(baseUrl, { allowHttp: true });
  return read.ok ? `${read.address.origin}${read.address.prefix}` : read.shown;
}
