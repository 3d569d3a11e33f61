// Histories that were found to break an invariant once, each made smaller as far as that is easy.
import { expect, test } from 'vitest';
import { appCode } from './app-code.ts';
import type { Command, Setting } from './commands.ts';
import { violations } from './invariants.ts';
import { play } from './play.ts';

const plain: Setting = {
  offers: { idempotencyKeys: false, ifMatch: true, lists: false },
  copies: 1,
  deployments: 1,
  builder: 'app',
  onFailure: 'keep',
  afterRollback: 'continue',
  smokeTests: true,
  seed: 0,
};
const push = (after: number, ...arrive: number[]): Command => ({
  do: 'push',
  after,
  fate: 'good',
  words: 'plain',
  paths: 'agent',
  arrive,
});

test.each<[string, Partial<Setting>, Command[]]>([
  [
    'a request that makes no revision returns the check to the live commit',
    { offers: { idempotencyKeys: true, ifMatch: true, lists: false }, deployments: 2, seed: 222690 },
    [
      { do: 'action', after: 36603, deployment: 2 },
      push(1916, 368),
      { do: 'fault', after: 4415, fault: { party: 'githubApi', nth: 12, kind: 'paused' } },
      { do: 'force', after: 1803, to: 3, arrive: [374] },
      { do: 'redeploy', after: 19655, deployment: 1, arrive: [144] },
      { do: 'fault', after: 2934, fault: { party: 'control', operation: 'patchDeployment', nth: 1, kind: 'refused' } },
      { do: 'force', after: 33601, to: 0, arrive: [408] },
    ],
  ],
  [
    'a refused request that joins another ends the GitHub Deployment that it made',
    { seed: 348103 },
    [
      push(75, 10),
      { do: 'action', after: 1412, deployment: 0 },
      { do: 'redeploy', after: 1366, deployment: 0, arrive: [0] },
      push(1447, 0),
    ],
  ],
  [
    'a GitHub Deployment whose response was lost with its process gets an outcome',
    { copies: 2, deployments: 2, seed: 999995 },
    [
      { do: 'fault', after: 31349, fault: { party: 'control', nth: 10, kind: 'broken-before' } },
      { do: 'force', after: 83280, to: 7, arrive: [42] },
      { do: 'rerun', after: 2881, commit: 7, deployment: 3, arrive: [27318] },
      { do: 'delete', after: 925, arrive: [1040, 2630] },
      { do: 'rollback', after: 2789, deployment: 7, arrive: [220, 1501, 570] },
      {
        do: 'stall',
        after: 38419,
        process: 5,
        cut: { nth: 2, phase: 'after', operation: 'writeCheck' },
        forMs: 182909,
      },
      { do: 'redeploy', after: 8738, deployment: 0, arrive: [273] },
      { do: 'kill', after: 518, process: 0, cut: { nth: 38, phase: 'after' }, restartAfter: 33748 },
      {
        do: 'kill',
        after: 2358,
        process: 5,
        cut: { nth: 2, phase: 'before', operation: 'request' },
        restartAfter: 2865,
      },
      { do: 'force', after: 2624, to: 7, arrive: [391] },
      push(757, 69),
      push(2065, 171208, 1984, 45),
    ],
  ],
  [
    'a head without a delivery that was rolled back unseen gets a check that says so',
    { offers: { idempotencyKeys: true, ifMatch: false, lists: true }, seed: 237635 },
    [
      push(3144, 403),
      { do: 'rollback', after: 95730, deployment: 2, arrive: [245] },
      push(547),
      { do: 'action', after: 1662, deployment: 3 },
    ],
  ],
  [
    'a revision of the service that failed before it was observed is reported',
    { offers: { idempotencyKeys: true, ifMatch: true, lists: true }, builder: 'service', seed: 634852 },
    [{ do: 'push', after: 347, fate: 'build-fails', words: 'plain', paths: 'agent', arrive: [143] }],
  ],
  [
    'a superseded head to which the branch returned without a delivery is found again',
    { offers: { idempotencyKeys: false, ifMatch: false, lists: false } },
    [
      push(0, 0),
      { do: 'force', after: 986, to: 1, arrive: [0] },
      { do: 'fault', after: 2297, fault: { party: 'githubApi', nth: 2, kind: 'refused' } },
      { do: 'rerun', after: 0, commit: 0, deployment: 0, arrive: [] },
      { do: 'redeliver', after: 4421, which: 0 },
      { do: 'force', after: 2390, to: 0, arrive: [] },
    ],
  ],
  [
    'a person promotes what a rollback of the environment before put back',
    {
      offers: { idempotencyKeys: false, ifMatch: false, lists: false, holds: false, copiesBuilds: true },
      deployments: 2,
      onFailure: 'rollback',
      afterRollback: 'hold',
      seed: 729351,
      promotes: true,
      holding: 'second',
    },
    [
      push(168, 297),
      { do: 'force', after: 25924, to: 6, arrive: [494] },
      { do: 'promote', after: 60002, deployment: 0, arrive: [9243] },
      { do: 'fault', after: 39, fault: { party: 'control', nth: 12, kind: 'lost-before' } },
      { do: 'rollback', after: 190862, deployment: 1, arrive: [15381] },
      { do: 'force', after: 36832, to: 2, arrive: [347] },
      push(7, 414),
      { do: 'push', after: 93, fate: 'wrong', words: 'plain', paths: 'docs', arrive: [176] },
      { do: 'promote', after: 84973, deployment: 0, arrive: [24357] },
      { do: 'comment', after: 2359, name: 'promote', deployment: 1, copies: 1, arrive: [183] },
    ],
  ],
  [
    'what was pressed before a rollback does not lift its hold',
    {
      offers: { idempotencyKeys: true, ifMatch: true, lists: true, holds: false, copiesBuilds: true },
      deployments: 2,
      afterRollback: 'hold',
      seed: 202269,
      compares: true,
      promotes: true,
    },
    [
      {
        do: 'kill',
        after: 36421,
        process: 4,
        cut: { nth: 3, phase: 'before', operation: 'redeployRevision' },
        restartAfter: 42196,
      },
      { do: 'rerun', after: 1895, commit: 4, deployment: 5, arrive: [2709] },
      { do: 'force', after: 2168, to: 2, arrive: [2869, 1063] },
      { do: 'rerun', after: 1366, commit: 4, deployment: 0, arrive: [57] },
      push(509644, 404),
      { do: 'redeploy', after: 239987, deployment: 1, arrive: [6402] },
      { do: 'rollback', after: 107, deployment: 1, arrive: [14339, 20203] },
      { do: 'delete', after: 2343, arrive: [222] },
      { do: 'push', after: 901, fate: 'good', words: 'plain', paths: 'docs', arrive: [124] },
    ],
  ],
])('%s', async (_, setting, commands) => {
  const simulation = await play({ setting: { ...plain, ...setting }, commands }, appCode);
  expect(await violations(simulation)).toEqual([]);
});
