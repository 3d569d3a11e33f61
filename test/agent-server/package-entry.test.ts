import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { moduleKind } from '../../src/agent-server/graphs/package-entry.ts';

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
