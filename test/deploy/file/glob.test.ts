import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileGlob } from '../../../src/deploy/file/glob.ts';

function matches(glob: string, path: string): boolean {
  const compiled = compileGlob(glob);
  if (!compiled.ok) throw new Error(compiled.problem);
  return compiled.matches(path);
}

describe('a glob', () => {
  test.each<[glob: string, matched: string[], left: string[]]>([
    ['README.md', ['README.md'], ['readme.md', 'docs/README.md', 'README_md', 'README.md.bak']],
    ['agents/**', ['agents/a.py', 'agents/deep/er/.env', 'agents/.hidden/x'], ['agents2/a.py', 'src/agents/a.py']],
    ['**', ['a', '.env', '.github/workflows/x.yml', 'a/b/c'], []],
    ['**/*.py', ['a.py', 'x/a.py', 'x/.y/.a.py', '.py'], ['a.pyc', 'a.py/b']],
    ['*.py', ['a.py', '.py'], ['x/a.py']],
    ['src/*/index.ts', ['src/a/index.ts', 'src/.a/index.ts'], ['src/index.ts', 'src/a/b/index.ts']],
    ['src/**/index.ts', ['src/index.ts', 'src/a/index.ts', 'src/a/b/index.ts'], ['src/xindex.ts', 'lib/index.ts']],
    ['a?c', ['abc', 'a.c'], ['ac', 'a/c', 'abbc']],
    ['v[0-9]/x', ['v1/x'], ['va/x', 'v10/x']],
    ['[!a]b', ['bb', '.b'], ['ab', '/b', 'b']],
    ['{agents,lib}/**', ['agents/a', 'lib/b/c'], ['libs/a', '{agents,lib}/a']],
    ['x.{yml,yaml}', ['x.yml', 'x.yaml'], ['x.y', 'xxyml']],
    ['app/(group)/**', ['app/(group)/page.tsx'], ['app/group/page.tsx']],
    ['a+b|c', ['a+b|c'], ['aab', 'c', 'aab|c']],
    ['@scope/"x"$^!', ['@scope/"x"$^!'], ['scope/x']],
    ['über/**', ['über/a'], ['uber/a']],
    ['a?[!b]', ['a\u{1f680}c', 'ab\u{1f680}'], ['a\u{1f680}', 'abb']],
    ['[a-c-]{[,],x}', ['b,', '-x'], ['d,', 'b']],
    ['{a/**/b,c}/*.{md,txt}', ['a/b/x.md', 'a/x/y/b/x.txt', 'c/.md'], ['a/c/x.md', 'c/d/x.md', 'b/x.md']],
    ['**/a/**/b', ['a/b', 'x/a/y/b', 'a/a/b/b'], ['ab', 'a', 'xa/b', 'a/xb', 'a/b/c']],
    ['**/package.json', ['package.json', 'a/package.json', 'a/b/package.json'], ['xpackage.json', 'package.json/a']],
    ['a/**/b.ts', ['a/b.ts', 'a/x/y/b.ts'], ['ab.ts', 'a/xb.ts']],
    ['a/*', ['a/line\nbreak', 'a/\r'], ['a/b/c', 'a']],
  ])('%s', (glob, matched, left) => {
    expect(matched.filter((path) => !matches(glob, path))).toEqual([]);
    expect(left.filter((path) => matches(glob, path))).toEqual([]);
  });

  test.each<[sentence: string, glob: string, problem: RegExp]>([
    ['is empty', ' ', /must not be empty/],
    ['is long', 'a'.repeat(201), /at most 200 characters/],
    ['has two lines', 'a\nb', /one line/],
    ['has a backslash', 'src\\a', /forward slashes/],
    ['takes away', '!src/**', /under `exclude`/],
    ['begins at the root of a machine', '/src/**', /without a slash/],
    ['begins with a dot and a slash', './src/**', /without a slash/],
    ['ends with a slash', 'src/', /go on with `\*\*`/],
    ['leaves the repository', '../x', /`\.\.`/],
    ['leaves it in the middle', 'a/../../x', /`\.\.`/],
    ['has an empty segment', 'a//b', /empty segments/],
    ['opens a bracket', 'a[bc', /must close/],
    ['closes one', 'abc]', /must close/],
    ['opens a brace', '{a,b', /must close/],
    ['has a choice of one', '{a}', /must close/],
    ['nests choices', '{a,{b,c}}', /must close/],
    ['counts', '{1..9}', /must close/],
    ['counts in a choice', '{a..z,b}', /must close/],
    ['has a class of nothing', '[]', /must close/],
    ['has a class that runs backwards', '[z-a]', /must close/],
    ['has a slash in a class', '[a/b]', /must close/],
    ['chooses four times', '{a,b}{a,b}{a,b}{a,b}', /`\{` at most 3 times/],
    ['has stars without end', '*a*a*a', /`\*` at most 2 times/],
    ['has stars without end in a row', '***', /two `\*` in a row/],
    ['goes down three times', '**/a/**/b/**', /`\*\*` at most 2 times/],
    ['goes down within a name', 'src**', /whole segment/],
    ['goes down within a choice', '{**,a}', /whole segment/],
  ])('that %s is refused', (_, glob, problem) => {
    expect(compileGlob(glob)).toEqual({ ok: false, problem: expect.stringMatching(problem) });
  });
});

