import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OurControlService } from '../../../src/control-service/service.ts';
import { graphConfig, git, plainAgent } from '../builds/repositories.ts';
import { askAgent, change, closeAll, deploy, goesLive, keyHeader, openGround, openHouse, restate } from './house.ts';
import { reaches, revise, secretsOf, type House } from './house.ts';

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

let opened: House;
beforeAll(async () => {
  opened = await openHouse(await openGround(files));
});
afterAll(closeAll);

const quickInstall = { config: { install_command: 'true' } };

/** The statuses that a caller sees until the revision is live. */
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

describe.each<[string, (house: House) => OurControlService]>([
  ['in process', ({ control }) => control],
  ['over HTTP', ({ remote }) => remote],
])('%s', (_, through) => {
  /** The house, with the service as this side sees it. */
  const house = (): House => ({ ...opened, control: through(opened) });
  const buildLog = async (id: string, revisionId: string): Promise<string[]> =>
    (await house().control.buildLogs(id, revisionId, {})).logs.map(({ message }) => message);
  const deployLog = async (id: string, revisionId: string): Promise<string[]> =>
    (await house().control.deployLogs(id, revisionId, {})).logs.map(({ message }) => message);

  test('[control.states.deployed-is-final] [control.states.other-revision-words] a rollout has ended when it is DEPLOYED', async () => {
    const { id, revisionId, url } = await deploy(house(), quickInstall);
    const seen = await seenUntilLive(house().control, id, revisionId);
    expect(seen.at(-1)).toBe('DEPLOYED');
    expect((await askAgent(url, '/ok')).status).toBe(200);
    expect((await house().control.getDeployment(id)).active_revision_id).toBe(revisionId);
    expect(await house().control.getRevision(id, revisionId)).toMatchObject({
      status: 'DEPLOYED',
      status_message: null,
    });
  });

  test('[control.source-config.install-command-runs] [control.source-config.build-command-runs] [control.source-config.install-command] [control.source-config.build-command] the commands run where they should', async () => {
    const { id, revisionId } = await deploy(house(), {
      config: { install_command: 'echo installing && pwd', build_command: 'echo building && pwd' },
      revision: { graph_config_path: 'deep/langgraph.json' },
    });
    await goesLive(house(), { id, revisionId });
    const source = join(opened.ground.dataDir, 'builds', revisionId, 'source');
    const log = await buildLog(id, revisionId);
    expect(log[log.indexOf('installing') + 1]).toBe(source);
    expect(log[log.indexOf('building') + 1]).toBe(join(source, 'deep'));
  });

  test('[control.source-config.install-command-detected] without a command the lock file says how to install', async () => {
    const { id, revisionId } = await deploy(house());
    await goesLive(house(), { id, revisionId });
    expect(await buildLog(id, revisionId)).toContain('Installing: npm ci (package-lock.json asks for npm)');
  });

  test('[control.source-revision-config.repo-ref-branch] [control.source-revision-config.repo-ref-tag] [control.source-revision-config.repo-commit-sha] a branch and a tag are built at their commits', async () => {
    const { ground } = opened;
    const tagged = change(ground, { 'version.txt': `1 ${_}` });
    const tag = `v1-${_.replaceAll(' ', '-')}`;
    git(ground.repo, 'tag', tag);
    const head = change(ground, { 'version.txt': `2 ${_}` });
    const first = await deploy(house(), quickInstall);
    const ofBranch = await goesLive(house(), first);
    const second = await revise(house(), first.id, { source_revision_config: { repo_ref: `refs/tags/${tag}` } });
    const ofTag = await goesLive(house(), { id: first.id, revisionId: second });
    expect(ofBranch.source_revision_config).toMatchObject({ repo_ref: 'main', repo_commit_sha: head });
    expect(ofTag.source_revision_config).toMatchObject({ repo_ref: `refs/tags/${tag}`, repo_commit_sha: tagged });
  });

  test('[control.secret.in-environment] a secret is in the environment of what runs', async () => {
    const asked = await deploy(house(), { ...quickInstall, secrets: { MODEL_KEY: 'k-1' } });
    await goesLive(house(), asked);
    expect(await (await askAgent(asked.url, '/env')).json()).toMatchObject({ MODEL_KEY: 'k-1' });
  });

  test('[control.revisions.redeploy] an earlier revision can be deployed again', async () => {
    const first = await deploy(house(), quickInstall);
    const { source_revision_config } = await goesLive(house(), first);
    change(opened.ground, { 'more.txt': `${_} more` });
    await goesLive(house(), { id: first.id, revisionId: await revise(house(), first.id, restate) });
    const again = await house().control.redeployRevision(first.id, first.revisionId);
    const live = await goesLive(house(), { id: first.id, revisionId: again.latest_revision_id ?? '' });
    expect(live.source_revision_config).toEqual(source_revision_config);
  });

  test('[control.revision.status-message] [control.logs.build] [control.logs.deploy] a revision that fails says why, and so does its log', async () => {
    const asked = await deploy(house(), quickInstall);
    await goesLive(house(), asked);
    expect(await deployLog(asked.id, asked.revisionId)).toContain(
      'The agent is healthy and serves; traffic has gone over to it.',
    );
    const gone = await revise(house(), asked.id, { source_revision_config: { graph_config_path: 'gone.json' } });
    const failed = await reaches(house(), asked.id, gone);
    expect([failed.status, failed.status_message]).toEqual([
      'BUILD_FAILED',
      expect.stringContaining('no file gone.json'),
    ]);
    expect((await buildLog(asked.id, gone)).at(-1)).toBe(failed.status_message);
    const broken = await revise(house(), asked.id, {
      source_revision_config: { graph_config_path: 'langgraph.json' },
      secrets: secretsOf({ FAKE_START: 'dies' }),
    });
    const ended = await reaches(house(), asked.id, broken);
    expect(ended.status).toBe('DEPLOY_FAILED');
    expect((await deployLog(asked.id, broken)).at(-1)).toBe(ended.status_message);
  });
});

describe('over HTTP', () => {
  test('[agent.auth.api-key-header] [agent.auth.every-request] [agent.auth.valid-key] [agent.auth.owner-key] every path of an agent is for the key of its owner', async () => {
    const asked = await deploy(opened, quickInstall);
    await goesLive(opened, asked);
    const status = async (path: string, headers: Record<string, string>): Promise<number> =>
      (await fetch(`${asked.url}${path}`, { headers })).status;
    for (const path of ['/ok', '/info', '/docs', '/', '/threads/x', '/anything']) {
      expect([path, await status(path, keyHeader)]).toEqual([path, 200]);
      expect([path, await status(path, {})]).toEqual([path, 401]);
      expect([path, await status(path, { 'x-api-key': 'lf_guess' })]).toEqual([path, 401]);
      expect([path, await status(path, { 'x-api-key': opened.ground.strangersKey })]).toEqual([path, 404]);
      expect([path, await status(path, { ...keyHeader, 'x-tenant-id': asked.id })]).toEqual([path, 403]);
    }
  });
});
