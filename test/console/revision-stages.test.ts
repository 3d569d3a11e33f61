import { expect, test } from 'vitest';
import { adviceFor } from '../../src/console/pages/revision/outcome-advice.ts';
import { toStages } from '../../src/console/pages/revision/stages.ts';
import { revisionStatuses } from '../../src/contract/control/revision-status.ts';

const start = Date.parse('2026-01-02T03:04:00Z');
const at = (ms: number): string => new Date(start + ms).toISOString();
const short = (statuses: [string, number][], now: number) => {
  const { stages, ...rest } = toStages(
    statuses.map(([status, ms]) => ({ status, at: at(ms) })),
    start + now,
  );
  return {
    ...rest,
    stages: stages.map(({ name, spans, totalMs }) => [name, totalMs, ...spans.map(({ from, to }) => `${from}-${to}`)]),
  };
};

test('adds up the time in each stage, also of a build that was started twice', () => {
  const statuses: [string, number][] = [
    ['AWAITING_BUILD', 0],
    ['BUILDING', 10],
    ['AWAITING_BUILD', 40],
    ['BUILDING', 50],
    ['AWAITING_DEPLOY', 90],
    ['DEPLOYING', 95],
    ['DEPLOYED', 120],
  ];
  expect(short(statuses, 9_999)).toEqual({
    totalMs: 120,
    isRunning: false,
    stages: [
      ['Queued', 20, '0-10', '40-50'],
      ['Building', 70, '10-40', '50-90'],
      ['Deploying', 30, '90-120'],
    ],
  });
});

test('lets the last stage grow while the rollout is in progress, and ends it with a failure', () => {
  const building: [string, number][] = [
    ['AWAITING_BUILD', 0],
    ['BUILDING', 10],
  ];
  expect(short(building, 60)).toMatchObject({ totalMs: 60, isRunning: true });
  expect(short([...building, ['BUILD_FAILED', 30]], 60)).toMatchObject({ totalMs: 30, isRunning: false });
  const isFailed = (last: string) =>
    toStages(
      [...building, [last, 30] as const].map(([status, ms]) => ({ status, at: at(ms) })),
      start,
    ).stages.map((stage) => stage.isFailed);
  expect(isFailed('BUILD_FAILED')).toEqual([false, true]);
  expect(isFailed('INTERRUPTED')).toEqual([false, false]);
  expect(short([], 60)).toEqual({ stages: [], totalMs: 0, isRunning: false });
});

test('says what to do after each ending that needs a person, and nothing otherwise', () => {
  const silent = revisionStatuses.filter(
    (status) =>
      adviceFor({ status, source: 'github', isLive: status === 'DEPLOYED', isOtherLive: false, verdict: 'passed' }) ===
      undefined,
  );
  expect(silent).toEqual([
    'CREATING',
    'QUEUED',
    'AWAITING_BUILD',
    'BUILDING',
    'AWAITING_DEPLOY',
    'DEPLOYING',
    'DEPLOYED',
  ]);
  const live = { status: 'DEPLOYED', source: 'github', isLive: true, isOtherLive: false };
  expect(adviceFor({ ...live, verdict: 'failed' })?.title).toContain('smoke tests failed');
  expect(adviceFor({ ...live, isLive: false, verdict: undefined })?.title).toContain('does not run');
  expect(adviceFor({ ...live, isLive: false, isOtherLive: true, verdict: 'failed' })).toBeUndefined();
  const failed = { status: 'BUILD_FAILED', source: 'github', isLive: false, verdict: undefined };
  expect(adviceFor({ ...failed, isOtherLive: true })?.advice[0]).toContain('still serves');
  expect(adviceFor({ ...failed, isOtherLive: false })?.advice[0]).toContain('No revision serves');
  const adviceText = (source: string) => adviceFor({ ...failed, source, isOtherLive: true })?.advice.join(' ');
  expect(adviceText('internal_source')).toContain('upload a new version');
  expect(adviceText('internal_source')).not.toContain('push');
  expect(adviceText('internal_docker')).toContain('push a new image and set it in the settings');
  expect(adviceText('github')).toContain('push or redeploy');
});
