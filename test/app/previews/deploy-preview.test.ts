import { describe, expect, test } from 'vitest';
import type { PreviewContext } from '../../../app/previews/preview-context.ts';
import { overriding } from '../../../src/kit/overriding.ts';
import { commitOf } from './a-preview.ts';
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

/** A pull request is opened in a world where something of the App or the service is different. */
async function opened(
  change: (context: PreviewContext) => Partial<PreviewContext>,
  more: Partial<WorldSetting> = {},
  isFork = false,
): Promise<PreviewWorld> {
  const contextOf = (context: PreviewContext) => ({ ...context, ...change(context) });
  const world = new PreviewWorld({ ...setting, ...more }, { ...previewCode, contextOf });
  world.pulls.open(5, isFork, commitOf('a'));
  world.deliverChange(5, [0]);
  world.approve(5, commitOf('a'));
  await world.clock.run(world.clock.now() + 5 * 60_000);
  return world;
}

const ownOf = (world: PreviewWorld) => [...world.control.deployments.values()].slice(world.others.length);
const reasonOf = (world: PreviewWorld): string | undefined => world.previewing.store.all[0]?.known.outcome?.reason;

describe('makes no preview', () => {
  test('of the deployment of another repository, and reads nothing of it', async () => {
    const world = await opened(() => ({ refusalOf: () => 'it is of another repository' }));
    expect(ownOf(world)).toEqual([]);
    expect(reasonOf(world)).toMatch(/^The deployment of this entry is not of this repository/);
  });

  test('of a deployment that is not there', async () => {
    const world = await opened(({ control }) => ({
      control: overriding<typeof control, typeof control>(control, {
        listDeployments: async () => ({ resources: [], offset: 0 }),
      }),
    }));
    expect(ownOf(world)).toEqual([]);
    expect(reasonOf(world)).toMatch(/^The service has no deployment of this entry yet/);
  });

  test('on a service that does not list secrets, and so shows no mark', async () => {
    const world = await opened(({ control }) => ({
      control: overriding<typeof control, typeof control>(control, {
        getDeployment: async (id, options) => ({ ...(await control.getDeployment(id, options)), secrets: null }),
      }),
    }));
    expect(ownOf(world)).toEqual([]);
    expect(reasonOf(world)).toMatch(/^This service does not list the secrets/);
  });

  test('of a fork where the service builds the head of a branch', async () => {
    const world = await opened(() => ({}), { pinsCommits: false }, true);
    expect(ownOf(world)).toEqual([]);
    expect(world.previewing.store.all).toMatchObject([{ known: { outcome: { kind: 'refused' } } }]);
  });
});

test('makes that of the approved commit of a fork, with the secrets of forks', async () => {
  const world = await opened(() => ({}), {}, true);
  expect(ownOf(world)).toMatchObject([{ built: [{ commit: commitOf('a') }], secrets: [{ name: 'FORK_KEY' }, {}] }]);
  expect(world.previewing.store.all).toMatchObject([{ known: { outcome: { kind: 'deployed', passes: true } } }]);
});

test('leaves a receipt of a deploy, with the time at which it began', async () => {
  const world = await opened(() => ({}));
  const receipt = world.previewing.store.all[0]?.known.outcome?.receipt ?? '';
  expect(receipt).toMatch(/^<details><summary>Receipt<\/summary>\n\n```json\n\{\n[^]*\}\n```\n\n<\/details>$/);
  const { predicate } = JSON.parse(receipt.split('```json\n')[1]?.split('\n```')[0] ?? '');
  expect(predicate).toMatchObject({
    operation: 'deploy',
    outcome: 'deployed',
    service: { address: 'https://control.test' },
    revision: { commit: commitOf('a') },
    by: { program: 'app', workflow: null },
  });
  expect(Date.parse(predicate.ended_at)).toBeGreaterThan(Date.parse(predicate.started_at));
});

test('gives a preview another name by removing the former one first', async () => {
  const world = await opened(() => ({}));
  world.previewing.base = 'other';
  world.pulls.change(5, 'push', 'good', commitOf('b'));
  world.deliverChange(5, [0]);
  await world.clock.run(world.clock.now() + 10 * 60_000);
  const [former, now, ...more] = ownOf(world);
  expect([former?.name, now?.name, more]).toEqual([
    expect.stringMatching(/^support-pr-5-/),
    expect.stringMatching(/^other-pr-5-/),
    [],
  ]);
  expect(former?.goneAt).toBeLessThan(now?.createdAt ?? 0);
});

test('leaves a run to the next process on a shutdown', async () => {
  const leaving = new AbortController();
  const world = await opened(({ leaving: usual }) => ({ leaving: leaving.signal.aborted ? usual : leaving.signal }));
  world.pulls.change(5, 'push', 'good', commitOf('b'));
  world.deliverChange(5, [0]);
  await world.clock.run(world.clock.now() + 12_000);
  leaving.abort();
  world.alive[0]?.die();
  world.start('next');
  await world.clock.run(world.clock.now() + 10 * 60_000);
  expect(world.previewing.store.all).toMatchObject([{ known: { outcome: { kind: 'deployed', version: 2 } } }]);
  expect(ownOf(world)).toMatchObject([{ built: [{ commit: commitOf('a') }, { commit: commitOf('b') }] }]);
});
