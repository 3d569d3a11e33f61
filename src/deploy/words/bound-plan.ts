import type { Sayings } from '../../kit/coded.ts';
import { shortCommit } from '../../contract/control/repo-ref.ts';
import type { ObstacleFacts } from '../rules/plan-types.ts';
import { asLine } from './sanitize.ts';

const again = 'Make the plan again, and look at what it says now.';

const shown = (text: string | null): string => (text === null ? 'none' : asLine(text, 200));

const whats = { service: 'the service', tenant: 'the tenant', deployment: 'the deployment', name: 'the deployment' };

/** What keeps a deploy from applying its plan, and what to do about it. */
export const boundPlanObstacles: Pick<
  Sayings<ObstacleFacts, [problem: string, advice: string]>,
  Extract<keyof ObstacleFacts, `plan-${string}`>
> = {
  'plan-of-other': ({ what, planned, now }) => [
    `the plan is of ${whats[what]} ${shown(planned)}, and this is ${shown(now)}`,
    'Give the plan that was made for this deployment.',
  ],
  'plan-tenant-unknown': () => [
    'the plan creates a deployment in the tenant of another key, and does not say which one that is',
    'Give tenant-id, and make the plan again.',
  ],
  'plan-commit-unknown': () => [
    'the commit is not known here, so a plan would not bind it',
    'Give commit, or check out the repository first; a workflow may give github-token instead.',
  ],
  'plan-too-old': ({ madeAt, maxHours }) => [
    `the plan was made at ${shown(madeAt)}, and a plan is applied within ${maxHours} hours`,
    again,
  ],
  'plan-commit': ({ planned, now }) => [
    `the plan is of ${planned === null ? 'no known commit' : shortCommit(shown(planned))}, and ${now === null ? 'the commit is not known now' : `${shortCommit(now)} would be deployed`}`,
    again,
  ],
  'plan-changed': ({ part }) => [
    part === 'file'
      ? 'it is no longer what the plan was made with'
      : 'it was changed in the deployment since the plan was made',
    again,
  ],
  'plan-revision': ({ isLive, planned, now }) => [
    `the ${isLive ? 'live' : 'newest'} revision was ${shown(planned)} when the plan was made, and is ${shown(now)} now`,
    again,
  ],
  'plan-created': ({ id }) => [`the deployment was created since the plan: ${shown(id)}`, again],
  'plan-differs': ({ planned, now }) => [
    `the plan was to change ${shown(planned.join(', ') || null)}, and now it would be ${shown(now.join(', ') || null)}`,
    again,
  ],
};
