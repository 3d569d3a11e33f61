import { describe, expect, test } from 'vitest';
import { appCode } from './app-code.ts';
import type { Command, Setting } from './commands.ts';
import { violations } from './invariants.ts';
import type { Fate } from './model-git.ts';
import { nameOf, play } from './play.ts';
import type { Code, Simulation } from './simulation.ts';
import { begin, deploymentIds, termsOf } from './terms.ts';
import type { Targets } from '../../../app/context.ts';
import type { ControlRecords } from '../../../src/contract/control/service.ts';
import { deliver } from './deliver.ts';

const [staging, production] = deploymentIds;

const ordered: Setting = {
  offers: { idempotencyKeys: true, ifMatch: true, lists: true, holds: true, pinsCommits: true, copiesBuilds: true },
  copies: 1,
  deployments: 2,
  builder: 'app',
  onFailure: 'keep',
  afterRollback: 'continue',
  smokeTests: true,
  promotes: true,
  seed: 7,
};
const hourMs = 3_600_000;
const push = (fate: Fate = 'good', after = hourMs): Command => ({
  do: 'push',
  after,
  fate,
  words: 'plain',
  paths: 'agent',
  arrive: [10],
});
const pressed = (button: 'rollback' | 'redeploy'): Command => ({
  do: button,
  after: hourMs,
  deployment: 1,
  arrive: [10],
});

const played = async (commands: readonly Command[], setting: Partial<Setting> = {}): Promise<Simulation> => {
  const simulation = await play({ setting: { ...ordered, ...setting }, commands }, appCode);
  expect(await violations(simulation)).toEqual([]);
  return simulation;
};

const serving = ({ control }: Simulation, id: string) => control.deployments.get(id)?.active;
const check = (simulation: Simulation, id: string, commit: string | undefined) =>
  simulation.githubApi.check(commit ?? '', nameOf(simulation, id))?.content;

describe('what staging has proven', () => {
  test('is deployed to production with the same build, and both checks say so', async () => {
    const simulation = await played([push()]);
    const [first, second] = [serving(simulation, staging), serving(simulation, production)];
    expect(second?.copied?.id).toBe(first?.id);
    expect(check(simulation, staging, first?.commit)?.summary).toContain('**Promoted** to <code>d2</code>');
    expect(check(simulation, production, first?.commit)).toMatchObject({
      conclusion: 'success',
      title: 'Live and proven',
      summary: expect.stringContaining('d1 serves commit'),
    });
  });

  test('is built from its commit where the service pins commits only', async () => {
    const offers = { ...ordered.offers, copiesBuilds: false };
    const simulation = await played([push()], { offers });
    const second = serving(simulation, production);
    expect(second).toMatchObject({ copied: undefined, pinned: serving(simulation, staging)?.commit });
  });

  test('is built as the head of the branch elsewhere', async () => {
    const offers = { ...ordered.offers, copiesBuilds: false, pinsCommits: false };
    const simulation = await played([push()], { offers });
    expect(serving(simulation, production)).toMatchObject({
      pinned: undefined,
      commit: serving(simulation, staging)?.commit,
    });
  });

  test.each<[Fate]>([['wrong'], ['flaky'], ['build-fails'], ['interrupted']])(
    'does not include a commit that is %s',
    async (fate) => {
      const simulation = await played([push(fate)]);
      expect(serving(simulation, production)?.madeBy.who).toBe('setup');
    },
  );

  test('does not include one without smoke tests, and the check says why', async () => {
    const simulation = await played([push()], { smokeTests: false });
    expect(serving(simulation, production)?.madeBy.who).toBe('setup');
    expect(check(simulation, staging, serving(simulation, staging)?.commit)?.summary).toContain(
      'Nothing goes on to <code>d2</code>, because no smoke test proves it.',
    );
  });

  test.each<[string, Targets, string]>([
    [
      'the deploy file can not be read',
      { targets: [], refused: [{ deployment: 'file', why: 'it could not be read', isFailure: true }] },
      'it could not be read.',
    ],
    [
      'the deploy file has a mistake',
      { targets: [], refused: [{ deployment: '.github/landfall.yml', why: 'line 3 is wrong' }] },
      'line 3 is wrong.',
    ],
    [
      'the whole deploy file has a mistake',
      {
        targets: [
          {
            deploymentId: staging,
            repoRef: 'main',
            terms: { ...termsOf(staging, ordered), unread: true, notes: ['line 3 is wrong'] },
          },
        ],
        refused: [],
      },
      'the deploy file of the default branch has a mistake.',
    ],
    [
      'it is refused',
      { targets: [], refused: [{ deployment: 'd2', why: 'it is of another repository' }] },
      'it is of another repository.',
    ],
  ])('is not lost silently where %s', async (_, targets, why) => {
    const code: Code = {
      ...appCode,
      deploymentQueue: (id, context, signal) =>
        appCode.deploymentQueue(id, { ...context, targets: { targetsOf: async () => targets } }, signal),
    };
    const simulation = await play({ setting: ordered, commands: [push()] }, code);
    const { summary, actions } = check(simulation, staging, serving(simulation, staging)?.commit) ?? {};
    expect(actions).toContainEqual(expect.objectContaining({ identifier: 'promote' }));
    expect(summary).toContain('Not promoted to <code>d2</code>: ');
    expect(summary).toContain(why);
  });

  test('waits in production after a rollback there, until a person promotes it', async () => {
    const stopped = await played([push(), pressed('rollback'), push()]);
    const newest = serving(stopped, staging)?.commit;
    expect(check(stopped, production, newest)).toMatchObject({
      conclusion: 'action_required',
      summary: expect.stringContaining('Commits are promoted again from then on'),
    });
    expect(serving(stopped, production)?.commit).not.toBe(newest);
    const resumed = await played([push(), pressed('rollback'), push(), pressed('redeploy'), push()]);
    expect(serving(resumed, production)?.copied?.id).toBe(serving(resumed, staging)?.id);
  });

  test('is not taken back by a rollback in staging', async () => {
    const back: Command = { do: 'rollback', after: hourMs, deployment: 0, arrive: [10] };
    const simulation = await played([push(), back]);
    expect(serving(simulation, production)?.commit).not.toBe(serving(simulation, staging)?.commit);
  });
});

