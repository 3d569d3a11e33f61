import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { moduleKind, packageEntryFile, packageEntry } from '../../src/agent-server/graphs/package-entry.ts';

test.each([
  ['the ending decides', 'graph.mts', '{ "type": "commonjs" }', 'module'],
  ['the ending decides for CommonJS too', 'graph.cjs', '{ "type": "module" }', 'commonjs'],
  ['else the nearest package.json', 'graph.ts', '{ "type": "module" }', 'module'],
  ['one that says nothing means CommonJS', 'graph.ts', '{}', 'commonjs'],
  ['and so does none at all', 'graph.ts', undefined, 'commonjs'],
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

describe('the file that a package gives', () => {
  const exported = {
    '.': { types: './index.d.ts', import: './index.mjs', require: './index.cjs' },
    './door': { input: './src/door.ts', import: { types: './door.d.ts', default: './door.mjs' }, default: './door.js' },
  };
  test.each([
    ['to a module', 'module', { exports: exported }, 'index.mjs', 'door.mjs'],
    ['to CommonJS', 'commonjs', { exports: exported }, 'index.cjs', 'door.js'],
    ['that names one file only', 'module', { exports: './only.js' }, 'only.js', undefined],
    ['that names its main file', 'commonjs', { main: 'main.js' }, 'main.js', undefined],
    ['that names none', 'module', {}, 'index.js', undefined],
  ] as const)('%s', (_, kind, description, entry, exportPath) => {
    const folder = mkdtempSync(join(tmpdir(), 'landfall-package-'));
    try {
      const home = join(folder, 'node_modules', 'engine');
      mkdirSync(home, { recursive: true });
      writeFileSync(join(home, 'package.json'), JSON.stringify({ name: 'engine', ...description }));
      const from = join(folder, 'graph.ts');
      expect(packageEntry('engine', from, kind)).toBe(join(home, entry));
      expect(packageEntryFile('engine', './door', from, kind)).toBe(exportPath && join(home, exportPath));
      expect(packageEntry('nobody', from, kind)).toBeUndefined();
      expect(packageEntryFile('nobody', './door', from, kind)).toBeUndefined();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
