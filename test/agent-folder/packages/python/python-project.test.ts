import { expect, test } from 'vitest';
import { isPinned, referencesOf } from '../../../../src/agent-folder/packages/python/python-project.ts';

test.each<[boolean, string]>([
  [true, 'a==1\nb[x,y] == 2.0.1rc1 # why\n'],
  [true, '--index-url https://index.example/simple\na==1 --hash=sha256:ab\n'],
  [false, ''],
  [false, 'a==1\nb\n'],
  [false, 'a==1.*\n'],
  [false, 'a>=1,==1.2\n'],
  [false, 'a @ https://host.example/a.whl\n'],
  [false, '-r other.txt\na==1\n'],
])('whether all versions are exact: %s for %j', (pinned, text) => expect(isPinned(text)).toBe(pinned));

test.each<[string, ReturnType<typeof referencesOf>]>([
  ['a==1\n', { files: [], isLocal: false }],
  ['-r base.txt\n--constraint=c.txt\n-c../d.txt', { files: ['base.txt', 'c.txt', '../d.txt'], isLocal: false }],
  ['-e .\n', { files: [], isLocal: true }],
  ['./packages/a\n', { files: [], isLocal: true }],
  ['a @ file:///srv/a\n', { files: [], isLocal: true }],
  ['a @ ../a\n', { files: [], isLocal: true }],
  ['a @ git+https://host.example/a.git\n# ./b\n', { files: [], isLocal: false }],
])('what a requirements file refers to: %j', (text, found) => expect(referencesOf(text)).toEqual(found));
