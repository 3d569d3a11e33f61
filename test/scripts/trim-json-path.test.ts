import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { trimJsonPath } from '../../scripts/trim-json-path.ts';

const queries = ['$.a', '$..b[?@.c > 1]', '$[?length(@.d) == 2]', "$['x', 1, 2:4]", '$[?count(@.*) > 1]'];

test('queries find the same by the trimmed library', async () => {
  const file = join(dirname(createRequire(import.meta.url).resolve('json-p3')), 'json-p3.esm.js');
  const code = await readFile(file, 'utf8');
  const left = trimJsonPath(code);
  expect(left.length).toBeLessThan(code.length - 25_000);
  const folder = await mkdtemp(join(tmpdir(), 'landfall-grammar-'));
  try {
    await writeFile(join(folder, 'index.mjs'), left);
    const [{ query }, { query: original }] = await Promise.all([
      import(pathToFileURL(join(folder, 'index.mjs')).href),
      import('json-p3'),
    ]);
    const value = {
      a: [1, 2],
      x: {
        b: [
          { c: 2, d: 'xy' },
          { c: 0, d: 'z' },
        ],
      },
    };
    for (const each of queries) expect(query(each, value).values()).toEqual(original(each, value).values());
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('a library that has changed stops the build', () => {
  expect(() => trimJsonPath('const x = 1;')).toThrow('what is left out of json-p3 is not where it was');
});
