import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { moduleKind, packageEntry } from '../../../../../src/services/agent/graphs/javascript/package-entry.ts';

test.each([
  ['the extension decides', 'graph.mts', '{ "type": "commonjs" }', 'module'],
  ['the extension decides for CommonJS too', 'graph.cjs', '{ "type": "module" }', 'commonjs'],
  ['otherwise the nearest package.json', 'graph.ts', '{ "type": "module" }', 'module'],
  ['a package.json without a type means CommonJS', 'graph.ts', '{}', 'commonjs'],
  ['a missing package.json means CommonJS', 'graph.ts', undefined, 'commonjs'],
])('%s', (_, file, description, kind) => {
  const folder = mkdtempSync(join(tmpdir(), 'landfall-kind-'));
  try {
    const path = join(folder, file);
    writeFileSync(path, 'export const graph = 1;');
    if (description !== undefined) writeFileSync(join(folder, 'package.json'), description);
    expect(moduleKind(path)).toBe(kind);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe('the entry file of a package', () => {
  const exported = {
    '.': { types: './index.d.ts', import: './index.mjs', require: './index.cjs' },
    './entry': {
      input: './src/entry.ts',
      import: { types: './entry.d.ts', default: './entry.mjs' },
      default: './entry.js',
    },
  };
  test.each([
    ['for a module', 'module', { exports: exported }, 'index.mjs', 'entry.mjs'],
    ['for CommonJS', 'commonjs', { exports: exported }, 'index.cjs', 'entry.js'],
    ['with a single export', 'module', { exports: './only.js' }, 'only.js', undefined],
    ['with a main file', 'commonjs', { main: 'main.js' }, 'main.js', undefined],
    ['with neither', 'module', {}, 'index.js', undefined],
  ] as const)('%s', (_, kind, description, entry, exportPath) => {
    const folder = mkdtempSync(join(tmpdir(), 'landfall-package-'));
    try {
      const home = join(folder, 'node_modules', 'engine');
      mkdirSync(home, { recursive: true });
      writeFileSync(join(home, 'package.json'), JSON.stringify({ name: 'engine', ...description }));
      const from = join(folder, 'graph.ts');
      expect(packageEntry('engine', from, kind)).toBe(join(home, entry));
      expect(packageEntry('engine', from, kind, './entry')).toBe(exportPath && join(home, exportPath));
      expect(packageEntry('unknown', from, kind)).toBeUndefined();
      expect(packageEntry('unknown', from, kind, './entry')).toBeUndefined();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
