import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { listBuilds } from '../../../../src/services/control/builds/build-folder.ts';
import {
  requestAgent,
  answering,
  change,
  closeAll,
  deploy,
  gate,
  goesLive,
  history,
  logOf,
} from './running-service.ts';
import { openMachine, startService, reaches, restate, revise, secretsOf, until } from './running-service.ts';

afterEach(closeAll);

test('a deployment is built, started, live and served at its address', async () => {
  const instance = await startService(await openMachine());
  const head = change(instance.machine, { 'more.txt': 'more' });
  const requested = await deploy(instance);
  const revision = await goesLive(instance, requested);
  expect(await answering(requested.url)).toBe(requested.revisionId);
  expect(revision.source_revision_config.repo_commit_sha).toBe(head);
  expect(await history(instance, requested.revisionId)).toEqual([
    'CREATING',
    'AWAITING_BUILD',
    'BUILDING',
    'AWAITING_DEPLOY',
    'DEPLOYING',
    'DEPLOYED',
  ]);
  expect(await instance.control.getDeployment(requested.id)).toMatchObject({
    status: 'READY',
    active_revision_id: requested.revisionId,
  });
  expect(await logOf(instance, requested.revisionId, 'build')).toContain(`Checked out commit ${head}.`);
  expect(await logOf(instance, requested.revisionId, 'deploy')).toEqual([
    `Starting the agent of commit ${head}.`,
    'The agent is healthy and serves; traffic has switched to it.',
  ]);
  expect(instance.logged).toEqual([]);
});

test('reports the commit during the build, and for a failed build too', async () => {
  const machine = await openMachine();
  const slow = gate(machine.root, 'slow');
  const head = change(machine, { 'slow.sh': `${slow.script['slow.sh']}exit 1\n` });
  const instance = await startService(machine);
  const { id, revisionId } = await deploy(instance, { config: { build_command: slow.command } });
  await until(slow.waits);
  const building = await instance.control.getRevision(id, revisionId);
  expect([building.status, building.source_revision_config.repo_commit_sha]).toEqual(['BUILDING', head]);
  writeFileSync(slow.open, '');
  const failed = await reaches(instance, id, revisionId);
  expect([failed.status, failed.source_revision_config.repo_commit_sha]).toEqual(['BUILD_FAILED', head]);
});

test('the next revision takes over at once; requests in flight finish on the former', async () => {
  const instance = await startService(await openMachine());
  const first = await deploy(instance);
  await goesLive(instance, first);
  const slow = await requestAgent(first.url, '/slow');
  const second = await revise(instance, first.id, restate);
  await goesLive(instance, { id: first.id, revisionId: second });
  expect(await answering(first.url)).toBe(second);
  expect(await slow.text()).toBe('begun done');
  await until(async () => (await logOf(instance, first.revisionId, 'deploy')).at(-1) === 'The agent was stopped.');
});

