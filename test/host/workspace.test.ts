import { expect, test } from 'vitest';
import { annotated, readTextFile } from '../../src/host/workspace.ts';

test.each([
  ['as it is', '.github/landfall.yml', '/', '.github/landfall.yml'],
  ['without the working directory before it', './deploy.yml', '/', 'deploy.yml'],
  ['with slashes where Windows has backslashes', '.github\\landfall.yml', '\\', '.github/landfall.yml'],
  ['both', '.\\deploy\\a.yml', '\\', 'deploy/a.yml'],
  ['with a backslash in a name on Linux', 'a\\b.yml', '/', 'a\\b.yml'],
])('a path is annotated %s', (_, path, separator, reported) => expect(annotated(path, separator)).toBe(reported));

test.each([
  ['a file', 'package.json', { kind: 'read', text: expect.stringContaining('"landfall"') }],
  ['nothing', 'none.json', { kind: 'absent' }],
  ['nothing below a file', 'package.json/none', { kind: 'absent' }],
  ['a folder', 'src', { kind: 'unreadable', problem: { file: 'src', field: '', message: 'this is a folder' } }],
])('reads %s', (_, path, read) => expect(readTextFile(path)).toMatchObject(read));
