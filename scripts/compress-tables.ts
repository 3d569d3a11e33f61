import { brotliCompressSync } from 'node:zlib';

/** A table that a module has as one long text of letters, digits and signs. */
const table = /(["'`])([\w+/=-]{200,})\1/g;

/**
 * A module with its tables in one compressed text, which it reads when it is loaded: a third of their size. The module
 * has to be ESM.
 */
export function compressTables(code: string): string {
  const tables = [...code.matchAll(table)].map(([, , text]) => text);
  const compressed = brotliCompressSync(tables.join('\n')).toString('base64');
  let next = 0;
  const rest = code.replaceAll(table, () => `compressedTables[${next++}]`);
  return [
    `import { brotliDecompressSync } from 'node:zlib';`,
    `const compressedTables = brotliDecompressSync(Buffer.from('${compressed}', 'base64')).toString().split('\\n');`,
    rest,
  ].join('\n');
}
