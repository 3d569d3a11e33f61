import {
  chmodSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { WriteOptions } from '../../../../src/contract/control/service.ts';
import { httpControl } from '../http-control.ts';
import { refusalOf } from '../service-fixture.ts';
import {
  change,
  closeAll,
  deploy,
  gate,
  goesLive,
  logOf,
  openMachine,
  overHttp,
  restate,
  secretsOf,
  startService,
  until,
  type RunningService,
} from './running-service.ts';
import { maxConcurrentBuilds } from '../../../../src/services/control/rollouts/rollouts.ts';
import { plainAgent } from '../builds/repositories.ts';

afterEach(closeAll);

/** A live deployment whose build leaves a text that no second build would have, and another one to deploy it to. */
async function twoDeployments() {
  const stamp = { build_command: 'sh stamp.sh' };
  const script =
    'date +%s%N > stamp && mkdir -p lib && cp stamp lib/copy && ln -sf ../stamp lib/link && mkdir -p other && touch -r stamp.sh lib other';
  const machine = await openMachine({ ...plainAgent, 'stamp.sh': script, 'other/file': 'other\n' });
  const service = overHttp(await startService(machine));
  const staging = await deploy(service, { config: stamp });
  const production = await deploy(service, { config: stamp });
  await Promise.all([goesLive(service, staging), goesLive(service, production)]);
  return { machine, service, staging, production };
}

const buildOf = ({ machine }: RunningService, revisionId: string, path = ''): string =>
  join(machine.dataDir, 'builds', revisionId, 'source', path);

async function patched({ control }: RunningService, id: string, options: WriteOptions): Promise<string> {
  return (await control.patchDeployment(id, restate, options)).latest_revision_id ?? '';
}

test("deploys another deployment's build file by file, with one digest for both", async () => {
  const { machine, service, staging, production } = await twoDeployments();
  const { control } = service;
  writeFileSync(buildOf(service, staging.revisionId, 'written-by-its-agent'), 'a state of its own');
  change(machine, { 'later.txt': 'not of that build' });
  const revisionId = await patched(service, production.id, {
    buildOf: staging.revisionId,
    idempotencyKey: 'promote-1',
  });
  const repeated = await patched(service, production.id, { buildOf: staging.revisionId, idempotencyKey: 'promote-1' });
  expect(repeated).toBe(revisionId);
  const live = await goesLive(service, { id: production.id, revisionId });
  const original = await control.getRevision(staging.id, staging.revisionId);
  expect(live).toMatchObject({
    build_of: staging.revisionId,
    build_digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    source_revision_config: { repo_commit_sha: original.source_revision_config.repo_commit_sha },
  });
  expect(original.build_digest).toBe(live.build_digest);
  const read = (owner: string, path: string) => readFileSync(buildOf(service, owner, path), 'utf8');
  expect(read(revisionId, 'lib/link')).toBe(read(staging.revisionId, 'stamp'));
  expect(readdirSync(buildOf(service, revisionId)).toSorted()).toEqual(
    readdirSync(buildOf(service, staging.revisionId))
      .filter((name) => name !== 'written-by-its-agent')
      .toSorted(),
  );
  expect(await logOf(service, revisionId, 'build')).toEqual([
    `Copied the build of the revision ${staging.revisionId} (${live.build_digest}): nothing is built a second time.`,
  ]);

  // Other settings, such as a secret, go with the build that it has.
  const { latest_revision_id } = await control.patchDeployment(
    production.id,
    { secrets: secretsOf({ TOKEN: 'rotated' }) },
    { buildOf: revisionId },
  );
  const rotated = await goesLive(service, { id: production.id, revisionId: latest_revision_id ?? '' });
  expect(rotated).toMatchObject({ build_of: staging.revisionId, build_digest: live.build_digest });
  expect(await logOf(service, rotated.id, 'build')).toEqual([]);

  // A copy can be copied again, and its deployment can go back to what it had.
  const third = await deploy(service, { config: { build_command: 'true' } });
  await goesLive(service, third);
  const refusal = await refusalOf(control.patchDeployment(third.id, restate, { buildOf: revisionId }));
  expect(refusal).toMatchObject({ status: 400, detail: expect.stringContaining('source_config.build_command') });
  const again = await patched(service, staging.id, { buildOf: revisionId });
  expect(await goesLive(service, { id: staging.id, revisionId: again })).toMatchObject({
    build_digest: live.build_digest,
  });
});

const changes: [string, (source: string) => void][] = [
  [
    'a file with another content, its size and time restored',
    (source) => {
      const file = join(source, 'stamp');
      const { atime, mtime, size } = statSync(file);
      writeFileSync(file, 'x'.repeat(size));
      utimesSync(file, atime, mtime);
    },
  ],
  ['a removed file', (source) => rmSync(join(source, 'lib/copy'))],
  ['a file that became a program', (source) => chmodSync(join(source, 'stamp'), 0o755)],
  [
    'a file that became a link to one of the machine',
    (source) => {
      unlinkSync(join(source, 'stamp'));
      symlinkSync('/etc/passwd', join(source, 'stamp'));
    },
  ],
  [
    'a link that leads elsewhere',
    (source) => {
      unlinkSync(join(source, 'lib/link'));
      symlinkSync('/etc/passwd', join(source, 'lib/link'));
    },
  ],
  [
    'folders that changed places, with files that look alike',
    (source) => {
      renameSync(join(source, 'lib'), join(source, 'moved'));
      renameSync(join(source, 'other'), join(source, 'lib'));
      renameSync(join(source, 'moved'), join(source, 'other'));
    },
  ],
  [
    'a folder that became a link',
    (source) => {
      rmSync(join(source, 'lib'), { recursive: true });
      symlinkSync('/etc', join(source, 'lib'));
    },
  ],
];

describe('a build that its agents changed is made again from its commit', () => {
  test.each(changes)('%s', async (_, tamper) => {
    const { service, staging, production } = await twoDeployments();
    const { control } = service;
    tamper(buildOf(service, staging.revisionId));
    const revisionId = await patched(service, production.id, { buildOf: staging.revisionId });
    const live = await goesLive(service, { id: production.id, revisionId });
    const { source_revision_config: original } = await control.getRevision(staging.id, staging.revisionId);
    expect([live.build_of, live.build_digest]).toEqual([undefined, undefined]);
    expect(live.source_revision_config.repo_commit_sha).toBe(original.repo_commit_sha);
    expect(live.build_warnings).toEqual([
      expect.stringMatching(
        / can't be copied: "(stamp|lib|other|lib\/copy|lib\/link)" has changed since the build.*built again/,
      ),
    ]);
    expect(readFileSync(buildOf(service, revisionId, 'stamp'), 'utf8')).toMatch(/^\d+\n$/);
    expect(readFileSync(buildOf(service, revisionId, 'other/file'), 'utf8')).toBe('other\n');
  });
});

test('a copy takes no place of a build, and settings may be spelled in another way', async () => {
  const machine = await openMachine();
  const slow = gate(machine.root, 'slow');
  change(machine, slow.script);
  const service = overHttp(await startService(machine));
  const staging = await deploy(service);
  const production = await deploy(service, {
    config: { repo_url: `${machine.repo}/` },
    revision: { graph_config_path: './langgraph.json' },
  });
  await Promise.all([goesLive(service, staging), goesLive(service, production)]);
  for (let taken = 0; taken < maxConcurrentBuilds; taken += 1)
    await deploy(service, { config: { build_command: slow.command } });
  await until(slow.waits);
  const revisionId = await patched(service, production.id, { buildOf: staging.revisionId });
  const live = await goesLive(service, { id: production.id, revisionId });
  expect(live).toMatchObject({ build_of: staging.revisionId });
  writeFileSync(slow.open, '');
});

test('a commit that a change names is built, whatever the head of the branch is', async () => {
  const machine = await openMachine();
  const service = overHttp(await startService(machine));
  const pinned = change(machine, { 'pinned.txt': '1' });
  const head = change(machine, { 'pinned.txt': '2' });
  const { id, revisionId } = await deploy(service);
  expect((await goesLive(service, { id, revisionId })).source_revision_config.repo_commit_sha).toBe(head);
  const next = await patched(service, id, { commit: pinned.toUpperCase() });
  expect((await goesLive(service, { id, revisionId: next })).source_revision_config.repo_commit_sha).toBe(pinned);
  const created = await service.control.createDeployment(
    {
      name: 'pinned',
      source: 'github',
      source_config: { repo_url: machine.repo },
      source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
      secrets: [],
    },
    { commit: pinned },
  );
  const first = await goesLive(service, { id: created.id, revisionId: created.latest_revision_id ?? '' });
  expect(first.source_revision_config.repo_commit_sha).toBe(pinned);
});

test('refuses pins that can not hold, and those of other tenants, and changes nothing', async () => {
  const machine = await openMachine();
  const service = overHttp(await startService(machine));
  const { id, revisionId } = await deploy(service);
  await goesLive(service, { id, revisionId });
  const { control } = service;
  const refused = (options: WriteOptions) => refusalOf(control.patchDeployment(id, restate, options));
  const unknown = '00000000-0000-4000-8000-000000000000';
  const head = (await control.getRevision(id, revisionId)).source_revision_config.repo_commit_sha ?? '';
  const cases: [WriteOptions, number, string][] = [
    [{ commit: head.slice(0, 12) }, 400, 'full SHA'],
    [{ buildOf: unknown }, 404, 'No deployment of this workspace'],
  ];
  for (const [options, status, detail] of cases)
    expect(await refused(options)).toMatchObject({ status, detail: expect.stringContaining(detail) });
  expect(await refused({ buildOf: 'latest' })).toMatchObject({ status: 422 });
  const other = await deploy(service);
  await goesLive(service, other);
  expect(await refused({ buildOf: other.revisionId, commit: 'a'.repeat(40) })).toMatchObject({
    status: 400,
    detail: expect.stringContaining('another commit'),
  });
  const stranger = httpControl(new URL(other.url).origin, machine.strangersKey);
  const foreign = await deploy({ ...service, control: stranger });
  expect(await refused({ buildOf: foreign.revisionId })).toMatchObject({ status: 404 });
  const image = await control.createDeployment({
    name: 'image',
    source: 'external_docker',
    source_config: {},
    source_revision_config: { image_uri: 'agent:1' },
    secrets: [],
  });
  const ofImage = { source_revision_config: { image_uri: 'agent:2' } };
  const refusal = await refusalOf(control.patchDeployment(image.id, ofImage, { commit: head }));
  expect(refusal).toMatchObject({ status: 400, detail: expect.stringContaining('is for the source github') });
  expect((await control.listRevisions(id, {})).resources.map((each) => each.id)).toEqual([revisionId]);
});
