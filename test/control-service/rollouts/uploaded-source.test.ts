import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OurControlService } from '../../../src/control-service/service.ts';
import { graphConfig, plainAgent } from '../builds/repositories.ts';
import { digestOf, rawTarball, tarballOf } from '../builds/tarballs.ts';
import { fromUpload } from '../worlds.ts';
import {
  answering,
  closeAll,
  deploy,
  goesLive,
  hasLeft,
  history,
  logOf,
  openGround,
  openHouse,
  reaches,
  restate,
  revise,
  until,
} from './house.ts';
import type { House } from './house.ts';

let opened: House;
beforeAll(async () => {
  opened = await openHouse(await openGround(), { resting: true });
});
afterAll(closeAll);

describe.each<[string, (house: House) => OurControlService]>([
  ['in process', ({ control }) => control],
  ['over HTTP', ({ remote }) => remote],
])('%s', (_, through) => {
  /** The house, with the service as this side sees it. */
  const house = (): House => ({ ...opened, control: through(opened) });

  /** Uploads a source for a deployment and asks for the revision of it. */
  async function upload(id: string, bytes: Uint8Array, beside: object = {}): Promise<string> {
    const { control, put } = house();
    const { upload_url, object_path } = await control.requestUpload(id);
    expect((await put(upload_url, bytes)).status).toBe(200);
    const changed = await control.patchDeployment(id, {
      ...beside,
      source_revision_config: { source_tarball_path: object_path },
    });
    return changed.latest_revision_id ?? '';
  }

  test('[control.service.source-tarball] a tarball is unpacked, built and live', async () => {
    const bytes = tarballOf({ ...plainAgent, 'deep/langgraph.json': graphConfig, 'deep/graph.js': 'export {};\n' });
    const {
      id,
      url,
      latest_revision_id: first,
    } = await house().control.createDeployment(
      fromUpload({
        source_config: { build_command: 'pwd' },
        source_revision_config: { graph_config_path: 'deep/langgraph.json' },
      }),
    );
    const revisionId = await upload(id, bytes);
    expect(await goesLive(house(), { id, revisionId })).toMatchObject({
      source_revision_config: { repo_commit_sha: null, source_tarball_digest: digestOf(bytes) },
    });
    expect(await answering(url ?? '')).toBe(revisionId);
    expect(await history(house(), first ?? '')).toEqual(['CREATING', 'SKIPPED']);
    const source = join(opened.ground.dataDir, 'builds', revisionId, 'source');
    expect(await logOf(house(), revisionId, 'build')).toEqual([
      `Unpacking the source tarball ${digestOf(bytes)}.`,
      'Unpacked 4 entries.',
      'There is no package.json, so no packages are installed.',
      'Building: pwd',
      join(source, 'deep'),
    ]);
    expect(await logOf(house(), revisionId, 'deploy')).toContain(
      `Starting the agent of the source tarball ${digestOf(bytes)}.`,
    );
  });

  test.each<[string, Uint8Array, string]>([
    [
      'without the graph configuration',
      tarballOf({ 'other.json': '{}' }),
      'The source tarball has no file langgraph.json. Check source_revision_config.graph_config_path',
    ],
    ['with an unsound one', tarballOf({ 'langgraph.json': '{"graphs": 1}' }), 'The graph configuration is not sound'],
    [
      'that leads out of its folder',
      rawTarball([{ path: '../../../api-key', text: 'x' }]),
      '"../../../api-key" leads out of the archive.',
    ],
    ['that is no tar', Buffer.from(tarballOf().subarray(0, 40)), "The source tarball can't be unpacked."],
  ])('a tarball %s ends as BUILD_FAILED with its reason, and leaves no build', async (_what, bytes, told) => {
    const { id } = await house().control.createDeployment(fromUpload());
    const revisionId = await upload(id, bytes);
    const failed = await reaches(house(), id, revisionId);
    expect([failed.status, failed.status_message]).toEqual(['BUILD_FAILED', expect.stringContaining(told)]);
    expect(readdirSync(join(opened.ground.dataDir, 'builds'))).not.toContain(revisionId);
  });

  test('an earlier revision is live again within a second of the request and without a build, for a repository and for a tarball', async () => {
    const fromRepository = await deploy(house());
    await goesLive(house(), fromRepository);
    const restated = await revise(house(), fromRepository.id, restate);
    await goesLive(house(), { id: fromRepository.id, revisionId: restated });
    const { id } = await house().control.createDeployment(fromUpload());
    const older = await upload(id, tarballOf());
    await goesLive(house(), { id, revisionId: older });
    const newer = await upload(id, tarballOf({ ...plainAgent, 'more.txt': 'more' }));
    await goesLive(house(), { id, revisionId: newer });

    for (const { id: of, builds } of [
      { id, builds: [older, newer] },
      { id: fromRepository.id, builds: [fromRepository.revisionId, restated] },
    ]) {
      let [leaving = '', live = ''] = builds;
      const took: number[] = [];
      // Back and forth until once no other work of this machine came between.
      while (took.length < 4 && !took.some((ms) => ms < 1_000)) {
        await hasLeft(house(), leaving);
        const begun = Date.now();
        const { latest_revision_id: again } = await house().control.redeployRevision(of, builds[took.length % 2] ?? '');
        const revisionId = again ?? '';
        await goesLive(house(), { id: of, revisionId });
        const deployed = (await opened.store.eventsOf(revisionId)).find(({ status }) => status === 'DEPLOYED');
        took.push((deployed?.at.getTime() ?? NaN) - begun);
        expect(await history(house(), revisionId)).toEqual(['CREATING', 'AWAITING_DEPLOY', 'DEPLOYING', 'DEPLOYED']);
        expect(await logOf(house(), revisionId, 'build')).toEqual([]);
        expect(readdirSync(join(opened.ground.dataDir, 'builds'))).not.toContain(revisionId);
        [leaving, live] = [live, revisionId];
      }
      expect(Math.min(...took)).toBeLessThan(1_000);
    }
  });

  test('what cannot be deployed again says why: a revision that waits for its source, and one that failed', async () => {
    const { id, latest_revision_id: first } = await house().control.createDeployment(fromUpload());
    await expect(house().control.redeployRevision(id, first ?? '')).rejects.toThrow(/has no build yet/);
    const broken = await upload(id, tarballOf({}));
    await reaches(house(), id, broken);
    await expect(house().control.redeployRevision(id, broken)).rejects.toThrow(/has no build that could be deployed/);
  });

  test('secrets, a new path and new commands of a live deployment build the same tarball anew', async () => {
    const bytes = tarballOf({ ...plainAgent, 'deep/langgraph.json': graphConfig, 'deep/graph.js': 'export {};\n' });
    const { id } = await house().control.createDeployment(fromUpload());
    await goesLive(house(), { id, revisionId: await upload(id, bytes) });
    await house().control.patchDeployment(id, { source_config: { build_command: 'pwd' } });
    const changed = await house().control.patchDeployment(id, {
      secrets: [{ name: 'A', value: 'b' }],
      source_revision_config: { graph_config_path: 'deep/langgraph.json' },
    });
    const revisionId = changed.latest_revision_id ?? '';
    await goesLive(house(), { id, revisionId });
    expect((await logOf(house(), revisionId, 'build')).slice(-2)).toEqual([
      'Building: pwd',
      join(opened.ground.dataDir, 'builds', revisionId, 'source/deep'),
    ]);
  });
});

