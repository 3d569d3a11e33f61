/** The header `Warning` (RFC 7234, 5.5): what of a request is ignored. A header has ASCII only. */
export const warningHeader = (text: string): Record<string, string> => ({
  warning: `299 landfall "${text.replaceAll('"', "'").replaceAll(/[^ -~]|\\/g, '?')}"`,
});