test('no call fails under steady load while revisions take over', async () => {
  const instance = await startService(await openMachine());
  const { id, revisionId, url } = await deploy(instance);
  await goesLive(instance, { id, revisionId });
  const load = { going: true, answers: new Map<string, number>() };
  const callers = Array.from({ length: 4 }, async () => {
    while (load.going) {
      const answer = await answering(url).catch(String);
      load.answers.set(answer, (load.answers.get(answer) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });
  const second = await revise(instance, id, restate);
  await goesLive(instance, { id, revisionId: second });
  const third = await revise(instance, id, restate);
  await goesLive(instance, { id, revisionId: third });
  await until(() => (load.answers.get(third) ?? 0) > 5);
  load.going = false;
  await Promise.all(callers);
  expect([...load.answers.keys()].toSorted()).toEqual([revisionId, second, third].toSorted());
});

test.each([
  ['does not start', { secrets: secretsOf({ FAKE_START: 'dies' }) }, 'DEPLOY_FAILED', 'has no export named graph'],
  [
    'can not be built',
    { source_revision_config: { graph_config_path: 'gone.json' } },
    'BUILD_FAILED',
    'no file gone.json',
  ],
  [
    'has no such branch',
    { source_revision_config: { repo_ref: 'gone' } },
    'BUILD_FAILED',
    'has no ref refs/heads/gone',
  ],
])('a revision that %s fails with its reason, and the live one keeps serving', async (_, body, status, reason) => {
  const instance = await startService(await openMachine());
  const live = await deploy(instance);
  await goesLive(instance, live);
  const broken = await revise(instance, live.id, body);
  const end = await reaches(instance, live.id, broken);
  expect(end.status).toBe(status);
  expect(end.status_message).toContain(reason);
  const kind = status === 'BUILD_FAILED' ? 'build' : 'deploy';
  expect((await logOf(instance, broken, kind)).at(-1)).toBe(`error: ${end.status_message}`);
  expect(await answering(live.url)).toBe(live.revisionId);
  expect((await instance.control.getDeployment(live.id)).active_revision_id).toBe(live.revisionId);
});

test('a graph of no language and an image fail, with what this machine can run', async () => {
  const config = JSON.stringify({ graphs: { agent: './agent:graph' } });
  const instance = await startService(await openMachine({ 'langgraph.json': config }));
  const { id, revisionId } = await deploy(instance);
  const failed = await reaches(instance, id, revisionId);
  expect([failed.status, failed.status_message]).toEqual([
    'BUILD_FAILED',
    expect.stringMatching(/^Graph "agent" lies in \.\/agent, whose ending says no language\./),
  ]);
  const image = await instance.control.createDeployment({
    name: 'image',
    source: 'external_docker',
    source_config: {},
    source_revision_config: { image_uri: 'registry.example/agent:1' },
    secrets: [],
  });
  const refused = await reaches(instance, image.id, image.latest_revision_id ?? '');
  expect(refused.status).toBe('DEPLOY_FAILED');
  expect(refused.status_message).toContain('runs agents as processes of this machine, which a container image is not');
});

test('builds only the newest of the waiting revisions', async () => {
  const machine = await openMachine();
  const slow = gate(machine.root, 'slow');
  change(machine, slow.script);
  const instance = await startService(machine);
  const first = await deploy(instance, { config: { build_command: slow.command } });
  await until(slow.waits);
  const second = await revise(instance, first.id, restate);
  await reaches(instance, first.id, second, ['QUEUED']);
  const third = await revise(instance, first.id, restate);
  await reaches(instance, first.id, third, ['QUEUED']);
  writeFileSync(slow.open, '');
  await goesLive(instance, first);
  await goesLive(instance, { id: first.id, revisionId: third });
  const skipped = await reaches(instance, first.id, second);
  expect([skipped.status, skipped.status_message]).toEqual(['SKIPPED', expect.stringContaining(third)]);
  expect(await history(instance, second)).toEqual(['CREATING', 'QUEUED', 'SKIPPED']);
});

test('redeploys an earlier revision from its build, without the repository', async () => {
  const instance = await startService(await openMachine());
  const first = await deploy(instance);
  const { source_revision_config: before } = await goesLive(instance, first);
  change(instance.machine, { 'more.txt': 'more' });
  await goesLive(instance, { id: first.id, revisionId: await revise(instance, first.id, restate) });
  renameSync(instance.machine.repo, `${instance.machine.repo}-away`);
  const again = await instance.control.redeployRevision(first.id, first.revisionId);
  const third = again.latest_revision_id ?? '';
  const live = await goesLive(instance, { id: first.id, revisionId: third });
  expect(await answering(first.url)).toBe(third);
  expect(live.source_revision_config.repo_commit_sha).toBe(before.repo_commit_sha);
  expect(await history(instance, third)).toEqual(['CREATING', 'AWAITING_DEPLOY', 'DEPLOYING', 'DEPLOYED']);
});

test('rebuilds a revision from its commit after its build was removed', async () => {
  const instance = await startService(await openMachine());
  const first = await deploy(instance);
  const { source_revision_config: before } = await goesLive(instance, first);
  const next = change(instance.machine, { 'more.txt': 'more' });
  await goesLive(instance, { id: first.id, revisionId: await revise(instance, first.id, restate) });
  renameSync(join(instance.machine.dataDir, 'builds', first.revisionId), join(instance.machine.root, 'away'));
  const again = await instance.control.redeployRevision(first.id, first.revisionId);
  const live = await goesLive(instance, { id: first.id, revisionId: again.latest_revision_id ?? '' });
  expect(live.source_revision_config.repo_commit_sha).toBe(before.repo_commit_sha);
  expect(before.repo_commit_sha).not.toBe(next);
  expect(existsSync(join(instance.machine.dataDir, 'builds', first.revisionId, 'build.json'))).toBe(true);
});

test('an interrupted revision is dropped, and the next one continues', async () => {
  const machine = await openMachine();
  const slow = gate(machine.root, 'slow');
  change(machine, slow.script);
  const instance = await startService(machine);
  const { id, revisionId } = await deploy(instance, { config: { build_command: slow.command } });
  await until(slow.waits);
  await instance.control.patchDeployment(id, { source_config: { build_command: 'true' } });
  const second = await revise(instance, id, restate);
  await instance.control.interruptRevision(id, revisionId);
  await goesLive(instance, { id, revisionId: second });
  expect((await instance.control.getRevision(id, revisionId)).status).toBe('INTERRUPTED');
  expect(listBuilds(machine.dataDir)).toEqual([second]);
});

test('runs at most two builds at the same time', async () => {
  const machine = await openMachine();
  const gates = ['one', 'two', 'three'].map((name) => gate(machine.root, name));
  change(machine, Object.assign({}, ...gates.map(({ script }) => script)));
  const instance = await startService(machine);
  const requested = [];
  for (const { command } of gates) requested.push(await deploy(instance, { config: { build_command: command } }));
  await until(() => gates.filter(({ waits }) => waits()).length === 2);
  const statuses = await Promise.all(
    requested.map(({ id, revisionId }) => instance.control.getRevision(id, revisionId)),
  );
  expect(statuses.map(({ status }) => status).toSorted()).toEqual(['AWAITING_BUILD', 'BUILDING', 'BUILDING']);
  for (const { open } of gates) writeFileSync(open, '');
  for (const one of requested) await goesLive(instance, one);
});

test('a secret is in the environment of the agent and nowhere else', async () => {
  const canary = 'canary-5f2a9c';
  const instance = await startService(await openMachine());
  const { id, revisionId, url } = await deploy(instance, {
    secrets: { MODEL_KEY: canary, FAKE_SAY: `it is ${canary}` },
  });
  await goesLive(instance, { id, revisionId });
  expect(await (await requestAgent(url, '/env')).text()).toContain(`"MODEL_KEY":"${canary}"`);
  const broken = await revise(instance, id, {
    secrets: secretsOf({ MODEL_KEY: canary, FAKE_SAY: canary, FAKE_START: 'dies' }),
  });
  const failed = await reaches(instance, id, broken);
  const recorded = [
    failed.status_message,
    instance.logged,
    ...(await Promise.all([revisionId, broken].map((revision) => logOf(instance, revision, 'deploy')))),
    ...(await Promise.all([revisionId, broken].map((revision) => logOf(instance, revision, 'build')))),
  ];
  expect(JSON.stringify(recorded)).not.toContain(canary);
  expect(JSON.stringify(recorded)).toContain('***');
});

test('reports unexpected errors without the secrets in their message', async () => {
  const canary = 'canary-77d1e0';
  const quotes = async (): Promise<never> => Promise.reject(new Error(`no room for ${canary}`));
  const instance = await startService(await openMachine(), { compute: { start: quotes } });
  const { id, revisionId } = await deploy(instance, { secrets: { MODEL_KEY: canary } });
  const failed = await reaches(instance, id, revisionId);
  const recorded = [failed.status, failed.status_message, instance.logged, await logOf(instance, revisionId, 'build')];
  expect(JSON.stringify(recorded)).not.toContain(canary);
  expect(JSON.stringify(recorded)).toContain('no room for ***');
});
