/** Text that Postgres takes: its `text` refuses the NUL character, its `jsonb` halves of surrogate pairs, too. */
export const storableText = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed();

/** JSON that `jsonb` takes, in its keys as in its values. */
export const storableJson = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === 'string') return storableText(part);
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [storableText(key), inner]));
  });
