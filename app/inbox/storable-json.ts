/** JSON that `jsonb` takes: it refuses the NUL character and halves of pairs, which texts of others may hold. */
export const storableJson = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'string' ? part.replaceAll('\0', '\uFFFD').toWellFormed() : part,
  );
