import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { packSource } from '../../../src/kit/archive/pack.ts';
import { folderOf, pathsOf, type Content } from './folder.ts';

const packedOf = async (content: Readonly<Record<string, Content>>) => {
  const packed = await packSource({ folder: await folderOf(content) });
  const isIgnoreFile = /(^|\/)\.(git|landfall)ignore$/;
  return (await pathsOf(packed)).filter((path) => !isIgnoreFile.test(path)).join(' ');
};

describe('what stays out of a packed folder', () => {
  test.each<[string, Record<string, Content>, string]>([
    ['what git keeps for itself', { '.git/config': '', a: '' }, 'a'],
    ['installed packages, at any depth', { 'node_modules/x/i.js': '', 'p/node_modules/y.js': '', a: '' }, 'a'],
    [
      'an environment of Python, by its mark',
      { 'p/v/pyvenv.cfg': '', 'p/v/lib/x.py': '', 'pyvenv.py': '' },
      'pyvenv.py',
    ],
    [
      'what looks like a secret, at any depth and in any case',
      { '.env': '', 'p/.env.local': '', '.ENV': '', 'k.pem': '', id_rsa: '', '.ssh/x': '', a: '' },
      'a',
    ],
    ['but not an example of one', { '.env.example': '', '.env.sample': '', a: '' }, '.env.example .env.sample a'],
    [
      'what .gitignore names',
      { '.gitignore': '*.log\n# comment\n\ndist/', 'x.log': '', 'dist/x': '', 'p/dist/x': '', a: '' },
      'a',
    ],
    [
      'what a .gitignore below names, only there',
      { 'p/.gitignore': 'x\n/y', 'p/x': '', 'p/q/x': '', 'p/y': '', 'p/q/y': '', x: '', y: '' },
      'p/q/y x y',
    ],
    [
      'a pattern with a slash is bound to its folder',
      { 'p/.gitignore': 'q/x', 'p/q/x': '', 'p/r/q/x': '', 'q/x': '' },
      'p/r/q/x q/x',
    ],
    [
      'the deeper file takes back what the upper one names',
      { '.gitignore': '*.log', 'p/.gitignore': '!keep.log', 'p/keep.log': '', 'keep.log': '', a: '' },
      'a p/keep.log',
    ],
    [
      'nothing comes back from a folder that is left out',
      { '.gitignore': 'out/\n!out/keep', 'out/keep': '', a: '' },
      'a',
    ],
    [
      '.landfallignore has the last word',
      {
        '.gitignore': 'dist',
        'p/.gitignore': '!*.map',
        '.landfallignore': '!dist\n*.map\nnotes',
        'dist/x': '',
        'p/x.map': '',
        notes: '',
        a: '',
      },
      'a dist/x',
    ],
    ['.landfallignore counts at the root only', { 'p/.landfallignore': 'x', 'p/x': '' }, 'p/x'],
    [
      'defaults are taken back by an ignore file',
      {
        '.gitignore': '!.env.test',
        '.landfallignore': '!node_modules',
        '.env.test': '',
        '.env': '',
        'node_modules/x.js': '',
        'node_modules/.env': '',
      },
      '.env.test node_modules/x.js',
    ],
    [
      'what is escaped is meant as it is',
      { '.gitignore': '\\!bang\n\\#hash\nsp\\ ', '!bang': '', '#hash': '', a: '' },
      'a',
    ],
    ['so too below', { 'p/.gitignore': '\\!bang\n\\#hash', 'p/!bang': '', 'p/#hash': '', 'p/a': '' }, 'p/a'],
    [
      'a folder whose name is a pattern is meant as it is',
      { '[p]/.gitignore': 'x', '[p]/x': '', 'p/x': '', a: '' },
      'a p/x',
    ],
    ['a folder whose name has a star, too', { 'p*/.gitignore': 'x', 'p*/x': '', 'pq/x': '' }, 'pq/x'],
    ['lines of Windows are read', { '.gitignore': 'x\r\ny\r\n', x: '', y: '', a: '' }, 'a'],
    ['so too below', { 'p/.gitignore': 'x\r\ny\r\n', 'p/x': '', 'p/y': '', a: '' }, 'a'],
    ['letters count as they are', { '.gitignore': 'readme', README: '', a: '' }, 'README a'],
    [
      'a .gitignore that is a link is none, as for git',
      { other: 'a', '.gitignore': { link: 'other' }, a: '' },
      'a other',
    ],
  ])('%s', async (_, content, expected) => {
    expect(await packedOf(content)).toBe(expected);
  });

  test('reports what the built-in rules left out, and nothing else', async () => {
    const folder = await folderOf({ '.env': '', 'p/node_modules/x': '', '.gitignore': 'log', log: '', a: '' });
    expect(await packSource({ folder })).toMatchObject({ source: { leftOut: ['.env', 'p/node_modules/'] } });
  });

  test('passes over the files that the caller names', async () => {
    const folder = await folderOf({ 'plan.json': '', 'a/plan.json': '', b: '' });
    const packed = await packSource({ folder, except: [join(folder, 'plan.json'), 'b'] });
    expect(await pathsOf(packed)).toEqual(['a/plan.json', 'b']);
    expect(packed).toMatchObject({ source: { leftOut: [] } });
  });

  test('git itself leaves out the same', async () => {
    const folder = await folderOf({
      '.gitignore': '*.log\n/build\n!keep.log\ndocs/**/*.tmp\n**/cache/\nfoo*\n[ab].txt',
      'x.log': '',
      'keep.log': '',
      'build/x': '',
      'p/build/x': '',
      'docs/a/b.tmp': '',
      'docs/b.tmp': '',
      'b.tmp': '',
      'p/cache/x': '',
      'cache/x': '',
      'food/x': '',
      'p/foo': '',
      'a.txt': '',
      'c.txt': '',
      'p/.gitignore': '/only\nsub/deep\n!x.log\n*.cfg',
      'p/only': '',
      'p/q/only': '',
      'p/sub/deep/x': '',
      'p/q/sub/deep/x': '',
      'p/x.log': '',
      'p/q/x.log': '',
      'p/a.cfg': '',
      'p/q/.gitignore': '!a.cfg',
      'p/q/a.cfg': '',
    });
    const git = (...args: string[]) => execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' });
    git('init', '-q');
    const theirs = git('ls-files', '--others', '--exclude-standard', '-z').split('\0').filter(Boolean).toSorted();
    expect(await pathsOf(await packSource({ folder }))).toEqual(theirs);
  });
});
