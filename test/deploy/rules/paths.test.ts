import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileGlob } from '../../../src/deploy/file/glob.ts';
import { countingPath, untouchedPaths } from '../../../src/deploy/rules/trigger.ts';
import type { ChangedPaths } from '../../../src/deploy/rules/trigger-types.ts';

const reported = (...paths: string[]): ChangedPaths => ({ kind: 'known', paths });
const rules = (include: string[], exclude: string[] = []) => ({ include, exclude });

describe('paths that count', () => {
  test.each<[sentence: string, include: string[], exclude: string[], path: string, counts: boolean]>([
    ['a path that is included', ['agents/**'], [], 'agents/a.py', true],
    ['a path that is not', ['agents/**'], [], 'docs/a.md', false],
    ['a hidden file of an included folder', ['agents/**'], [], 'agents/.env.example', true],
    ['one of several globs is enough', ['lib/**', 'agents/**'], [], 'agents/a.py', true],
    ['an excluded path, although it is included', ['agents/**'], ['**/*.md'], 'agents/README.md', false],
    ['with nothing included everything is', [], ['docs/**'], 'agents/a.py', true],
    ['and what is excluded still is not', [], ['docs/**'], 'docs/a.md', false],
    ['letters count as they are', ['Agents/**'], [], 'agents/a.py', false],
    ['a path as long as is matched', ['agents/**'], [], `docs/${'x'.repeat(395)}`, false],
    ['a path that is too long to match', ['agents/**'], ['**'], `docs/${'x'.repeat(500)}`, true],
    ['an included glob that cannot be read', ['[', 'lib/**'], [], 'agents/a.py', true],
    ['an excluded glob that cannot be read', ['agents/**'], ['['], 'agents/a.py', true],
  ])('%s', (_, include, exclude, path, counts) => {
    expect(countingPath(rules(include, exclude))(path)).toBe(counts);
  });
});

describe('a push', () => {
  const agents = rules(['agents/**'], ['**/*.md']);
  test.each<[string, ChangedPaths | undefined, ReturnType<typeof rules> | undefined, number | undefined]>([
    ['without rules', reported('docs/a.md'), undefined, undefined],
    ['whose changes were not requested', undefined, agents, undefined],
    ['whose changes are unavailable', { kind: 'unavailable', why: 'the list is cut' }, agents, undefined],
    ['that touches one path that counts', reported('docs/a.md', 'agents/a.py'), agents, undefined],
    ['that touches none', reported('docs/a.md', 'agents/b.md'), agents, 2],
    ['that touches one other', reported('docs/a.md'), agents, 1],
    ['that changes no file', reported(), agents, 0],
  ])('%s', (_, changed, requested, paths) => {
    expect(untouchedPaths(requested, changed)).toBe(paths);
  });
});

describe('paths and globs that are made to be slow', () => {
  const globs = [`**/${'*a*/'.repeat(47)}**/b`, `${`{${'a,'.repeat(30)}a}`.repeat(3)}b`, `**/${'?'.repeat(190)}b`];
  const paths = ['a', 'a/', 'aa/'].map((unit) => `${unit.repeat(400).slice(0, 399)}b`);
  const list = (glob: string): string[] => Array.from({ length: 50 }, () => glob);
  const changed = reported(...Array.from({ length: 3_000 }, (_, at) => paths[at % paths.length] ?? ''));

  test.each([
    ['many stars', globs[0] ?? ''],
    ['many choices', globs[1] ?? ''],
    ['many single characters', globs[2] ?? ''],
  ])('deploys a push when a glob of %s takes too many steps', (_, glob) => {
    expect(compileGlob(glob).ok).toBe(true);
    expect(untouchedPaths(rules(list(glob), []), changed)).toBeUndefined();
  });

  test('600 changed files are compared with 100 common globs', () => {
    const files = Array.from({ length: 600 }, (_, at) => `packages/service-${at}/src/components/button.test.ts`);
    const include = Array.from({ length: 50 }, (_, at) => `**/*.type${at}`);
    const exclude = Array.from({ length: 50 }, (_, at) => `apps/app-${at}/**`);
    expect(untouchedPaths(rules(include, exclude), reported(...files))).toBe(600);
  });
});

const segment = fc.constantFrom('a', 'b', '.env', 'x.md', 'y.py');
const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((all) => all.join('/'));
const glob = fc.array(fc.oneof(segment, fc.constantFrom('*', '**', '*.md')), { minLength: 1, maxLength: 3 });
const globs = fc.array(
  glob.map((parts) => parts.join('/')),
  { maxLength: 3 },
);

describe('any rules for paths', () => {
  test('another changed path never makes an untouched push of a touched one', () => {
    fc.assert(
      fc.property(globs, globs, fc.array(path, { maxLength: 5 }), path, (include, exclude, paths, more) => {
        const requested = rules(include, exclude);
        const touched = (changed: ChangedPaths) => untouchedPaths(requested, changed) === undefined;
        expect(touched(reported(...paths, more)) || !touched(reported(...paths))).toBe(true);
      }),
    );
  });

  test('what both sides of a list count is what the whole list counts', () => {
    fc.assert(
      fc.property(globs, globs, globs, path, (one, other, exclude, seen) => {
        fc.pre(one.length > 0 && other.length > 0);
        const either = countingPath(rules(one, exclude))(seen) || countingPath(rules(other, exclude))(seen);
        expect(countingPath(rules([...one, ...other], exclude))(seen)).toBe(either);
      }),
    );
  });

  test('excluding more counts less', () => {
    fc.assert(
      fc.property(globs, globs, globs, path, (include, exclude, more, seen) => {
        const withMore = countingPath(rules(include, [...exclude, ...more]))(seen);
        expect(countingPath(rules(include, exclude))(seen) || !withMore).toBe(true);
      }),
    );
  });
});
