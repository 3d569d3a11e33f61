const allowed = new Set(['http:', 'https:', 'mailto:']);

/** The address of a link that others wrote, if it leads to a web page or a mailbox; undefined for all others. */
export function safeAddress(url: string): string | undefined {
  // A relative address would lead to a page of this service.
  if (!URL.canParse(url)) return undefined;
  const { protocol, href } = new URL(url);
  return allowed.has(protocol) ? href : undefined;
}
