import type { CheckContent, DeploymentContent } from '../github/github-api.ts';
import type { Intent, IntentOutcome, IntentOutcomeKind, IntentState } from '../reconcile/intent.ts';

type Conclusion = NonNullable<CheckContent['conclusion']>;

/** A check's status: GitHub accepts a conclusion only for a completed one. */
export type CheckStatus = { status: 'queued' | 'in_progress' } | { status: 'completed'; conclusion: Conclusion };

/**
 * How each outcome appears on GitHub, and why. Only a live revision without a failure is green. Branch rules count
 * `neutral` as passed, so whatever needs a person is `action_required`.
 */
export const outcomeStatuses: Readonly<Record<IntentOutcomeKind, { conclusion: Conclusion; why: string }>> = {
  deployed: { conclusion: 'success', why: 'the revision is live and passed its smoke tests, if there are any' },
  unproven: {
    conclusion: 'action_required',
    why: 'the revision is live and no smoke test failed, but none passed either: check the agent',
  },
  broken: { conclusion: 'failure', why: 'the revision is live and fails its smoke tests' },
  'rolled-back': { conclusion: 'failure', why: 'the revision failed its smoke tests; the one before it serves again' },
  discarded: {
    conclusion: 'failure',
    why: 'the revision was discarded before it got traffic: it failed its smoke tests, or its hold ended',
  },
  failed: { conclusion: 'failure', why: 'the revision could not be built or rolled out' },
  superseded: { conclusion: 'neutral', why: 'a newer commit took its place; green once that one is live' },
  interrupted: { conclusion: 'cancelled', why: 'someone stopped the revision at the service' },
  'timed-out': {
    conclusion: 'timed_out',
    why: 'the revision was not live in time; it continues, but is no longer followed',
  },
  refused: { conclusion: 'failure', why: 'the service or the file of the repository does not allow it' },
  unknown: {
    conclusion: 'action_required',
    why: 'it is unknown whether the request took effect, so it is not sent again: a person has to look',
  },
  skipped: { conclusion: 'neutral', why: 'a rule of the deploy file or a standing decision says not to deploy it' },
  joined: { conclusion: 'neutral', why: 'another event of the same commit reports in the same check' },
  absent: { conclusion: 'failure', why: 'the service builds by itself, and made no revision of this commit in time' },
  'other-commit': { conclusion: 'neutral', why: 'the branch moved on before the build; green once its commit is live' },
};

/** How a check appears before its outcome. `paused` waits for a person without limit, so its check is completed. */
export const stateStatuses: Readonly<Record<Exclude<IntentState, 'ended'>, { checkStatus: CheckStatus; why: string }>> =
  {
    requested: { checkStatus: { status: 'queued' }, why: 'recorded, and not decided yet' },
    waiting: { checkStatus: { status: 'queued' }, why: 'another revision of the deployment is under way' },
    paused: {
      checkStatus: { status: 'completed', conclusion: 'action_required' },
      why: 'a rollback holds the deployment until a person presses Redeploy',
    },
    measuring: {
      checkStatus: { status: 'in_progress' },
      why: 'the live revision is sent the smoke tests that compare with it; no revision is requested yet',
    },
    sending: { checkStatus: { status: 'in_progress' }, why: 'a revision is requested from the service' },
    expecting: { checkStatus: { status: 'in_progress' }, why: 'the service is to make a revision by itself' },
    following: { checkStatus: { status: 'in_progress' }, why: 'the revision is on its way' },
    testing: {
      checkStatus: { status: 'in_progress' },
      why: 'the smoke tests of the revision run: it is held before traffic, or live',
    },
    deciding: { checkStatus: { status: 'in_progress' }, why: 'the held revision is promoted or discarded' },
    concluding: { checkStatus: { status: 'in_progress' }, why: 'the revision is live and was tested' },
    undoing: {
      checkStatus: { status: 'in_progress' },
      why: 'the live revision failed its smoke tests, and the former one is restored',
    },
  };

/** The status of an intent's check. */
export function checkStatusOf(intent: Intent): CheckStatus {
  if (intent.state !== 'ended') return stateStatuses[intent.state].checkStatus;
  const { end } = intent;
  return { status: 'completed', conclusion: isLiveInAnother(end) ? 'success' : outcomeStatuses[end.kind].conclusion };
}

/** Whether this commit is live as a part of another one. */
export const isLiveInAnother = ({ kind, liveIn }: IntentOutcome): boolean =>
  liveIn !== undefined && (kind === 'superseded' || kind === 'other-commit');

/**
 * The state of the GitHub Deployment of a sent intent: `error` for an unknown outcome, `failure` for a failed one,
 * `inactive` for a superseded one.
 */
export function deploymentStateOf(intent: Intent): DeploymentContent['state'] {
  if (intent.state !== 'ended') return 'revisionId' in intent ? 'in_progress' : 'queued';
  switch (intent.end.kind) {
    case 'deployed':
      return 'success';
    case 'broken':
    case 'rolled-back':
    case 'discarded':
    case 'failed':
      return 'failure';
    case 'superseded':
    case 'other-commit':
    case 'skipped':
    case 'joined':
      return 'inactive';
    case 'unproven':
    case 'interrupted':
    case 'timed-out':
    case 'refused':
    case 'unknown':
    case 'absent':
      return 'error';
  }
}