/** The same language once more, slowly: what the compiled one is compared with. */
function slowly(glob: readonly string[], path: readonly string[]): boolean {
  const [first, ...rest] = glob;
  if (first === undefined) return path.length === 0;
  if (first !== '**') return path[0] !== undefined && segment(first, path[0]) && slowly(rest, path.slice(1));
  if (rest.length === 0) return path.length > 0;
  return path.some((_, at) => slowly(rest, path.slice(at)));
}

function segment(glob: string, name: string): boolean {
  if (glob === '') return name === '';
  if (glob.startsWith('*')) {
    return Array.from({ length: name.length + 1 }, (_, at) => at).some((at) => segment(glob.slice(1), name.slice(at)));
  }
  const choice = /^\{([^}]*)\}(.*)$/.exec(glob);
  if (choice) return (choice[1] ?? '').split(',').some((one) => segment(`${one}${choice[2]}`, name));
  return name !== '' && (glob[0] === '?' || glob[0] === name[0]) && segment(glob.slice(1), name.slice(1));
}

const name = fc
  .array(fc.constantFrom('a', 'b', '.', '(', '+', '-'), { minLength: 1, maxLength: 4 })
  .map((all) => all.join(''));
const real = name.filter((each) => each !== '.' && each !== '..');
const path = fc.array(real, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/'));
const part = fc.oneof(real, fc.constantFrom('**', '*', 'a*', '*.b', '?', 'a?', '{a,b}', '{a,.b}*', '?*', '*a*'));
const glob = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));

test.each(['?/**', '*/**', '[ab]/**', 'a/**'])('%s goes into a folder, and is not the file itself', (written) => {
  const compiled = compileGlob(written);
  expect(compiled.ok && [compiled.matches('a'), compiled.matches('a/b'), compiled.matches('a/.b/c')]).toEqual([
    false,
    true,
    true,
  ]);
});

describe('any glob', () => {
  test('matches what the same language matches when it is read slowly', () => {
    fc.assert(
      fc.property(glob, path, (written, seen) => {
        const compiled = compileGlob(written);
        if (!compiled.ok) return;
        expect([written, seen, compiled.matches(seen)]).toEqual([
          written,
          seen,
          slowly(written.split('/'), seen.split('/')),
        ]);
      }),
      { numRuns: 3000 },
    );
  });

  test('is compiled or refused with a sentence, whatever it is', () => {
    const sign = fc.constantFrom(...Array.from('ab*?[]{}(),!^-./\\|+@"$\' '), '**', '..', 'é', '\u0000');
    fc.assert(
      fc.property(fc.array(sign, { maxLength: 12 }), path, (signs, seen) => {
        const compiled = compileGlob(signs.join(''));
        expect(compiled.ok ? `matches: ${compiled.matches(seen)}` : compiled.problem).toMatch(/^(must |matches: )/);
      }),
      { numRuns: 3000 },
    );
  });

  test.each([
    '**/*a*/**/*a*b',
    `**/${'*a*/'.repeat(47)}**/b`,
    '{*a,*aa}{a,aa,aaa,aaaa,aaaaa}{a,aa,aaa,aaaa,aaaaa}b',
    `${`{${'a,'.repeat(30)}a}`.repeat(3)}b`,
    `**/${'?'.repeat(190)}b`,
  ])('%s takes steps in proportion to the path', (written) => {
    const compiled = compileGlob(written);
    if (!compiled.ok) throw new Error(compiled.problem);
    for (const unit of ['a', 'a/', 'aa/', `${'a'.repeat(100)}/`]) {
      const path = `${unit.repeat(4_000).slice(0, 4_000)}b`;
      const budget = { left: 1e9 };
      compiled.matches(path, budget);
      expect(1e9 - budget.left).toBeLessThan(5 * written.length * path.length);
    }
  });
});
