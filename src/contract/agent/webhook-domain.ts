/** An entry of `webhooks.url.allowed_domains`, read: one host, or everything below a domain. */
export interface WebhookDomain {
  /** As addresses spell it: small letters, names of other scripts in their ASCII form, an IPv6 address in brackets. */
  host: string;
  /** Whether the entry was `*.` and the domain: every name below it, and not the domain itself. */
  below: boolean;
}

/**
 * Reads an entry of `webhooks.url.allowed_domains` (section "Webhook configuration"): a host name, an address, or `*.` and
 * a domain. Undefined for anything else, such as a URL or a name with a port, which could never allow what it says.
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

/** A host as addresses spell it, without the dot that a full name may end with; undefined for what is no host. */
function hostOf(written: string): string | undefined {
  if (!/^(?:\[[\da-fA-F:.]+\]|[^\s/?#@:\\[\]*%]+)$/.test(written) || !URL.canParse(`http://${written}/`))
    return undefined;
  const host = withoutEndDot(new URL(`http://${written}/`).hostname);
  return host === '' || host.split('.').includes('') ? undefined : host;
}

/** `example.com.` is the full form of `example.com`: the same host. */
export const withoutEndDot = (host: string): string => (host.endsWith('.') ? host.slice(0, -1) : host);
