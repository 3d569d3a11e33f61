// A clock that jumps by a day, forward and back, under a running service and its agent.
import { chmod, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import * as z from 'zod';
import type { Repository } from '../../src/demo/repository.ts';
import { askOf, type Ask } from './kill-ledger.ts';
import { UploadLedger, uploadDeployment } from './uploads.ts';
import { linkPackages } from '../installed-packages.ts';
import { openJourneyFixture, type JourneyFixture } from './fixture.ts';

const day = 86_400_000;
const shifter = join(import.meta.dirname, 'shifted-clock.mjs');
const Id = z.looseObject({ thread_id: z.string() });

let folder: string;
let fixture: JourneyFixture;
let repository: Repository;
let deploymentId = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'landfall-shift-'));
  await chmod(folder, 0o755);
  await jump(0);
  const env = {
    ...process.env,
    NODE_OPTIONS: `--import ${pathToFileURL(shifter).href}`,
    LANDFALL_SHIFT_FILE: join(folder, 'ms'),
  };
  fixture = await openJourneyFixture({ env });
  repository = await fixture.repository('talker');
  await copyFile(shifter, join(repository.folder, 'shifted-clock.mjs'));
  await writeFile(
    join(repository.folder, 'shift-here.mjs'),
    `globalThis.landfallShiftFile = ${JSON.stringify(join(folder, 'ms'))};\n`,
  );
  await repository.edit('graph.ts', 'import {', "import './shift-here.mjs';\nimport './shifted-clock.mjs';\nimport {");
  await repository.commit('Take the time from a file');
  const made = await fixture.control.createDeployment({
    name: 'shifted',
    source: 'github',
    source_config: {
      repo_url: pathToFileURL(repository.folder).href,
      build_on_push: false,
      install_command: linkPackages,
    },
    source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
    secrets: [],
  });
  deploymentId = made.id;
  await deployed(1);
});
afterAll(async () => {
  await fixture?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Moves the clock, and waits until the processes have seen it. */
async function jump(ms: number): Promise<void> {
  await writeFile(join(folder, 'ms'), String(ms));
  await new Promise((resolve) => setTimeout(resolve, 100));
}

const deployed = (count: number): Promise<void> =>
  vi.waitFor(
    async () => {
      const statuses = (await fixture.revisions(deploymentId)).map(({ status }) => status);
      expect(statuses).toEqual(Array.from({ length: count }, () => 'DEPLOYED'));
    },
    { timeout: 120_000, interval: 100 },
  );

test('a day forward and back loses nothing, fires no storm, and stops nothing', async () => {
  const { url } = await fixture.control.getDeployment(deploymentId);
  const ask: Ask = askOf(url ?? '', fixture.service.apiKey);
  const post = (path: string, body: unknown): Promise<unknown> => ask(path, { method: 'POST', body });
  const { thread_id: thread } = Id.parse(await post('/threads', { metadata: { mark: 'before' } }));
  const input = { assistant_id: 'talk', input: { input: 'cron' } };
  await post(`/threads/${thread}/runs/crons`, { ...input, schedule: '0 * * * *' });
  const fired = async (): Promise<number> =>
    z.array(z.unknown()).parse(await ask(`/threads/${thread}/runs?limit=100`)).length;
  const uploadedId = await uploadDeployment(fixture, 'uploaded');
  const uploads = new UploadLedger(fixture, uploadedId);
  await uploads.upload();
  for (const [index, shift] of [day, -day].entries()) {
    await jump(shift);
    // The gateway, the queue of runs and the agent work at this time of day.
    expect((await fixture.ask(url ?? undefined, 'hello')).said).toBe('first hello');
    expect(Id.parse(await ask(`/threads/${thread}`))).toMatchObject({ metadata: { mark: 'before' } });
    await fixture.control.patchDeployment(deploymentId, { source_revision_config: { repo_ref: 'main' } });
    await deployed(index + 2);
    // What was uploaded at the time of day before can be built, and more can be uploaded.
    const { path, word } = uploads.acknowledged.at(-1) ?? {};
    await fixture.control.patchDeployment(uploadedId, { source_revision_config: { source_tarball_path: path } });
    await vi.waitFor(
      async () => {
        const { url: address } = await fixture.control.getDeployment(uploadedId);
        expect((await fixture.ask(address ?? undefined, 'hello')).said).toBe(`${word} hello`);
      },
      { timeout: 120_000, interval: 200 },
    );
    await uploads.upload();
    expect(uploads.missing()).toEqual([]);
    await expect.poll(fired).toBeGreaterThanOrEqual(1);
  }
  expect(await fired()).toBeLessThanOrEqual(2);
});
