import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { agentIds } from '../../../src/control-service/isolation/id-range.ts';
import { agentServerPackages } from '../../../src/control-service/isolation/program.ts';

const whole = '         0          0 4294967295\n';

describe('the numbers of deployments’ users', () => {
  test.each([
    ['a machine has those that nobody else uses', [whole, whole], 1_880_000_000],
    ['a container of 65,536 users has smaller ones', ['0 100000 65536', '0 100000 65536'], 20_000],
    ['a container whose users lie in two spans has them where they fit', ['0 1000 1\n1 100000 65535', whole], 20_000],
    ['a namespace of one user has none', ['0 1000 1', '0 1000 1'], undefined],
    ['groups count like users', [whole, '0 1000 1'], undefined],
    ['what cannot be read has none', ['', whole], undefined],
  ])('%s', (_, maps, first) => {
    expect(agentIds(maps)?.first).toBe(first);
  });
});

const src = resolve(import.meta.dirname, '../../../src');

/** The packages that a file loads when it runs, and those that the files do which it imports. */
function loadedBy(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  const text = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const specifiers = [
    ...text.matchAll(/^\s*(?:import|export)\b(?!\s+type\b)[^'";]*?\bfrom\s*'([^']+)'/gm),
    ...text.matchAll(/\bimport\(\s*'([^']+)'\s*\)/g),
  ].map(([, specifier = '']) => specifier);
  return specifiers.flatMap((specifier) => {
    if (specifier.startsWith('node:')) return [];
    if (specifier.startsWith('.')) return loadedBy(resolve(dirname(file), specifier), seen);
    return specifier
      .split('/')
      .slice(0, specifier.startsWith('@') ? 2 : 1)
      .join('/');
  });
}

test('every package that the agent server loads goes with it where it is copied', () => {
  const loaded = new Set(loadedBy(join(src, 'agent-server/main.ts')));
  expect([...loaded].filter((name) => !agentServerPackages.includes(name)).toSorted()).toEqual([]);
  expect(readdirSync(join(src, 'agent-server'))).toContain('main.ts');
});
