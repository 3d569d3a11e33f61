import { shortCommit } from '../rules/commit.ts';
import type { NoPushCode } from '../rules/trigger.ts';
import type { Decision } from '../rules/trigger-types.ts';

/** Why a decision was made: one clause without a full stop. */
export function decisionWords(decision: Decision): string {
  if ('why' in decision) return decision.why;
  switch (decision.kind) {
    case 'trigger':
      return buildWords(decision);
    case 'adopt': {
      const commit = shortCommit(decision.commit);
      return decision.code === 'live'
        ? `commit ${commit} is live already with revision ${decision.revisionId}`
        : `revision ${decision.revisionId} of commit ${commit} is on its way already`;
    }
    case 'wait':
      return decision.code === 'unreported'
        ? `revision ${decision.revisionId} is on its way and does not report its commit yet`
        : `revision ${decision.revisionId} of commit ${shortCommit(decision.commit)} is on its way`;
    case 'hold': {
      const what = decision.commit ? `commit ${shortCommit(decision.commit)} was rolled back` : 'a person rolled back';
      return `${what}, and pushes wait until a person presses Redeploy`;
    }
    case 'skip':
      return skipWords(decision);
  }
}

type New<Kind> = Exclude<Extract<Decision, { kind: Kind }>, { why: string }>;

function buildWords(reason: New<'trigger'>): string {
  switch (reason.code) {
    case 'rerun':
      return `a person requested a Re-run, so commit ${shortCommit(reason.commit)} is built again`;
    case 'redeploy':
      return `a person requested Redeploy, so commit ${shortCommit(reason.commit)} is built again`;
    case 'rollback':
      return 'a person requested it';
    case 'failure':
      return 'the live revision fails its smoke tests';
    case 'waited-too-long':
      return `revision ${reason.revisionId} has been on its way for too long, so the App no longer waits for it`;
    default: {
      const missed = reason.missed ? ', and its push was missed' : '';
      const paths =
        reason.unread === undefined ? '' : `; the changed paths are unknown (${reason.unread}), so all count`;
      return `${notLiveWords(reason)}${missed}${paths}`;
    }
  }
}

function notLiveWords(
  reason: Extract<New<'trigger'>, { code: 'not-live' | 'live-unreported' | 'ended-before' }>,
): string {
  const commit = shortCommit(reason.commit);
  switch (reason.code) {
    case 'ended-before':
      return `revision ${reason.revisionId} of commit ${commit} ended without going live`;
    case 'live-unreported':
      return `the live revision does not report its commit, so ${commit} is built to be sure`;
    case 'not-live':
      return reason.live
        ? `commit ${shortCommit(reason.live)} is live, and ${commit} is not`
        : `commit ${commit} is not live, and nothing else is`;
  }
}

function skipWords(reason: New<'skip'>): string {
  switch (reason.code) {
    case 'skip-word':
      return `the commit message says ${reason.word}`;
    case 'paths-untouched':
      if (reason.paths === 0) return 'no file changed since the deployed commit';
      return reason.paths === 1
        ? 'the deploy file does not count the one path that changed'
        : `the deploy file counts none of the ${reason.paths} paths that changed`;
    case 'rolled-back-before':
      return `commit ${shortCommit(reason.commit)} was rolled back, and is built again only when a person requests it`;
    case 'already-reported':
      return `the same commit was requested before and ended ${reason.end}; press Re-run to build it again`;
    case 'serves-already':
      return `revision ${reason.revisionId} serves already`;
    case 'branch-gone':
      return `the branch ${reason.branch} is gone`;
    case 'not-installed':
      return 'the App was removed from the repository';
    case 'other-serves':
      return reason.active
        ? `revision ${reason.active} serves by now, not ${reason.broken}`
        : 'nothing serves any more';
    case 'other-on-its-way':
      return `revision ${reason.revisionId} is on its way and takes over`;
  }
}

/** Why a push is not built: one clause without a full stop. */
export const noPushWords: Record<NoPushCode, string> = {
  tag: 'it pushes a tag, and tags are not built on push',
  'not-a-branch': 'it does not push a branch',
  deleted: 'it deletes the branch, so there is nothing to build',
  fork: 'the repository is a fork, and branches of forks are not built',
};
