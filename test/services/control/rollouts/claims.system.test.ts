import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OurControlService } from '../../../../src/services/control/service.ts';
import { graphConfig, git, plainAgent } from '../builds/repositories.ts';
import {
  requestAgent,
  change,
  closeAll,
  deploy,
  goesLive,
  keyHeader,
  openMachine,
  overHttp,
  startService,
  restate,
} from './running-service.ts';
import { reaches, revise, secretsOf, type RunningService } from './running-service.ts';

const emptyLock = JSON.stringify({
  name: 'agent',
  lockfileVersion: 3,
  requires: true,
  packages: { '': { name: 'agent' } },
});
const files = {
  ...plainAgent,
  'package.json': '{"name":"agent"}',
  'package-lock.json': emptyLock,
  'deep/langgraph.json': graphConfig,
  'deep/graph.js': 'export const graph = {};\n',
};

let opened: RunningService;
beforeAll(async () => {
  opened = overHttp(await startService(await openMachine(files)));
});
afterAll(closeAll);

const quickInstall = { config: { install_command: 'true' } };

/** The statuses that a client sees until the revision is live. */
async function seenUntilLive(control: OurControlService, id: string, revisionId: string): Promise<string[]> {
  const seen: string[] = [];
  for (;;) {
    const { status } = await control.getRevision(id, revisionId);
    if (seen.at(-1) !== status) seen.push(status);
    if (!['CREATING', 'QUEUED', 'AWAITING_BUILD', 'BUILDING', 'AWAITING_DEPLOY', 'DEPLOYING'].includes(status))
      return seen;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('over HTTP', () => {
  const buildLog = async (id: string, revisionId: string): Promise<string[]> =>
    (await opened.control.buildLogs(id, revisionId, {})).logs.map(({ message }) => message);
  const deployLog = async (id: string, revisionId: string): Promise<string[]> =>
    (await opened.control.deployLogs(id, revisionId, {})).logs.map(({ message }) => message);

  test(
    'a rollout has ended when it is DEPLOYED',
    { meta: { claims: ['control.states.deployed-is-final', 'control.states.other-revision-words'] } },
    async () => {
      const { id, revisionId, url } = await deploy(opened, quickInstall);
      const seen = await seenUntilLive(opened.control, id, revisionId);
      expect(seen.at(-1)).toBe('DEPLOYED');
      expect((await requestAgent(url, '/ok')).status).toBe(200);
      expect((await opened.control.getDeployment(id)).active_revision_id).toBe(revisionId);
      expect(await opened.control.getRevision(id, revisionId)).toMatchObject({
        status: 'DEPLOYED',
        status_message: null,
      });
    },
  );

  test(
    'the commands run in the right folder',
    {
      meta: {
        claims: [
          'control.source-config.install-command-runs',
          'control.source-config.build-command-runs',
          'control.source-config.install-command',
          'control.source-config.build-command',
        ],
      },
    },
    async () => {
      const { id, revisionId } = await deploy(opened, {
        config: { install_command: 'echo installing && pwd', build_command: 'echo building && pwd' },
        revision: { graph_config_path: 'deep/langgraph.json' },
      });
      await goesLive(opened, { id, revisionId });
      const source = join(opened.machine.dataDir, 'builds', revisionId, 'source');
      const log = await buildLog(id, revisionId);
      expect(log[log.indexOf('installing') + 1]).toBe(source);
      expect(log[log.indexOf('building') + 1]).toBe(join(source, 'deep'));
    },
  );

  test(
    'without a command the lock file selects the install command',
    { meta: { claims: ['control.source-config.install-command-detected'] } },
    async () => {
      const { id, revisionId } = await deploy(opened);
      await goesLive(opened, { id, revisionId });
      expect(await buildLog(id, revisionId)).toContain('Installing: npm ci (package-lock.json selects npm)');
    },
  );

  test(
    'builds a branch and a tag at their commits',
    {
      meta: {
        claims: [
          'control.source-revision-config.repo-ref-branch',
          'control.source-revision-config.repo-ref-tag',
          'control.source-revision-config.repo-commit-sha',
        ],
      },
    },
    async () => {
      const { machine } = opened;
      const tagged = change(machine, { 'version.txt': '1' });
      git(machine.repo, 'tag', 'v1');
      const head = change(machine, { 'version.txt': '2' });
      const first = await deploy(opened, quickInstall);
      const ofBranch = await goesLive(opened, first);
      const second = await revise(opened, first.id, { source_revision_config: { repo_ref: 'refs/tags/v1' } });
      const ofTag = await goesLive(opened, { id: first.id, revisionId: second });
      expect(ofBranch.source_revision_config).toMatchObject({ repo_ref: 'main', repo_commit_sha: head });
      expect(ofTag.source_revision_config).toMatchObject({ repo_ref: 'refs/tags/v1', repo_commit_sha: tagged });
    },
  );

  test(
    'the agent has a secret in its environment',
    { meta: { claims: ['control.secret.in-environment'] } },
    async () => {
      const requested = await deploy(opened, { ...quickInstall, secrets: { MODEL_KEY: 'k-1' } });
      await goesLive(opened, requested);
      expect(await (await requestAgent(requested.url, '/env')).json()).toMatchObject({ MODEL_KEY: 'k-1' });
    },
  );

  test('an earlier revision can be deployed again', { meta: { claims: ['control.revisions.redeploy'] } }, async () => {
    const first = await deploy(opened, quickInstall);
    const { source_revision_config } = await goesLive(opened, first);
    change(opened.machine, { 'more.txt': 'more' });
    await goesLive(opened, { id: first.id, revisionId: await revise(opened, first.id, restate) });
    const again = await opened.control.redeployRevision(first.id, first.revisionId);
    const live = await goesLive(opened, { id: first.id, revisionId: again.latest_revision_id ?? '' });
    expect(live.source_revision_config).toEqual(source_revision_config);
  });

  test(
    'a failed revision and its log give the reason',
    { meta: { claims: ['control.revision.status-message', 'control.logs.build', 'control.logs.deploy'] } },
    async () => {
      const requested = await deploy(opened, quickInstall);
      await goesLive(opened, requested);
      expect(await deployLog(requested.id, requested.revisionId)).toContain(
        'The agent is healthy and serves; traffic has switched to it.',
      );
      const gone = await revise(opened, requested.id, {
        source_revision_config: { graph_config_path: 'gone.json' },
      });
      const failed = await reaches(opened, requested.id, gone);
      expect([failed.status, failed.status_message]).toEqual([
        'BUILD_FAILED',
        expect.stringContaining('no file gone.json'),
      ]);
      expect((await buildLog(requested.id, gone)).at(-1)).toBe(failed.status_message);
      const broken = await revise(opened, requested.id, {
        source_revision_config: { graph_config_path: 'langgraph.json' },
        secrets: secretsOf({ FAKE_START: 'dies' }),
      });
      const ended = await reaches(opened, requested.id, broken);
      expect(ended.status).toBe('DEPLOY_FAILED');
      expect((await deployLog(requested.id, broken)).at(-1)).toBe(ended.status_message);
    },
  );

  test(
    'every path of an agent requires the key of its owner',
    {
      meta: {
        claims: [
          'agent.auth.api-key-header',
          'agent.auth.every-request',
          'agent.auth.valid-key',
          'agent.auth.owner-key',
        ],
      },
    },
    async () => {
      const requested = await deploy(opened, quickInstall);
      await goesLive(opened, requested);
      const status = async (path: string, headers: Record<string, string>): Promise<number> =>
        (await fetch(`${requested.url}${path}`, { headers })).status;
      for (const path of ['/ok', '/info', '/docs', '/', '/threads/x', '/anything']) {
        expect([path, await status(path, keyHeader)]).toEqual([path, 200]);
        expect([path, await status(path, {})]).toEqual([path, 401]);
        expect([path, await status(path, { 'x-api-key': 'lf_guess' })]).toEqual([path, 401]);
        expect([path, await status(path, { 'x-api-key': opened.machine.strangersKey })]).toEqual([path, 404]);
        expect([path, await status(path, { ...keyHeader, 'x-tenant-id': requested.id })]).toEqual([path, 403]);
      }
    },
  );
});
