import { shortCommit } from '../../src/planning/commit.ts';
import { fullName } from '../repository.ts';
import type { EventDecision } from './event-types.ts';

/** Formats a decision as one line: its subject, and why. */
export const formatDecision = (decision: EventDecision): string => `${subjectOf(decision)}: ${decision.why}`;

function subjectOf(decision: EventDecision): string {
  switch (decision.kind) {
    case 'push':
      return `push of ${shortCommit(decision.after)} to ${decision.branch} of ${fullName(decision.repository)}`;
    case 'nothing-to-build':
      return `nothing to build of ${shortCommit(decision.headSha)} of ${fullName(decision.repository)}`;
    case 'rerun':
      return `re-run of ${decision.check ? `"${decision.check.name}"` : 'all checks'} at ${placeOf(decision)} by ${decision.by}`;
    case 'press':
      return `${decision.button} on "${decision.check.name}" at ${placeOf(decision)} by ${decision.by}`;
    case 'check-suite':
      return `checks of ${placeOf(decision)}`;
    case 'pull-request':
      return `pull request ${decision.number} ${decision.fork ? 'from a fork ' : ''}into ${decision.baseBranch} at ${placeOf(decision)}`;
    case 'merge-group':
      return `merge group into ${decision.baseBranch} at ${placeOf(decision)}`;
    case 'installation':
      return `installation ${decision.installationId} ${decision.change}, ${decision.repositories?.map(fullName).join(', ') ?? 'all repositories'}`;
    case 'repository-renamed':
      return `repository ${decision.repository.repositoryId} is ${fullName(decision.repository)} now`;
    case 'branch-deleted':
      return `end of ${decision.branch} of ${fullName(decision.repository)}`;
    case 'ignore':
      return 'ignored';
  }
}

function placeOf(at: { repository: { owner: string; name: string }; headSha: string; branch?: string }): string {
  const branch = at.branch === undefined ? '' : ` on ${at.branch}`;
  return `${shortCommit(at.headSha)}${branch} of ${fullName(at.repository)}`;
}
