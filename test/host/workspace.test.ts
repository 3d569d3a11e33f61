import { expect, test } from 'vitest';
import { annotated } from '../../src/host/workspace.ts';

test.each([
  ['as it is', '.github/landfall.yml', '/', '.github/landfall.yml'],
  ['without the working directory before it', './deploy.yml', '/', 'deploy.yml'],
  ['with slashes where Windows has backslashes', '.github\\landfall.yml', '\\', '.github/landfall.yml'],
  ['both', '.\\deploy\\a.yml', '\\', 'deploy/a.yml'],
  ['with a backslash in a name on Linux', 'a\\b.yml', '/', 'a\\b.yml'],
])('a path is annotated %s', (_, path, separator, reported) => expect(annotated(path, separator)).toBe(reported));
