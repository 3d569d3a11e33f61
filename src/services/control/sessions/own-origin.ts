/** The headers that show which page sent a request. */
export interface RequestSource {
  origin: string | undefined;
  host: string | undefined;
}

/** Who sent a request. `unnamed`: without an `Origin`, so not a page, or a page of the service that reads. */
export type SourceKind = 'own' | 'unnamed' | 'foreign-host' | 'foreign-origin';

/**
 * Decides whether a page of this service sent a request. Without a public address, only the loopback names are trusted:
 * an attacker may have pointed any other name at this machine (DNS rebinding).
 */
export function classifySource({ origin, host = '' }: RequestSource, publicUrl: string | undefined): SourceKind {
  const isLoopback = loopback.test(host);
  if (publicUrl === undefined && !isLoopback) return 'foreign-host';
  if (origin === undefined) return 'unnamed';
  if (publicUrl !== undefined && origin === new URL(publicUrl).origin) return 'own';
  return isLoopback && isOriginOf(origin, host) ? 'own' : 'foreign-origin';
}

const loopback = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i;

function isOriginOf(origin: string, host: string): boolean {
  if (!/^https?:\/\//.test(origin) || !URL.canParse(origin)) return false;
  const { protocol, origin: parsed } = new URL(origin);
  const requested = `${protocol}//${host}`;
  return origin === parsed && URL.canParse(requested) && new URL(requested).origin === parsed;
}
