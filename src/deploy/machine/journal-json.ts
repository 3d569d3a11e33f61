/** Texts of others, by the names of their fields. */
const maskedFields: ReadonlySet<string> = new Set([
  'text',
  'why',
  'expected',
  'nodes',
  'tools',
  'buildWarnings',
  'statusMessage',
]);

/** What a journal keeps, as JSON. `redact` removes secrets from the texts of others in it. */
export function toJournalJson(kept: unknown, redact: (text: string) => string): string {
  const shownText = (value: unknown): unknown => (typeof value === 'string' ? redact(value) : value);
  return JSON.stringify(kept, (name: string, value: unknown): unknown =>
    !maskedFields.has(name) ? value : Array.isArray(value) ? value.map(shownText) : shownText(value),
  );
}
