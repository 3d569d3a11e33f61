import type { AppContext, Target } from '../context.ts';
import type { InstallationRepository, PullRequestState } from '../github/github-api.ts';
import type { Candidate, Candidates } from '../../src/deploy/commands/decide.ts';

/** A deployment that a branch of the pull request is for, as the service has it. */
export type TargetCandidate = Candidate & { target: Target };

/**
 * Finds what the branches of a pull request deploy: the one that it goes to, and its own, unless that is of a fork.
 * Who controls a deployment, and who may act on it, is read anew.
 */
export async function candidatesOf(
  repository: InstallationRepository,
  { baseBranch, headBranch }: Pick<PullRequestState, 'baseBranch' | 'headBranch'>,
  { targets: resolver }: Pick<AppContext, 'targets'>,
): Promise<Candidates<TargetCandidate>> {
  const branches = [...new Set([baseBranch, ...(headBranch === undefined ? [] : [headBranch])])];
  const candidates: TargetCandidate[] = [];
  const refused = new Map<string, Candidates['refused'][number]>();
  for (const branch of branches) {
    const found = await resolver.targetsOf(repository, branch);
    for (const target of [...found.targets, ...(found.later ?? [])])
      candidates.push({ target, branch, isOfPull: branch !== baseBranch });
    for (const each of found.refused) refused.set(each.deployment, each);
  }
  return { branches, candidates, refused: [...refused.values()] };
}
