import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { buildsThere } from '../../../src/control-service/builds/build-folder.ts';
import { askAgent, answering, change, closeAll, deploy, gate, goesLive, history, logOf } from './house.ts';
import { openGround, openHouse, reaches, restate, revise, secretsOf, until } from './house.ts';

afterEach(closeAll);

test('a deployment is built, started and live, and answers at its address', async () => {
  const house = await openHouse(await openGround());
  const head = change(house.ground, { 'more.txt': 'more' });
  const asked = await deploy(house);
  const revision = await goesLive(house, asked);
  expect(await answering(asked.url)).toBe(asked.revisionId);
  expect(revision.source_revision_config.repo_commit_sha).toBe(head);
  expect(await history(house, asked.revisionId)).toEqual([
    'CREATING',
    'AWAITING_BUILD',
    'BUILDING',
    'AWAITING_DEPLOY',
    'DEPLOYING',
    'DEPLOYED',
  ]);
  expect(await house.control.getDeployment(asked.id)).toMatchObject({
    status: 'READY',
    active_revision_id: asked.revisionId,
  });
  expect(await logOf(house, asked.revisionId, 'build')).toContain(`Checked out commit ${head}.`);
  expect(await logOf(house, asked.revisionId, 'deploy')).toEqual([
    `Starting the agent of commit ${head}.`,
    'The agent is healthy and serves; traffic has gone over to it.',
  ]);
  expect(house.logged).toEqual([]);
});

test('the commit is told while the build goes on, and also of a build that fails', async () => {
  const ground = await openGround();
  const slow = gate(ground.root, 'slow');
  const head = change(ground, { 'slow.sh': `${slow.script['slow.sh']}exit 1\n` });
  const house = await openHouse(ground);
  const { id, revisionId } = await deploy(house, { config: { build_command: slow.command } });
  await until(slow.waits);
  const building = await house.control.getRevision(id, revisionId);
  expect([building.status, building.source_revision_config.repo_commit_sha]).toEqual(['BUILDING', head]);
  writeFileSync(slow.open, '');
  const failed = await reaches(house, id, revisionId);
  expect([failed.status, failed.source_revision_config.repo_commit_sha]).toEqual(['BUILD_FAILED', head]);
});

test('the next revision takes over at once, and what is in flight ends on the former one', async () => {
  const house = await openHouse(await openGround());
  const first = await deploy(house);
  await goesLive(house, first);
  const slow = await askAgent(first.url, '/slow');
  const second = await revise(house, first.id, restate);
  await goesLive(house, { id: first.id, revisionId: second });
  expect(await answering(first.url)).toBe(second);
  expect(await slow.text()).toBe('begun done');
  await until(async () => (await logOf(house, first.revisionId, 'deploy')).at(-1) === 'The agent was stopped.');
});

