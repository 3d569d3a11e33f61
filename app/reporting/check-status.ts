import { awaitsApproval } from '../reconcile/intent.ts';
import type { CheckContent, DeploymentContent } from '../github/github-api.ts';
import type { Intent, IntentOutcome, IntentOutcomeKind, IntentState } from '../reconcile/intent.ts';

type Conclusion = NonNullable<CheckContent['conclusion']>;

/** A check's status: GitHub accepts a conclusion only for a completed one. */
export type CheckStatus = { status: 'queued' | 'in_progress' } | { status: 'completed'; conclusion: Conclusion };

const shown = (conclusion: Conclusion, deployment: DeploymentContent['state'], why: string) => ({
  conclusion,
  deployment,
  why,
});

/**
 * How each outcome appears on GitHub, and why. Only a live revision without a failure is green. Branch rules count
 * `neutral` as passed, so whatever needs a person is `action_required`. The GitHub Deployment of a sent intent has
 * `error` for an unknown outcome, `failure` for a failed one, `inactive` for a superseded one.
 */
export const outcomeStatuses: Readonly<Record<IntentOutcomeKind, ReturnType<typeof shown>>> = {
  deployed: shown('success', 'success', 'the revision is live and passed its smoke tests, if there are any'),
  unproven: shown(
    'action_required',
    'error',
    'the revision is live and no smoke test failed, but none passed either: check the agent',
  ),
  broken: shown('failure', 'failure', 'the revision is live and fails its smoke tests'),
  'rolled-back': shown('failure', 'failure', 'the revision failed its smoke tests; the one before it serves again'),
  discarded: shown(
    'failure',
    'failure',
    'the revision was discarded before it got traffic: it failed its smoke tests, or its hold ended',
  ),
  failed: shown('failure', 'failure', 'the revision could not be built or rolled out'),
  superseded: shown('neutral', 'inactive', 'a newer commit took its place; green once that one is live'),
  interrupted: shown('cancelled', 'error', 'someone stopped the revision at the service'),
  'timed-out': shown(
    'timed_out',
    'error',
    'the revision was not live in time; it continues, but is no longer followed',
  ),
  refused: shown('failure', 'error', 'the service or the file of the repository does not allow it'),
  unknown: shown(
    'action_required',
    'error',
    'it is unknown whether the request took effect, so it is not sent again: a person has to look',
  ),
  skipped: shown('neutral', 'inactive', 'a rule of the deploy file or a standing decision says not to deploy it'),
  joined: shown('neutral', 'inactive', 'another event of the same commit reports in the same check'),
  absent: shown('failure', 'error', 'the service builds by itself, and made no revision of this commit in time'),
  'other-commit': shown('neutral', 'inactive', 'the branch moved on before the build; green once its commit is live'),
};

const open = (status: 'queued' | 'in_progress', why: string) => ({ checkStatus: { status }, why });

/** How a check appears before its outcome. `paused` waits for a person without limit, so its check is completed. */
export const stateStatuses: Readonly<Record<Exclude<IntentState, 'ended'>, { checkStatus: CheckStatus; why: string }>> =
  {
    requested: open('queued', 'recorded, and not decided yet'),
    waiting: open(
      'queued',
      'another revision of the deployment is under way, checks of the commit have not passed yet, or the environment is frozen',
    ),
    paused: {
      checkStatus: { status: 'completed', conclusion: 'action_required' },
      why: 'a rollback holds the deployment until a person presses Redeploy',
    },
    measuring: open(
      'in_progress',
      'the live revision is sent the smoke tests that compare with it; no revision is requested yet',
    ),
    sending: open('in_progress', 'a revision is requested from the service'),
    expecting: open('in_progress', 'the service is to make a revision by itself'),
    following: open('in_progress', 'the revision is on its way'),
    testing: open('in_progress', 'the smoke tests of the revision run: it is held before traffic, or live'),
    deciding: open('in_progress', 'the held revision is promoted or discarded'),
    concluding: open('in_progress', 'the revision is live and was tested'),
    undoing: open('in_progress', 'the live revision failed its smoke tests, and the former one is restored'),
  };

/** The status of an intent's check. */
export function checkStatusOf(intent: Intent): CheckStatus {
  // As long as it waits for a person, without a limit, its check is completed.
  if (awaitsApproval(intent)) return { status: 'completed', conclusion: 'action_required' };
  if (intent.state !== 'ended') return stateStatuses[intent.state].checkStatus;
  const { end } = intent;
  return { status: 'completed', conclusion: isLiveInAnother(end) ? 'success' : outcomeStatuses[end.kind].conclusion };
}

/** Whether this commit is live as a part of another one. */
export const isLiveInAnother = ({ kind, liveIn }: IntentOutcome): boolean =>
  liveIn !== undefined && (kind === 'superseded' || kind === 'other-commit');

/** The state of the GitHub Deployment of a sent intent. */
export function deploymentStateOf(intent: Intent): DeploymentContent['state'] {
  if (intent.state === 'ended') return outcomeStatuses[intent.end.kind].deployment;
  return 'revisionId' in intent ? 'in_progress' : 'queued';
}
