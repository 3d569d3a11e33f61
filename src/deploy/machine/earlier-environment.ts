import { sameCommit } from '../../contract/control/repo-ref.ts';
import { ifFound } from '../../contract/service-error.ts';
import type { Named } from '../file/desired.ts';
import type { RequestedCommit } from '../rules/commit.ts';
import type { Obstacle } from '../rules/plan-types.ts';
import type { DeployRun } from './deploy-run.ts';
import { findDeployment } from './find-deployments.ts';
import { provenRevision } from './steps/proven-revision.ts';

/** What is asked for: the commit, if one is, the head of the ref, if it is known, and what serves here. */
interface Request {
  requested: string | undefined;
  head: string | undefined;
  live: { revisionId: string; commit: string } | undefined;
}

/** The commit that the environment before has proven, and the revision whose build is deployed; or what is in the way. */
export type PromotedCommit =
  | { kind: 'promoted'; commit: RequestedCommit; buildOf: string | undefined }
  | { kind: 'impossible'; obstacles: readonly Obstacle[] };

/**
 * Looks at the deployment of the environment before, unless this one serves the commit already: then it went there
 * before, and a change of other fields keeps it. `head`: the head of the ref, if it was looked up.
 */
export async function promotedCommit(
  after: Named,
  { requested, head, live: served }: Request,
  run: DeployRun,
): Promise<PromotedCommit> {
  const { pinsCommits = false, copiesBuilds } = await run.request.control.features(run.reading());
  const known = (sha: string): RequestedCommit => ({
    kind: 'known',
    sha,
    only: pinsCommits ? { isPinned: true } : { isPinned: false, head },
  });
  if (served && requested !== undefined && sameCommit(served.commit, requested))
    return { kind: 'promoted', commit: known(served.commit), buildOf: copiesBuilds ? served.revisionId : undefined };
  const { control, signal, verdictsOf } = run.request;
  const found = (await ifFound(findDeployment(after, control, signal))) ?? { ok: false as const, matches: 0 };
  const deployment = found.ok ? found.deployment : undefined;
  if (deployment) run.sawBeside(deployment);
  const earlier = {
    name: deployment?.name ?? after.name ?? after.deploymentId ?? '',
    matches: found.ok ? 1 : found.matches,
    deployment,
    requested,
  };
  const decided = await provenRevision(earlier, { control, verdictsOf, options: () => run.reading() });
  if ('code' in decided) return { kind: 'impossible', obstacles: [decided] };
  const { commit: sha, revisionId, isUnproven } = decided;
  if (isUnproven) run.note({ code: 'earlier-unreported', name: deployment?.name ?? '' });
  run.note({
    code: 'promoted',
    name: deployment?.name ?? '',
    revisionId,
    commit: sha,
    isCopied: copiesBuilds === true,
  });
  return { kind: 'promoted', commit: known(sha), buildOf: copiesBuilds ? revisionId : undefined };
}