test('a build that was cleared away is made again from the tarball, and told as impossible without it', async () => {
  const { ground, control, put } = opened;
  const { id } = await control.createDeployment(fromUpload());
  const { upload_url, object_path } = await control.requestUpload(id);
  await put(upload_url, tarballOf());
  const named = { source_revision_config: { source_tarball_path: object_path } };
  const first = (await control.patchDeployment(id, named)).latest_revision_id ?? '';
  await goesLive(opened, { id, revisionId: first });
  const folder = join(ground.dataDir, 'builds', first);
  rmSync(folder, { recursive: true });
  const again = (await control.redeployRevision(id, first)).latest_revision_id ?? '';
  await goesLive(opened, { id, revisionId: again });
  expect(await logOf(opened, again, 'build')).toContain('Unpacked 2 entries.');
  rmSync(folder, { recursive: true });
  rmSync(join(ground.dataDir, object_path));
  const last = (await control.redeployRevision(id, first)).latest_revision_id ?? '';
  const failed = await reaches(opened, id, last);
  expect([failed.status, failed.status_message]).toEqual([
    'DEPLOY_FAILED',
    'The source tarball is not on this machine any more: it was cleared away. Upload it again.',
  ]);
  await until(async () => (await control.getDeployment(id)).active_revision_id === again);
});
