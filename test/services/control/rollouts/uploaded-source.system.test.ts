import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { graphConfig, plainAgent } from '../builds/repositories.ts';
import { digestOf, rawTarball, tarballOf } from '../builds/tarballs.ts';
import { fromUpload } from '../service-fixture.ts';
import {
  answering,
  closeAll,
  deploy,
  goesLive,
  hasLeft,
  history,
  logOf,
  openMachine,
  overHttp,
  startService,
  reaches,
  restate,
  revise,
  until,
} from './running-service.ts';
import type { RunningService } from './running-service.ts';

let opened: RunningService;
beforeAll(async () => {
  opened = overHttp(await startService(await openMachine(), { idle: true }));
});
afterAll(closeAll);

describe('over HTTP', () => {
  /** Uploads a source for a deployment and creates a revision of it. */
  async function upload(id: string, bytes: Uint8Array, beside: object = {}): Promise<string> {
    const { control, put } = opened;
    const { upload_url, object_path } = await control.requestUpload(id);
    expect((await put(upload_url, bytes)).status).toBe(200);
    const changed = await control.patchDeployment(id, {
      ...beside,
      source_revision_config: { source_tarball_path: object_path },
    });
    return changed.latest_revision_id ?? '';
  }

  test('a tarball is unpacked, built and live', { meta: { claims: ['control.service.source-tarball'] } }, async () => {
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 5\n`;
    const bytes = tarballOf({
      ...plainAgent,
      'model.bin': pointer,
      'deep/langgraph.json': graphConfig,
      'deep/graph.js': 'export {};\n',
    });
    const {
      id,
      url,
      latest_revision_id: first,
    } = await opened.control.createDeployment(
      fromUpload({
        source_config: { build_command: 'pwd' },
        source_revision_config: { graph_config_path: 'deep/langgraph.json' },
      }),
    );
    const revisionId = await upload(id, bytes);
    expect(await goesLive(opened, { id, revisionId })).toMatchObject({
      build_warnings: [expect.stringContaining('is only a pointer: "model.bin"')],
      source_revision_config: { repo_commit_sha: null, source_tarball_digest: digestOf(bytes) },
    });
    expect(await answering(url ?? '')).toBe(revisionId);
    expect(await history(opened, first ?? '')).toEqual(['CREATING', 'SKIPPED']);
    const source = join(opened.machine.dataDir, 'builds', revisionId, 'source');
    expect(await logOf(opened, revisionId, 'build')).toEqual([
      `Unpacking the source tarball ${digestOf(bytes)}.`,
      expect.stringContaining('Files in Git LFS are not fetched'),
      'Unpacked 5 entries.',
      'There is no package.json, so no packages are installed.',
      'Building: pwd',
      join(source, 'deep'),
    ]);
    expect(await logOf(opened, revisionId, 'deploy')).toContain(
      `Starting the agent of the source tarball ${digestOf(bytes)}.`,
    );
  });

  test.each<[string, Uint8Array, string]>([
    [
      'without the graph configuration',
      tarballOf({ 'other.json': '{}' }),
      'The source tarball has no file langgraph.json. Check source_revision_config.graph_config_path',
    ],
    ['with an unsound one', tarballOf({ 'langgraph.json': '{"graphs": 1}' }), 'The graph configuration is invalid'],
    [
      'that leads out of its folder',
      rawTarball([{ path: '../../../api-key', text: 'x' }]),
      '"../../../api-key" leads out of the archive.',
    ],
    ['that is no tar', Buffer.from(tarballOf().subarray(0, 40)), "The source tarball can't be unpacked."],
  ])('a tarball %s ends as BUILD_FAILED with its reason, and leaves no build', async (_what, bytes, recorded) => {
    const { id } = await opened.control.createDeployment(fromUpload());
    const revisionId = await upload(id, bytes);
    const failed = await reaches(opened, id, revisionId);
    expect([failed.status, failed.status_message]).toEqual(['BUILD_FAILED', expect.stringContaining(recorded)]);
    await until(() => !readdirSync(join(opened.machine.dataDir, 'builds')).includes(revisionId));
  });

  test('redeploys an earlier revision without a build', async () => {
    const fromRepository = await deploy(opened);
    await goesLive(opened, fromRepository);
    const restated = await revise(opened, fromRepository.id, restate);
    await goesLive(opened, { id: fromRepository.id, revisionId: restated });
    const { id } = await opened.control.createDeployment(fromUpload());
    const older = await upload(id, tarballOf());
    await goesLive(opened, { id, revisionId: older });
    const newer = await upload(id, tarballOf({ ...plainAgent, 'more.txt': 'more' }));
    await goesLive(opened, { id, revisionId: newer });

    for (const { id: of, builds } of [
      { id, builds: [older, newer] },
      { id: fromRepository.id, builds: [fromRepository.revisionId, restated] },
    ]) {
      const [older = '', newer = ''] = builds;
      // The earlier one idles, or has ended.
      await hasLeft(opened, older);
      const { latest_revision_id: again } = await opened.control.redeployRevision(of, older);
      const revisionId = again ?? '';
      await goesLive(opened, { id: of, revisionId });
      expect(revisionId).not.toBe(newer);
      expect(await history(opened, revisionId)).toEqual(['CREATING', 'AWAITING_DEPLOY', 'DEPLOYING', 'DEPLOYED']);
      expect(await logOf(opened, revisionId, 'build')).toEqual([]);
      expect(readdirSync(join(opened.machine.dataDir, 'builds'))).not.toContain(revisionId);
    }
  });

  test('a waiting or failed revision cannot be redeployed, and says why', async () => {
    const { id, latest_revision_id: first } = await opened.control.createDeployment(fromUpload());
    await expect(opened.control.redeployRevision(id, first ?? '')).rejects.toThrow(/has no build yet/);
    const broken = await upload(id, tarballOf({}));
    await reaches(opened, id, broken);
    await expect(opened.control.redeployRevision(id, broken)).rejects.toThrow(/has no build that could be deployed/);
  });

  test('new secrets, path or commands rebuild the same tarball', async () => {
    const bytes = tarballOf({ ...plainAgent, 'deep/langgraph.json': graphConfig, 'deep/graph.js': 'export {};\n' });
    const { id } = await opened.control.createDeployment(fromUpload());
    await goesLive(opened, { id, revisionId: await upload(id, bytes) });
    await opened.control.patchDeployment(id, { source_config: { build_command: 'pwd' } });
    const changed = await opened.control.patchDeployment(id, {
      secrets: [{ name: 'A', value: 'b' }],
      source_revision_config: { graph_config_path: 'deep/langgraph.json' },
    });
    const revisionId = changed.latest_revision_id ?? '';
    await goesLive(opened, { id, revisionId });
    expect((await logOf(opened, revisionId, 'build')).slice(-2)).toEqual([
      'Building: pwd',
      join(opened.machine.dataDir, 'builds', revisionId, 'source/deep'),
    ]);
  });
});

test('rebuilds a removed build from the tarball, or reports that it is gone', async () => {
  const { machine, control, put } = opened;
  const { id } = await control.createDeployment(fromUpload());
  const { upload_url, object_path } = await control.requestUpload(id);
  await put(upload_url, tarballOf());
  const named = { source_revision_config: { source_tarball_path: object_path } };
  const first = (await control.patchDeployment(id, named)).latest_revision_id ?? '';
  await goesLive(opened, { id, revisionId: first });
  const folder = join(machine.dataDir, 'builds', first);
  rmSync(folder, { recursive: true });
  const again = (await control.redeployRevision(id, first)).latest_revision_id ?? '';
  await goesLive(opened, { id, revisionId: again });
  expect(await logOf(opened, again, 'build')).toContain('Unpacked 2 entries.');
  rmSync(folder, { recursive: true });
  rmSync(join(machine.dataDir, object_path));
  const last = (await control.redeployRevision(id, first)).latest_revision_id ?? '';
  const failed = await reaches(opened, id, last);
  expect([failed.status, failed.status_message]).toEqual([
    'DEPLOY_FAILED',
    'The source tarball was removed from this machine. Upload it again.',
  ]);
  await until(async () => (await control.getDeployment(id)).active_revision_id === again);
});
