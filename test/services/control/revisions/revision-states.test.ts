import { describe, expect, test } from 'vitest';
import {
  classOfRevisionStatus,
  revisionStatusClasses,
  type RevisionStatus,
} from '../../../../src/contract/control/revision-status.ts';
import {
  firstStep,
  hasEnded,
  mayStep,
  revisionSteps,
  runningStatuses,
  unfinishedStatuses,
  waitingStatuses,
} from '../../../../src/services/control/revisions/states.ts';
import { readPage, tableOf } from '../../../docs-tables.ts';

const isStatus = (word: string): word is RevisionStatus => Object.hasOwn(revisionStatusClasses, word);
const page = 'docs/design/deployments-and-revisions.md';
const all = Object.keys(revisionSteps).filter(isStatus);

describe('the steps of a revision', () => {
  test.each(all.filter((status) => status !== 'UNKNOWN'))('%s is final exactly if its class says so', (status) => {
    expect(hasEnded(status)).toBe(classOfRevisionStatus(status) !== 'in-progress');
  });

  const never: readonly RevisionStatus[] = ['CREATE_FAILED', 'UNKNOWN'];

  test('every status is reachable from CREATING, except those of other services', () => {
    const reached = new Set<RevisionStatus>(['CREATING']);
    for (const status of reached) for (const next of revisionSteps[status]) reached.add(next);
    expect(all.filter((status) => !reached.has(status))).toEqual(never);
  });

  test('the design note draws every status that occurs, and names those that do not', () => {
    const text = readPage(page);
    const drawn = [...text.matchAll(/^```\n([^]*?)^```$/gm)].map(([, picture]) => picture).join('\n');
    const contains = (place: string, status: string): boolean => new RegExp(`\\b${status}\\b`).test(place);
    expect(all.filter((status) => !contains(drawn, status))).toEqual(never);
    expect(never.filter((status) => !text.includes(`\`${status}\``))).toEqual([]);
  });

  test('whatever has not ended can be interrupted', () => {
    expect(unfinishedStatuses.filter((status) => !mayStep(status, 'INTERRUPTED'))).toEqual([]);
  });

  test('only a waiting revision can be skipped', () => {
    expect(all.filter((status) => mayStep(status, 'SKIPPED'))).toEqual([...waitingStatuses]);
  });

  test('only DEPLOYING leads to DEPLOYED', () => {
    expect(all.filter((status) => mayStep(status, 'DEPLOYED'))).toEqual(['DEPLOYING']);
  });

  test('a running revision never waits again', () => {
    for (const running of runningStatuses)
      expect(waitingStatuses.filter((waiting) => mayStep(running, waiting))).toEqual([]);
  });

  test('the design note has the same transitions', () => {
    const rows = tableOf(page, 'from', 'to').map(([from, to]) => [from, to?.split(', ')]);
    expect(Object.fromEntries(rows)).toEqual(
      Object.fromEntries(Object.entries(revisionSteps).filter(([, steps]) => steps.length > 0)),
    );
  });

  test.each([
    ['a revision with a build is deployed', true, 'AWAITING_DEPLOY'],
    ['a revision without a build is built', false, 'AWAITING_BUILD'],
  ])('%s', (_, hasBuild, first) => expect(firstStep(hasBuild)).toBe(first));
});
