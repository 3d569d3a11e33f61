// What staging has proven is deployed to production: the same commit, the same build, by the command line.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Repository } from '../../src/demo/repository.ts';
import { runHere, type CliEnd } from '../cli/run-cli.ts';
import { linkPackages } from '../installed-packages.ts';
import { openJourneyFixture, type JourneyFixture } from './fixture.ts';

let fixture: JourneyFixture;
let repository: Repository;

const deployFile = (repoUrl: string): string => `
environments: [staging, production]
defaults:
  source: github
  repo-url: ${repoUrl}
  repo-ref: main
  graph-config-path: langgraph.json
  install-command: ${linkPackages}
  smoke-tests:
    - name: answers
      assistant: talk
      input: { input: you }
      expect: { values: [{ path: $.said, contains: you }] }
deployments:
  talker-staging: { environment: staging }
  talker: { environment: production }
`;

beforeAll(async () => {
  fixture = await openJourneyFixture();
  repository = await fixture.repository('talker');
  await mkdir(join(repository.folder, '.github'));
  await writeFile(join(repository.folder, '.github/landfall.yml'), deployFile(pathToFileURL(repository.folder).href));
});
afterAll(() => fixture?.close());

const deploy = (deployment: string, ...options: string[]): Promise<CliEnd> =>
  runHere(['deploy', '--deployment', deployment, '--poll-seconds', '0.2', ...options], {
    cwd: repository.folder,
    env: { LANDFALL_BASE_URL: fixture.service.url, LANDFALL_API_KEY: fixture.service.apiKey, TOKEN: 'rotated' },
  });

async function liveOf(name: string) {
  const [found] = (await fixture.control.listDeployments({ name })).resources;
  const id = found?.id ?? '';
  const revision = await fixture.control.getRevision(id, found?.active_revision_id ?? '');
  return { id, revision, commit: revision.source_revision_config.repo_commit_sha, url: found?.url ?? undefined };
}

test('production gets the build that staging has proven, and nothing before', async () => {
  const early = await deploy('talker');
  expect(early.code).not.toBe(0);
  expect(early.out + early.err).toContain('there is no deployment talker-staging, which comes before this one');
  expect(await deploy('talker-staging')).toMatchObject({ code: 0 });
  const promoted = await deploy('talker');
  expect(promoted).toMatchObject({ code: 0, err: '' });
  expect(promoted.out).toContain('it gets the build that talker-staging serves');
  const [staging, production] = [await liveOf('talker-staging'), await liveOf('talker')];
  expect(production.revision).toMatchObject({ build_of: staging.revision.id, status: 'DEPLOYED' });
  expect([production.commit, production.revision.build_digest]).toEqual([
    await repository.head(),
    (await liveOf('talker-staging')).revision.build_digest,
  ]);
  expect(await fixture.ask(production.url, 'you')).toMatchObject({ said: expect.stringContaining('you') });
  const again = await deploy('talker');
  expect(again).toMatchObject({ code: 0 });
  expect(await fixture.revisions(production.id)).toHaveLength(1);
});

test('a commit that is not served or fails on staging goes no further', async () => {
  const before = await liveOf('talker');
  await repository.edit('graph.ts', "'first'", "'second'");
  const moved = await repository.commit('Say something else');
  const ahead = await deploy('talker');
  expect(ahead.code).not.toBe(0);
  expect(ahead.out + ahead.err).toContain(`and not ${moved.slice(0, 7)}`);
  // What staging serves can still be deployed by its commit, although the head has moved on.
  expect(await deploy('talker', '--commit', before.commit ?? '')).toMatchObject({ code: 0 });
  expect(await deploy('talker-staging', '--verify', 'after-traffic', '--smoke-tests', wrong)).not.toMatchObject({
    code: 0,
  });
  const unproven = await deploy('talker');
  expect(unproven.code).not.toBe(0);
  expect(unproven.out + unproven.err).toContain('failed its smoke tests on talker-staging');
  // What serves there already stays changeable while staging is red.
  expect(await deploy('talker', '--commit', before.commit ?? '')).toMatchObject({ code: 0 });
  expect((await liveOf('talker')).revision.id).toBe(before.revision.id);
  const rotated = await deploy('talker', '--commit', before.commit ?? '', '--secrets', 'TOKEN');
  expect(rotated).toMatchObject({ code: 0 });
  const { revision } = await liveOf('talker');
  expect([revision.id === before.revision.id, revision.build_of]).toEqual([false, before.revision.build_of]);
  expect(await deploy('talker-staging')).toMatchObject({ code: 0 });
  expect(await deploy('talker')).toMatchObject({ code: 0 });
  expect((await liveOf('talker')).commit).toBe(moved);
});

const wrong = JSON.stringify([
  {
    name: 'answers',
    assistant: 'talk',
    input: { input: 'you' },
    expect: { values: [{ path: '$.said', contains: 'nobody says this' }] },
  },
]);
