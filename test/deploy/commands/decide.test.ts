import { describe, expect, test } from 'vitest';
import {
  chooseDeployment,
  chooseDeployments,
  meantBy,
  refusalOfCommand,
  refusalOfCommit,
  refusalOfFreeze,
  refusalOfPerson,
  refusalOfProduction,
  refusalOfHead,
  type Candidate,
  type CommandTerms,
} from '../../../src/deploy/commands/decide.ts';
import { commandNames, commands } from '../../../src/deploy/commands/definitions.ts';

const terms: CommandTerms = { deploymentName: 'support', environment: { production: false } };
const candidate = (name: string, deploymentId = `d-${name}`, branch = 'main'): Candidate => ({
  target: { deploymentId, terms: { ...terms, deploymentName: name } },
  branch,
  isOfPull: branch !== 'main',
});
const found = (...candidates: Candidate[]) => ({ branches: ['main', 'next'], candidates, refused: [] });
const minute = 60_000;
const open = { isLocked: false, pull: { isOpen: true, isMerged: false }, ageMs: 0 };

test.each([
  ['admin', undefined],
  ['write', undefined],
  ['read', { code: 'no-write', login: 'mona', permission: 'read' }],
  ['none', { code: 'no-write', login: 'mona', permission: 'none' }],
] as const)('a person with the permission %s', (permission, refusal) => {
  expect(refusalOfPerson('mona', permission)).toEqual(refusal);
});

describe.each(commandNames)('/%s', (name) => {
  const { on } = commands[name];
  test.each([
    ['an open pull request', open, undefined],
    [
      'a merged one',
      { ...open, pull: { isOpen: false, isMerged: true } },
      on === 'open' ? { code: 'not-open' } : undefined,
    ],
    [
      'a closed one',
      { ...open, pull: { isOpen: false, isMerged: false } },
      { any: undefined, open: { code: 'not-open' }, kept: { code: 'closed-unmerged' } }[on],
    ],
    ['a locked one', { ...open, isLocked: true }, { code: 'locked' }],
    ['one after half an hour', { ...open, ageMs: 30 * minute }, undefined],
    [
      'one after more than that',
      { ...open, ageMs: 31 * minute },
      on === 'any' ? undefined : { code: 'late', minutes: 31 },
    ],
  ])('on %s', (_, facts, refusal) => expect(refusalOfCommand(name, facts)).toEqual(refusal));
});

test.each([
  ['without admins', true, undefined, undefined],
  ['as an admin, in any case', true, ['MONA'], undefined],
  ['as another person', true, ['octocat'], { code: 'not-admin', login: 'mona', deployment: 'support' }],
  ['as another person, where it is not production', false, ['octocat'], undefined],
])('acting on production %s', (_, production, admins, refusal) => {
  const environment = { production };
  expect(refusalOfProduction({ ...terms, environment, ...(admins ? { admins } : {}) }, 'mona')).toEqual(refusal);
});

test.each([true, false])('acting where admins are unknown, in production: %s', (production) => {
  const environment = { production };
  const refusal = { code: 'file-unread', deployment: 'support' };
  expect(refusalOfProduction({ ...terms, environment, areAdminsUnknown: true }, 'mona')).toEqual(refusal);
});

test.each([
  ['before the freeze', 9, undefined],
  [
    'in it',
    10,
    {
      code: 'frozen',
      deployment: 'support',
      command: 'deploy',
      environment: 'production',
      until: 20,
      reason: 'Launch',
    },
  ],
  ['after it', 20, undefined],
])('deploying %s', (_, now, refusal) => {
  const gate = {
    environment: 'production',
    hold: false,
    freeze: [{ kind: 'once', from: 10, until: 20, reason: 'Launch' } as const],
  };
  const frozen = { deploymentName: 'support', gate };
  expect(refusalOfFreeze(frozen, now)).toEqual(refusal);
});

