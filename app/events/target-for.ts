import { fullName, type RepositoryAt } from '../repository.ts';
import type { Target, AppContext } from '../context.ts';

/** The deployment on which a person requests an action. */
export interface TargetRequest {
  repository: RepositoryAt;
  branch: string;
  deploymentId: string;
  deploymentName: string;
}

/** The target that may be acted on now, or why the repository may not act on it: a clause without a full stop. */
export type FoundTarget = { ok: true; target: Target } | { ok: false; why: string };

/** Resolves the target again: the agreement from the time of the check may be outdated. */
export async function targetFor(requested: TargetRequest, { targets: resolver }: AppContext): Promise<FoundTarget> {
  const { repository, branch, deploymentId, deploymentName } = requested;
  const { targets, refused } = await resolver.targetsOf(repository, branch);
  const target = targets.find((each) => each.deploymentId === deploymentId);
  if (target) return { ok: true, target };
  const known = refused.find(({ deployment }) => deployment === deploymentName || deployment === deploymentId);
  return {
    ok: false,
    why: known?.why ?? `${branch} of ${fullName(repository)} does not deploy ${deploymentName} any more`,
  };
}
