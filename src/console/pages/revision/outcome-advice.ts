import { classOfRevisionStatus } from '../../../contract/control/revision-status.ts';

/** The outcome of a revision, and what to do next. */
export interface OutcomeAdvice {
  tone: 'bad' | 'warn';
  title: string;
  /** Sentences of advice, the most useful first. */
  advice: string[];
}

export interface EndedRevisionState {
  status: string;
  /** Source of the deployment; `internal_source` is an uploaded archive. */
  source: string;
  /** Whether it serves the traffic. */
  isLive: boolean;
  /** Whether another revision of the deployment serves the traffic. */
  isOtherLive: boolean;
  /** The kind of the latest verdict of the smoke tests. */
  verdict: string | undefined;
  /** Whether it was created before a source was uploaded. */
  isWithoutSource?: boolean;
  /** Whether its hold before traffic ended without a promotion. */
  isDiscarded?: boolean;
}

/** Advice on the outcome of a revision; undefined if there is nothing to do. */
export function adviceFor(revision: EndedRevisionState): OutcomeAdvice | undefined {
  const { status, source, isLive, isOtherLive, verdict } = revision;
  const servingText = isOtherLive
    ? 'The revision before still serves all requests.'
    : 'No revision serves now: requests to the agent fail until one is live.';
  switch (classOfRevisionStatus(status)) {
    case 'in-progress':
      return undefined;
    case 'failed':
      return failedAdvice(revision, servingText);
    case 'interrupted':
      if (revision.isDiscarded) {
        return {
          tone: 'warn',
          title: 'This revision was discarded before it got traffic',
          advice: [servingText, `Correct the code and ${deliveryStep(source)}, or redeploy it to try it again.`],
        };
      }
      return {
        tone: 'warn',
        title: 'This revision was interrupted before it was live',
        advice: [servingText, 'If that was not intended, redeploy the deployment. To leave it as it is, do nothing.'],
      };
    case 'superseded':
      if (revision.isWithoutSource) {
        return {
          tone: 'warn',
          title: 'This revision came with the deployment, before a source was uploaded',
          advice: ['Nothing needs to be done. Open the newest revision of the deployment: it has what was uploaded.'],
        };
      }
      return {
        tone: 'warn',
        title: 'This revision was skipped: a newer one replaced it in the queue',
        advice: ['Nothing needs to be done. Open the newest revision of the deployment to see its outcome.'],
      };
    case 'live':
      return isLive || isOtherLive ? testedAdvice(verdict, source, isLive) : stoppedAdvice;
    case 'unknown':
      return {
        tone: 'warn',
        title: 'The service does not know how this revision ended',
        advice: [
          'Read the agent log below, and run the agent in the playground to see whether it serves.',
          'Redeploy the deployment if it does not, or go back to an earlier revision.',
        ],
      };
  }
}

const stoppedAdvice: OutcomeAdvice = {
  tone: 'bad',
  title: 'This revision was live, but its agent does not run any more',
  advice: ['Read the end of the agent log below for the reason.', 'Redeploy the deployment to start it again.'],
};

/** The step that delivers corrected code to the deployment. */
function deliveryStep(source: string): string {
  if (source === 'internal_source') return 'upload a new version';
  if (source === 'external_docker') return 'set the new image in the settings';
  return source === 'internal_docker' ? 'push a new image and set it in the settings' : 'push or redeploy';
}

function failedAdvice({ status, source, isOtherLive }: EndedRevisionState, serving: string): OutcomeAdvice {
  if (status === 'BUILD_FAILED') {
    return {
      tone: 'bad',
      title: 'The build failed',
      advice: [
        serving,
        'Read the end of the build log below: the last errors name the file or the command.',
        `Correct the code and ${deliveryStep(source)}, or change the build settings of the deployment.`,
      ],
    };
  }
  if (status === 'DEPLOY_FAILED') {
    return {
      tone: 'bad',
      title: 'The agent was built, but did not start or did not stay healthy',
      advice: [
        serving,
        'Read the end of the agent log below: usually a secret is missing, or the code fails as it is loaded.',
        `Correct the code and ${deliveryStep(source)}, or change the secrets of the deployment.${isOtherLive ? '' : ' To serve meanwhile, go back to an earlier revision.'}`,
      ],
    };
  }
  return {
    tone: 'bad',
    title: 'The revision could not be created',
    advice: [serving, 'Correct what the reason names in the settings of the deployment, and redeploy.'],
  };
}

function testedAdvice(verdict: string | undefined, source: string, isLive: boolean): OutcomeAdvice | undefined {
  if (!isLive || verdict === undefined || verdict === 'passed') return undefined;
  return verdict === 'failed'
    ? {
        tone: 'bad',
        title: 'This revision serves, but its smoke tests failed',
        advice: [
          'Compare below what each test expected with what the agent responded.',
          `Roll back to an earlier revision to restore the agent, or correct the code and ${deliveryStep(source)}.`,
        ],
      }
    : {
        tone: 'warn',
        title: 'This revision serves, but its smoke tests proved nothing',
        advice: ['Read below why, and run the tests again. You can also run the agent in the playground.'],
      };
}