test('under steady load no call fails while revisions take over', async () => {
  const house = await openHouse(await openGround());
  const { id, revisionId, url } = await deploy(house);
  await goesLive(house, { id, revisionId });
  const load = { going: true, answers: new Map<string, number>() };
  const callers = Array.from({ length: 4 }, async () => {
    while (load.going) {
      const answer = await answering(url).catch(String);
      load.answers.set(answer, (load.answers.get(answer) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });
  const second = await revise(house, id, restate);
  await goesLive(house, { id, revisionId: second });
  const third = await revise(house, id, restate);
  await goesLive(house, { id, revisionId: third });
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
])('a revision that %s fails with its reason, and the live one goes on serving', async (_, body, status, reason) => {
  const house = await openHouse(await openGround());
  const live = await deploy(house);
  await goesLive(house, live);
  const broken = await revise(house, live.id, body);
  const end = await reaches(house, live.id, broken);
  expect(end.status).toBe(status);
  expect(end.status_message).toContain(reason);
  const kind = status === 'BUILD_FAILED' ? 'build' : 'deploy';
  expect((await logOf(house, broken, kind)).at(-1)).toBe(`error: ${end.status_message}`);
  expect(await answering(live.url)).toBe(live.revisionId);
  expect((await house.control.getDeployment(live.id)).active_revision_id).toBe(live.revisionId);
});

test('a graph in Python and an image end failed, with what this machine can run', async () => {
  const python = JSON.stringify({ dependencies: ['.'], graphs: { agent: './agent.py:graph' } });
  const house = await openHouse(await openGround({ 'langgraph.json': python }));
  const { id, revisionId } = await deploy(house);
  const failed = await reaches(house, id, revisionId);
  expect([failed.status, failed.status_message]).toEqual([
    'BUILD_FAILED',
    'Graph "agent" is written in Python (./agent.py). This machine runs graphs in JavaScript and TypeScript only.',
  ]);
  const image = await house.control.createDeployment({
    name: 'image',
    source: 'external_docker',
    source_config: {},
    source_revision_config: { image_uri: 'registry.example/agent:1' },
    secrets: [],
  });
  const refused = await reaches(house, image.id, image.latest_revision_id ?? '');
  expect(refused.status).toBe('DEPLOY_FAILED');
  expect(refused.status_message).toContain('runs agents as processes of this machine, which a container image is not');
});

test('of revisions that wait behind a running one only the newest is built', async () => {
  const ground = await openGround();
  const slow = gate(ground.root, 'slow');
  change(ground, slow.script);
  const house = await openHouse(ground);
  const first = await deploy(house, { config: { build_command: slow.command } });
  await until(slow.waits);
  const second = await revise(house, first.id, restate);
  await reaches(house, first.id, second, ['QUEUED']);
  const third = await revise(house, first.id, restate);
  await reaches(house, first.id, third, ['QUEUED']);
  writeFileSync(slow.open, '');
  await goesLive(house, first);
  await goesLive(house, { id: first.id, revisionId: third });
  const skipped = await reaches(house, first.id, second);
  expect([skipped.status, skipped.status_message]).toEqual(['SKIPPED', expect.stringContaining(third)]);
  expect(await history(house, second)).toEqual(['CREATING', 'QUEUED', 'SKIPPED']);
});

test('an earlier revision is deployed again from its build, without the repository', async () => {
  const house = await openHouse(await openGround());
  const first = await deploy(house);
  const { source_revision_config: before } = await goesLive(house, first);
  change(house.ground, { 'more.txt': 'more' });
  await goesLive(house, { id: first.id, revisionId: await revise(house, first.id, restate) });
  renameSync(house.ground.repo, `${house.ground.repo}-away`);
  const again = await house.control.redeployRevision(first.id, first.revisionId);
  const third = again.latest_revision_id ?? '';
  const live = await goesLive(house, { id: first.id, revisionId: third });
  expect(await answering(first.url)).toBe(third);
  expect(live.source_revision_config.repo_commit_sha).toBe(before.repo_commit_sha);
  expect(await history(house, third)).toEqual(['CREATING', 'AWAITING_DEPLOY', 'DEPLOYING', 'DEPLOYED']);
});

test('a revision whose build was cleared away is built again from its commit', async () => {
  const house = await openHouse(await openGround());
  const first = await deploy(house);
  const { source_revision_config: before } = await goesLive(house, first);
  const next = change(house.ground, { 'more.txt': 'more' });
  await goesLive(house, { id: first.id, revisionId: await revise(house, first.id, restate) });
  renameSync(join(house.ground.dataDir, 'builds', first.revisionId), join(house.ground.root, 'away'));
  const again = await house.control.redeployRevision(first.id, first.revisionId);
  const live = await goesLive(house, { id: first.id, revisionId: again.latest_revision_id ?? '' });
  expect(live.source_revision_config.repo_commit_sha).toBe(before.repo_commit_sha);
  expect(before.repo_commit_sha).not.toBe(next);
  expect(existsSync(join(house.ground.dataDir, 'builds', first.revisionId, 'build.json'))).toBe(true);
});

test('a revision that is interrupted is let go of, and the one behind it goes on', async () => {
  const ground = await openGround();
  const slow = gate(ground.root, 'slow');
  change(ground, slow.script);
  const house = await openHouse(ground);
  const { id, revisionId } = await deploy(house, { config: { build_command: slow.command } });
  await until(slow.waits);
  await house.control.patchDeployment(id, { source_config: { build_command: 'true' } });
  const second = await revise(house, id, restate);
  await house.control.interruptRevision(id, revisionId);
  await goesLive(house, { id, revisionId: second });
  expect((await house.control.getRevision(id, revisionId)).status).toBe('INTERRUPTED');
  expect(buildsThere(ground.dataDir)).toEqual([second]);
});

test('no more builds than two run at the same time', async () => {
  const ground = await openGround();
  const gates = ['one', 'two', 'three'].map((name) => gate(ground.root, name));
  change(ground, Object.assign({}, ...gates.map(({ script }) => script)));
  const house = await openHouse(ground);
  const asked = [];
  for (const { command } of gates) asked.push(await deploy(house, { config: { build_command: command } }));
  await until(() => gates.filter(({ waits }) => waits()).length === 2);
  const statuses = await Promise.all(asked.map(({ id, revisionId }) => house.control.getRevision(id, revisionId)));
  expect(statuses.map(({ status }) => status).toSorted()).toEqual(['AWAITING_BUILD', 'BUILDING', 'BUILDING']);
  for (const { open } of gates) writeFileSync(open, '');
  for (const one of asked) await goesLive(house, one);
});

test('a secret is in the environment of the agent and nowhere else', async () => {
  const canary = 'canary-5f2a9c';
  const house = await openHouse(await openGround());
  const { id, revisionId, url } = await deploy(house, { secrets: { MODEL_KEY: canary, FAKE_SAY: `it is ${canary}` } });
  await goesLive(house, { id, revisionId });
  expect(await (await askAgent(url, '/env')).text()).toContain(`"MODEL_KEY":"${canary}"`);
  const broken = await revise(house, id, {
    secrets: secretsOf({ MODEL_KEY: canary, FAKE_SAY: canary, FAKE_START: 'dies' }),
  });
  const failed = await reaches(house, id, broken);
  const told = [
    failed.status_message,
    house.logged,
    ...(await Promise.all([revisionId, broken].map((revision) => logOf(house, revision, 'deploy')))),
    ...(await Promise.all([revisionId, broken].map((revision) => logOf(house, revision, 'build')))),
  ];
  expect(JSON.stringify(told)).not.toContain(canary);
  expect(JSON.stringify(told)).toContain('***');
});

test('what nobody foresaw is told without the secrets that it quotes', async () => {
  const canary = 'canary-77d1e0';
  const quotes = async (): Promise<never> => Promise.reject(new Error(`no room for ${canary}`));
  const house = await openHouse(await openGround(), { compute: { start: quotes } });
  const { id, revisionId } = await deploy(house, { secrets: { MODEL_KEY: canary } });
  const failed = await reaches(house, id, revisionId);
  const told = [failed.status, failed.status_message, house.logged, await logOf(house, revisionId, 'build')];
  expect(JSON.stringify(told)).not.toContain(canary);
  expect(JSON.stringify(told)).toContain('no room for ***');
});