const promote: Command = { do: 'promote', after: hourMs, deployment: 0, arrive: [10] };
const comment = (name: 'promote' | 'deploy'): Command => ({
  do: 'comment',
  name,
  after: hourMs,
  deployment: 1,
  copies: 2,
  arrive: [10],
});
const answers = ({ githubApi }: Simulation) => githubApi.comments.map(({ body }) => body).join();

describe('while production is frozen, what was proven', () => {
  const frozenMs = 6 * hourMs;
  const offers = { ...ordered.offers, holds: false };

  test('waits, and says so', async () => {
    const simulation = await played([push()], { frozenMs });
    expect(serving(simulation, production)?.copied?.id).toBe(serving(simulation, staging)?.id);
    expect(serving(simulation, production)?.madeAt).toBeGreaterThan(begin + frozenMs);
  });

  test('is replaced by what is proven later', async () => {
    const simulation = await played([push(), push()], { frozenMs });
    expect(serving(simulation, production)?.copied?.id).toBe(serving(simulation, staging)?.id);
    expect(simulation.control.deployments.get(production)?.all).toHaveLength(2);
  });

  test('is promoted although the next commit failed and was rolled back', async () => {
    const simulation = await played([push(), push('wrong')], { frozenMs, offers, onFailure: 'rollback' });
    expect(serving(simulation, production)?.commit).toBe(serving(simulation, staging)?.commit);
    expect(serving(simulation, production)?.madeBy.who).toBe('app');
  });

  test('is not promoted once a person took it back', async () => {
    const back: Command = { do: 'rollback', after: hourMs, deployment: 0, arrive: [10] };
    const simulation = await played([push(), push(), back], { frozenMs });
    const [first, second] = [...simulation.git.commits.keys()].slice(1);
    expect(serving(simulation, staging)?.commit).toBe(first);
    expect(serving(simulation, production)?.madeBy.who).toBe('setup');
    expect(check(simulation, production, second)?.title).toContain('serves');
  });
});

