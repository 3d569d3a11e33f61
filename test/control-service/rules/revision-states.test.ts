import { describe, expect, test } from 'vitest';
import { classOfRevisionStatus, revisionStatusClasses } from '../../../src/contract/control/revision.ts';
import type { RevisionStatus } from '../../../src/contract/control/revision.ts';
import {
  firstStep,
  hasEnded,
  mayStep,
  revisionSteps,
  runningStatuses,
  unfinishedStatuses,
  waitingStatuses,
} from '../../../src/control-service/rules/revision-states.ts';
import { readPage, tableOf } from '../../docs-tables.ts';

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

  test('the README shows every status, and names the unused ones', () => {
    const way = /## Revision states\n([^]*?)\n## /.exec(readme)?.[1] ?? '';
    const drawn = [...way.matchAll(/^```\n([^]*?)^```$/gm)].map(([, picture]) => picture).join('\n');
    const isDrawn = (status: string): boolean => new RegExp(`\\b${status}\\b`).test(drawn);
    expect(all.filter((status) => !isDrawn(status))).toEqual(never);
    expect(way).toContain(`No revision here is ever ${never.join(' or ')}`);
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

  test('the README lists the same steps', () => {
    const rows = [...readme.matchAll(/^\| ([A-Z_]+) +\| ([A-Z_, ]+?) +\|$/gm)].map(([, from, to]) => [
      from,
      to?.split(', '),
    ]);
    expect(Object.fromEntries(rows)).toEqual(
      Object.fromEntries(Object.entries(revisionSteps).filter(([, steps]) => steps.length > 0)),
    );
  });

  test.each([
    ['a revision with a build is deployed', true, 'AWAITING_DEPLOY'],
    ['a revision without a build is built', false, 'AWAITING_BUILD'],
  ])('%s', (_, hasBuild, first) => expect(firstStep(hasBuild)).toBe(first));
});
