import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { agentIds } from '../../../../src/services/control/isolation/deployment-users.ts';
import { agentServerPackages } from '../../../../src/services/control/isolation/program.ts';

const whole = '         0          0 4294967295\n';

describe('the uids of deployments', () => {
  test.each([
    ['an unused range on a machine', [whole, whole], 1_880_000_000],
    ['smaller ones in a container of 65,536 users', ['0 100000 65536', '0 100000 65536'], 20_000],
    ['a range that fits where a container maps users in two parts', ['0 1000 1\n1 100000 65535', whole], 20_000],
    ['none in a namespace of one user', ['0 1000 1', '0 1000 1'], undefined],
    ['groups count like users', [whole, '0 1000 1'], undefined],
    ["none if the maps can't be read", ['', whole], undefined],
  ])('%s', (_, maps, first) => {
    expect(agentIds(maps)?.first).toBe(first);
  });
});

const src = resolve(import.meta.dirname, '../../../../src');

/** The packages that a file and its imports load at run time. */
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

test('copying the agent server includes every package that it loads', () => {
  const loaded = new Set(loadedBy(join(src, 'services/agent/main.ts')));
  expect([...loaded].filter((name) => !agentServerPackages.includes(name)).toSorted()).toEqual([]);
  expect(readdirSync(join(src, 'services/agent'))).toContain('main.ts');
});
