import { expect, test } from 'vitest';
import { GitHubApiError, type PullRequestKey } from '../../../app/github/github-api.ts';
import type { PreviewContext } from '../../../app/previews/preview-context.ts';
import { provePreviewAgain } from '../../../app/previews/prove-again.ts';
import { overriding } from '../../../src/kit/overriding.ts';
import { readDeployFile } from '../../../app/targets/file-entries.ts';
import { commitOf, previewed, repository } from './a-preview.ts';
import { PreviewWorld, previewCode, type WorldSetting } from './preview-world.ts';

const setting: WorldSetting = {
  when: 'always',
  expiresAfter: '7d',
  max: 10,
  copies: 1,
  honoursKeys: true,
  pinsCommits: true,
  seed: 1,
};
const key = { repositoryId: 70, number: 5 };
const minutes = (world: PreviewWorld, count: number) => world.clock.run(world.clock.now() + count * 60_000);
const alive = (world: PreviewWorld) => world.control.alive.length - world.others.length;

/** An open pull request with a preview, whose repository GitHub then answers for as `later` says. */
async function previewedThen(later: (context: PreviewContext) => Partial<PreviewContext>): Promise<PreviewWorld> {
  let hasBegun = false;
  const world = new PreviewWorld(setting, {
    ...previewCode,
    contextOf: (context) => ({
      ...context,
      githubApi: {
        pullRequest: (pull) =>
          (hasBegun ? (later(context).githubApi ?? context.githubApi) : context.githubApi).pullRequest(pull),
      },
      installed: (since) => (hasBegun ? (later(context).installed ?? context.installed) : context.installed)(since),
    }),
  });
  world.pulls.open(5, false, commitOf('a'));
  world.deliverChange(5, [0]);
  await minutes(world, 10);
  expect(alive(world)).toBe(1);
  hasBegun = true;
  world.deliverChange(5, [0]);
  await minutes(world, 10);
  return world;
}

const renamed = { ...repository, name: 'renamed' };
const under = (context: PreviewContext, name: string, otherwise: () => undefined) => ({
  pullRequest: async (pull: PullRequestKey) =>
    pull.repository.name === name ? context.githubApi.pullRequest(pull) : otherwise(),
});
const nothing = () => undefined;
const another = () => {
  throw new GitHubApiError('acme/agents is another repository by now', 404, 'none');
};

test.each([
  ['no repository', nothing],
  ['another repository', another],
])('keeps the preview of a renamed repository, whose former name is that of %s', async (_, otherwise) => {
  const world = await previewedThen((context) => ({
    githubApi: under(context, 'renamed', otherwise),
    installed: async () => new Map([[70, renamed]]),
  }));
  expect(alive(world)).toBe(1);
  expect((await world.previewing.store.pull(key))?.repository).toEqual(renamed);
});

test('keeps it where another repository has the name, and the list is of before', async () => {
  const world = await previewedThen((context) => ({ githubApi: under(context, 'renamed', another) }));
  expect(alive(world)).toBe(1);
});

test.each<[why: string, later: (context: PreviewContext) => Partial<PreviewContext>]>([
  ['its repository is there without it', (context) => ({ githubApi: under(context, '', nothing) })],
  [
    'the App no longer reaches its repository',
    (context) => ({ githubApi: under(context, '', nothing), installed: async () => new Map() }),
  ],
])('removes the preview of a pull request when %s', async (_, later) => {
  expect(alive(await previewedThen(later))).toBe(0);
});

test('says on a pull request without a preview where the deploy file has mistakes', async () => {
  const file = readDeployFile({ text: previewed('{ when: never }') });
  const reported: unknown[] = [];
  const world = new PreviewWorld(setting, {
    ...previewCode,
    contextOf: (context) => {
      const previews = overriding<typeof context.previews, typeof context.previews>(context.previews, {
        want: async (requests, reports) => {
          reported.push(...reports);
          await context.previews.want(requests, reports);
        },
      });
      return { ...context, previews, deployFile: async () => file };
    },
  });
  world.pulls.open(5, false, commitOf('a'));
  world.deliverChange(5, [0]);
  await minutes(world, 5);
  expect(alive(world)).toBe(0);
  const said = JSON.stringify(reported);
  expect(said).toContain('The deploy file of the default branch has mistakes');
  expect(said).toContain('preview.when');
});

test('Re-run proves a preview again, and approves no other commit', async () => {
  const world = new PreviewWorld(setting, previewCode);
  world.pulls.open(5, true, commitOf('a'));
  world.deliverChange(5, [0]);
  world.approve(5, commitOf('a'));
  await minutes(world, 10);
  const rerun = (headSha: string) =>
    provePreviewAgain(
      { previews: world.previewing.store, clock: world.clock },
      { repository, number: 5, entry: 'support', headSha, by: 'wilma' },
    );
  const version = () => world.previewing.store.all[0]?.version;
  expect([await rerun(commitOf('b')), version()]).toEqual(['looked at the previews of pull request 5 again', 1]);
  expect((await world.previewing.store.pull(key))?.approval?.commit).toBe(commitOf('a'));
  await minutes(world, 10);
  expect(version()).toBe(1);
  expect(await rerun(commitOf('a'))).toBe('requested the preview of support for pull request 5 again');
  await minutes(world, 10);
  expect(world.previewing.store.all).toMatchObject([{ version: 2, known: { outcome: { version: 2, passes: true } } }]);
});