describe('an environment that holds', () => {
  const holding = 'second';

  test('gets nothing by itself, and the check before it has the button', async () => {
    const simulation = await played([push()], { holding });
    const before = serving(simulation, staging)?.commit;
    expect(serving(simulation, production)?.madeBy.who).toBe('setup');
    expect(check(simulation, production, before)).toBeUndefined();
    expect(check(simulation, staging, before)).toMatchObject({
      summary: expect.stringContaining('press **Promote**'),
      actions: expect.arrayContaining([expect.objectContaining({ identifier: 'promote' })]),
    });
  });

  test.each<[string, Command]>([
    ['the button', promote],
    ['/promote', comment('promote')],
  ])('gets what was proven by %s, once', async (_, command) => {
    const simulation = await played([push(), command], { holding });
    expect(serving(simulation, production)?.copied?.id).toBe(serving(simulation, staging)?.id);
    expect(simulation.control.deployments.get(production)?.all).toHaveLength(2);
  });

  test('has a button that works after a Re-run of the check', async () => {
    const rerun: Command = { do: 'rerun', after: 20_000, commit: 0, deployment: 0, arrive: [10] };
    const simulation = await played([push(), rerun, promote], { holding });
    expect(serving(simulation, production)?.copied?.id).toBe(serving(simulation, staging)?.id);
  });

  test('says of a commit that was taken back that it was', async () => {
    const simulation = await played([push(), promote, pressed('rollback')], { holding });
    expect(check(simulation, production, serving(simulation, staging)?.commit)?.title).toContain('was rolled back');
  });

  test('refuses what it serves already', async () => {
    const simulation = await played([push(), comment('promote'), comment('promote')], { holding });
    expect(answers(simulation)).toContain('serves commit');
    expect(simulation.control.deployments.get(production)?.all).toHaveLength(2);
  });

  test.each<[string, Fate, string]>([
    ['unproven', 'flaky', 'no smoke test has proven'],
    ['broken', 'wrong', 'failed its smoke tests'],
  ])('refuses what is %s', async (_, fate, why) => {
    const offers = { ...ordered.offers, holds: false };
    const simulation = await played([push(fate), comment('promote')], { holding, offers });
    expect(answers(simulation)).toContain(why);
    expect(serving(simulation, production)?.madeBy.who).toBe('setup');
  });

  test('gets no head of a branch', async () => {
    const simulation = await played([push(), comment('deploy')], { holding });
    expect(answers(simulation)).toContain('gets what d1 has proven');
    expect(serving(simulation, production)?.madeBy.who).toBe('setup');
  });

  test('that is the first one waits for a person', async () => {
    const simulation = await played([push()], { holding: 'first' });
    const head = simulation.git.head('main')?.sha;
    expect(check(simulation, staging, head)).toMatchObject({
      conclusion: 'neutral',
      title: expect.stringContaining('the deploy file holds its environment'),
      actions: [expect.objectContaining({ identifier: 'redeploy' })],
    });
    const deployed = await played([push(), { do: 'redeploy', after: hourMs, deployment: 0, arrive: [10] }], {
      holding: 'first',
    });
    expect(serving(deployed, production)?.commit).toBe(head);
  });
});

describe('a rollback in the console of the service', () => {
  const entry = {
    cause: { kind: 'rollback', actor: 'operator', key_id: null, key_name: null, redeploy_of: null },
    commit: null,
    statuses: [],
    changed_fields: [],
    verdict: null,
    is_live: true,
    can_redeploy: true,
  };
  const records: ControlRecords = {
    historyOf: async (_, id) => ({ ...entry, revision: { id, status: 'DEPLOYED', source_revision_config: {} } }),
    verdictsOf: async () => undefined,
  };
  const recorded: Code = {
    ...appCode,
    deploymentQueue: (id, context, signal) => appCode.deploymentQueue(id, { ...context, records }, signal),
  };
  const byHand: Command = { do: 'action', after: 0, deployment: 1 };

  test.each<[string, readonly Command[]]>([
    ['by itself', []],
    ['by a Re-run', [{ do: 'rerun', after: hourMs, commit: 0, deployment: 1, arrive: [10] }]],
  ])('stops promotion %s', async (_, more) => {
    const simulation = await play({ setting: ordered, commands: [byHand, push(), ...more] }, recorded);
    expect(await violations(simulation)).toEqual([]);
    expect(serving(simulation, production)?.madeBy.who).not.toBe('app');
    expect(check(simulation, production, serving(simulation, staging)?.commit)?.conclusion).toBe('action_required');
  });

  test('ends when a person promotes', async () => {
    const simulation = await play({ setting: ordered, commands: [byHand, push(), pressed('redeploy')] }, recorded);
    expect(serving(simulation, production)?.copied?.id).toBe(serving(simulation, staging)?.id);
  });
});

test('a press that is handled twice promotes once, whatever was proven since', async () => {
  const simulation = await played([push(), pressed('rollback'), pressed('redeploy'), push()]);
  const { control, store, githubApi, targets } = simulation;
  const [process] = simulation.processes;
  const delivery = simulation.deliveries.find(({ requests }) => requests.kind === 'redeploy');
  if (!process || !delivery) throw new Error('nothing was pressed');
  const before = (await simulation.intents(production)).length;
  const did = await deliver(delivery, { ...simulation.contextOf(process), control, store, githubApi, targets });
  expect(did).toEqual(['knew the promotion to d2']);
  expect(await simulation.intents(production)).toHaveLength(before);
});
