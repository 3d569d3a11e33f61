import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { mutants } from './mutants.ts';

const root = join(import.meta.dirname, '../../../..');

test('each mistake is in a text that its source has once', () => {
  const missing = mutants.filter(({ file, from }) => readFileSync(join(root, file), 'utf8').split(from).length !== 2);
  expect(missing.map(({ file, from }) => `${file}: ${from}`)).toEqual([]);
});

test('finds each mistake in what decides about agents by the test that is about it', () => {
  const printed = execFileSync(process.execPath, [join(import.meta.dirname, 'run-mutants.ts')], { encoding: 'utf8' });
  const failed = z.array(z.array(z.string())).parse(JSON.parse(printed));
  const found = mutants.map(({ name, killedBy }, index) => ({
    name,
    killedBy: failed[index]?.find((title) => title === killedBy),
  }));
  expect(found).toEqual(mutants.map(({ name, killedBy }) => ({ name, killedBy })));
});
