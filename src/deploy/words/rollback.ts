import type { NotRestored, Rollback } from '../machine/outcome-types.ts';
import { adviceOn } from './advice-on-errors.ts';
import { decisionWords } from './decision.ts';

/** Why nothing was restored: a clause without a full stop, and what to do about it. */
interface RollbackWords {
  why: string;
  advice: string;
}

export const nothingLive = 'nothing is live, so there is nothing to go back from';
export const noneLiveBefore = (active: string): string => `no revision was live before ${active}`;
/** Why going back did not help, and what to do about it. */
export const alsoWrong = (revisionId: string): string =>
  `revision ${revisionId} serves again, and fails the smoke tests too`;
export const adviceOnAlsoWrong = 'Check what else changed: the model, a key, or the test.';

/** Says why a rollback is not done. */
export function rollbackWords(rollback: Exclude<Rollback, { kind: 'done' }>): RollbackWords {
  if (rollback.kind === 'impossible') return notRestoredWords(rollback.reason);
  const { toRevisionId: target, reason, rollout } = rollback;
  switch (reason.code) {
    case 'service-error':
      return reason.isUnknown
        ? {
            why: `${reason.text}; it is unknown whether it took effect`,
            advice: 'Look at the revisions of the deployment before you run this again.',
          }
        : { why: reason.text, advice: adviceOn(reason, 'run') };
    case 'none-made':
      return {
        why: `the service accepted the change to ${target} and made no revision of it`,
        advice: 'Look at the deployment and put the former image back by hand.',
      };
    case 'not-live': {
      const [id, last] = [rollout?.revisionId, rollout?.seen.at(-1)?.status ?? 'not seen yet'];
      return {
        why: `revision ${id}, which goes back to ${target}, did not become live (${rollout?.kind}, ${last})`,
        advice: `Look at revision ${id} of the deployment: it may still become live.`,
      };
    }
    case 'also-wrong':
      return { why: alsoWrong(target), advice: adviceOnAlsoWrong };
  }
}

const deployFormer = 'Deploy the former commit or image instead.';
const correct = {
  image: 'Push a corrected image under a new tag, and set image-uri to it.',
  folder: 'Correct the folder and deploy it again.',
};

function notRestoredWords(reason: NotRestored): RollbackWords {
  switch (reason.code) {
    case 'none-made':
      return {
        why: 'this run made no revision, so it has none to take back',
        advice: 'Roll back to an earlier revision (mode: rollback, or landfall rollback).',
      };
    case 'none-before':
      return {
        why: 'no revision was live before, so there is none to go back to',
        advice: 'Correct the agent and deploy it again.',
      };
    case 'nothing-live':
      return { why: nothingLive, advice: 'Deploy it first.' };
    case 'revisions-unlisted':
      return {
        why: 'this service does not list revisions, so the previously live revision is unknown',
        advice: deployFormer,
      };
    case 'none-live-before':
      return { why: noneLiveBefore(reason.active), advice: deployFormer };
    case 'not-selectable':
      return {
        why: `this service does not deploy an old revision again, and no field selects one commit, so revision ${reason.revisionId} cannot be put back`,
        advice: 'Revert the commit and push it: the next deploy builds the head of the branch.',
      };
    case 'same-source': {
      const same = `revision ${reason.revisionId} runs the same ${reason.source} as the one that is live`;
      return reason.isHidden
        ? { why: `${same}, and the service hides the values of its secrets`, advice: 'Set the former secrets again.' }
        : { why: `${same}, so there is nothing to put back`, advice: correct[reason.source] };
    }
    default:
      return {
        why: decisionWords({ kind: 'skip', ...reason }),
        advice: 'Wait for that revision, and roll back (mode: rollback, or landfall rollback) if it fails too.',
      };
  }
}
