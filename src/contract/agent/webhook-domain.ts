/** A parsed entry of `webhooks.url.allowed_domains`: one host, or all subdomains of a domain. */
export interface WebhookDomain {
  /** In the canonical form of URLs: lower case, ASCII (punycode), an IPv6 address in brackets. */
  host: string;
  /** Whether the entry was `*.` and the domain: all its subdomains, without the domain itself. */
  below: boolean;
}

/**
 * Parses an entry of `webhooks.url.allowed_domains` (section "Webhook configuration"): a host name, an address, or `*.` and
 * a domain. Undefined for anything else, such as a URL or a name with a port, which could never match.
 */
export function readWebhookDomain(entry: string): WebhookDomain | undefined {
  const below = entry.startsWith('*.');
  const written = below ? entry.slice(2) : entry;
  const isBareIpv6 = written.includes(':') && !written.startsWith('[');
  const host = hostOf(isBareIpv6 ? `[${written}]` : written);
  if (host === undefined) return undefined;
  const isAddress = host.startsWith('[') || /^[\d.]+$/.test(host);
  return below && isAddress ? undefined : { host, below };
}

/** The canonical form of a host, without a trailing dot; undefined if invalid. */
function hostOf(written: string): string | undefined {
  if (!/^(?:\[[\da-fA-F:.]+\]|[^\s/?#@:\\[\]*%]+)$/.test(written) || !URL.canParse(`http://${written}/`))
    return undefined;
  const host = withoutEndDot(new URL(`http://${written}/`).hostname);
  return host === '' || host.split('.').includes('') ? undefined : host;
}

/** `example.com.` is the full form of `example.com`: the same host. */
export const withoutEndDot = (host: string): string => (host.endsWith('.') ? host.slice(0, -1) : host);
