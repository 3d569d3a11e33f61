import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { cleanUp } from '../../src/demo/environment.ts';

test('says that it ends and removes before it does, ends the last first, and leaves nothing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'landfall-clear-away-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const made = { data: join(folder, 'data'), appData: join(folder, 'app') };
  await mkdir(join(made.data, 'builds', 'one'), { recursive: true });
  await writeFile(join(made.data, 'builds', 'one', 'package.json'), '{}');
  const seen: string[] = [];
  const stops = (name: string) => ({ stop: async () => void seen.push(`${name} ends`) });
  const running = [stops('GitHub'), stops('App')];

  await cleanUp({ running, folder, ...made }, (text) => {
    seen.push(`${/^\w+/.exec(text)?.[0]} is told, ${existsSync(folder) ? 'all is there' : 'nothing is there'}`);
  });

  expect(seen).toEqual([
    'Ending is told, all is there',
    'App ends',
    'GitHub ends',
    'Removing is told, all is there',
    'Removing is told, all is there',
  ]);
  expect([existsSync(folder), running]).toEqual([false, []]);
});