describe('the deployment', () => {
  const [support, sales, staging] = [candidate('support'), candidate('sales'), candidate('staging', 'd-9', 'next')];
  test.each([
    ['the only one', undefined, found(support), 'd-support'],
    ['one of several by its name', 'sales', found(support, sales), 'd-sales'],
    ['one of the branch of the pull request', 'staging', found(support, staging), 'd-9'],
    ['one by its id', 'D-9', found(support, staging), 'd-9'],
    ['a name in another case', 'Sales', found(support, sales), 'unknown-deployment'],
    ['no name for several', undefined, found(support, sales), 'several-deployments'],
    ['a name that two have', 'support', found(support, candidate('support', 'd-2')), 'several-deployments'],
    ['none at all', undefined, found(), 'no-deployment'],
    ['a name where there is none', 'support', found(), 'unknown-deployment'],
    [
      'a refused one',
      'payroll',
      { ...found(support), refused: [{ deployment: 'payroll', why: 'it is not yours' }] },
      'deployment-refused',
    ],
  ])('is %s', (_, deployment, candidates, expected) => {
    const chosen = chooseDeployment(deployment === undefined ? {} : { deployment }, candidates);
    expect(chosen.ok ? chosen.value.target.deploymentId : chosen.refusal.code).toBe(expected);
  });

  test('of two with one name is told apart by the id', () => {
    const chosen = chooseDeployment({ deployment: 'support' }, found(support, candidate('support', 'd-2')));
    expect(chosen).toEqual({ ok: false, refusal: { code: 'several-deployments', names: ['d-support', 'd-2'] } });
  });

  test('is every one for a command about all', () => {
    const chosen = chooseDeployments({ name: 'status' }, found(support, sales));
    expect(chosen).toEqual({ ok: true, value: [support, sales] });
  });
});

describe('without a name, where environments follow each other', () => {
  const [first, after] = [candidate('support-staging'), candidate('support')];
  const later = {
    ...after,
    target: { ...after.target, terms: { ...after.target.terms, promotedFrom: { name: 'support-staging' } } },
  };
  test.each([
    ['deploy', found(first, later), ['d-support-staging']],
    ['rollback', found(first, later), ['d-support-staging']],
    ['promote', found(first, later), ['d-support']],
    ['promote', found(first), ['d-support-staging']],
  ] as const)('/%s of %o is about %o', (name, candidates, ids) => {
    expect(meantBy({ name }, candidates).candidates.map(({ target }) => target.deploymentId)).toEqual(ids);
  });

  test('a name decides', () => {
    const candidates = found(first, later);
    expect(meantBy({ name: 'rollback', deployment: 'support' }, candidates)).toBe(candidates);
  });
});

const head = 'a1b2c3d4e5'.repeat(4);
test.each([
  ['none', undefined, head, undefined],
  ['the head', head, head, undefined],
  ['its start', 'A1B2C3D', head, undefined],
  ['another one', '1234567', head, { code: 'not-head', commit: '1234567', head, branch: 'main' }],
  ['one of a branch that is gone', '1234567', undefined, { code: 'branch-gone', branch: 'main' }],
])('the commit is %s', (_, commit, of, refusal) => {
  expect(refusalOfCommit(commit, candidate('support'), of)).toEqual(refusal);
});

test.each([
  ['a branch, without a commit', undefined, false, undefined],
  ['a branch, with its start', 'A1B2C3D', false, undefined],
  ['a branch, with another commit', '1234567', false, { code: 'not-pull-head', commit: '1234567', head }],
  ['a fork, without a commit', undefined, true, { code: 'fork-commit', head }],
  ['a fork, with its start', head.slice(0, 39), true, { code: 'fork-commit', head }],
  ['a fork, in full', head.toUpperCase(), true, undefined],
  ['a fork, with another one in full', '0'.repeat(40), true, { code: 'not-pull-head', commit: '0'.repeat(40), head }],
])('the head of %s', (_, commit, isFork, refusal) => {
  expect(refusalOfHead(commit === undefined ? {} : { commit }, { headSha: head, isFork })).toEqual(refusal);
});
