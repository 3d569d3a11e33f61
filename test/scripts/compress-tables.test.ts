import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { compressTables } from '../../scripts/compress-tables.ts';

const patterns = [
  '\\p{L}',
  '\\p{Lu}',
  '\\p{N}',
  '\\p{Greek}',
  '\\p{Han}',
  '\\P{Cyrillic}',
  '(?i)straße',
  '(?i)[k-s]',
  '\\pZ',
];
const texts = ['a', 'Ä', 'ß', 'Σ', 'ς', '漢', 'я', '٣', 'K', 'ſ', '\u2028', 'STRASSE', 'STRAẞE', '\u{1F600}'];

test('patterns match the same by compressed tables', async () => {
  const file = join(dirname(createRequire(import.meta.url).resolve('re2js')), 'index.js');
  const code = await readFile(file, 'utf8');
  const compressed = compressTables(code);
  expect(compressed.length).toBeLessThan(code.length - 20_000);
  const folder = await mkdtemp(join(tmpdir(), 'landfall-tables-'));
  try {
    await writeFile(join(folder, 'index.mjs'), compressed);
    const made: { RE2JS: typeof RE2JS } = await import(pathToFileURL(join(folder, 'index.mjs')).href);
    const found = (engine: typeof RE2JS) =>
      patterns.map((pattern) => texts.map((text) => engine.compile(pattern).matcher(text).find()));
    expect(found(made.RE2JS)).toEqual(found(RE2JS));
    expect(found(RE2JS).flat()).toContain(true);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
