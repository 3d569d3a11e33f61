import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { cleanUp } from '../../src/demo/environment.ts';

test('announces each step, stops the last one first, and leaves nothing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'landfall-clear-away-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const made = { data: join(folder, 'data'), appData: join(folder, 'app') };
  await mkdir(join(made.data, 'builds', 'one'), { recursive: true });
  await writeFile(join(made.data, 'builds', 'one', 'package.json'), '{}');
  const seen: string[] = [];
  const stops = (name: string) => ({ stop: async () => void seen.push(`${name} ends`) });
  const stoppables = [stops('GitHub'), stops('App')];

  await cleanUp({ stoppables, folder, ...made }, (text) => {
    seen.push(`${/^\w+/.exec(text)?.[0]} announced, ${existsSync(folder) ? 'all is there' : 'nothing is there'}`);
  });

  expect(seen).toEqual([
    'Ending announced, all is there',
    'App ends',
    'GitHub ends',
    'Removing announced, all is there',
    'Removing announced, all is there',
  ]);
  expect([existsSync(folder), stoppables]).toEqual([false, []]);
});
