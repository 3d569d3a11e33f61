import { createHash, randomUUID } from 'node:crypto';
import type { SavedPlan } from '../file/saved-plan.ts';
import { boundPlanObstacles, type PlanInput, planFacts, type PlanFacts } from '../rules/bound-plan.ts';
import { determineCommit, type RequestedCommit } from '../rules/commit.ts';
import type { Obstacle, ObservedState, Plan } from '../rules/plan-types.ts';
import type { DeployRun } from './deploy-run.ts';
import type { Prepared } from './deploy-state.ts';

/** A plan that a run keeps, or that it is bound to. */
export interface PlanBinding extends Pick<PlanInput, 'service' | 'tenantId' | 'digest' | 'keyed'> {
  /** The plan that a deploy applies, and nothing else. */
  saved?: SavedPlan | undefined;
  /** Called with the plan that was made. */
  keep?: ((facts: PlanFacts) => void) | undefined;
}

/** Keeps the plan of a run, and returns what keeps a bound run from applying its plan. */
export async function bindPlan(
  planned: Exclude<Plan, { kind: 'impossible' }>,
  seen: ObservedState,
  run: DeployRun,
): Promise<Obstacle[]> {
  const { binding, smokeTests, conversations, verify, onFailure, onUnproven, clock } = run.request;
  if (!binding) return [];
  const terms = { smokeTests, conversations, verify, onFailure, onUnproven };
  const facts = planFacts({ ...binding, desired: run.desired, terms, planned, seen });
  const isUnbound = run.desired.source === 'github' && seen.commit.kind === 'unknown';
  if (binding.keep && isUnbound) return [{ field: 'commit', code: 'plan-commit-unknown' }];
  binding.keep?.(facts);
  const { saved } = binding;
  if (!saved) return [];
  const obstacles = boundPlanObstacles(saved, facts, clock.now());
  if (obstacles.length > 0) return obstacles;
  if (saved.key !== facts.key && run.desired.secrets !== undefined) run.note({ code: 'plan-secrets-uncompared' });
  // What the ref has by the time of the build may be another commit, which was not planned.
  const { commit } = seen;
  if (commit.kind === 'known' && !commit.only) run.known.commit = await onlyThis(commit.sha, run);
  return [];
}

async function onlyThis(sha: string, run: DeployRun): Promise<RequestedCommit> {
  const { pinsCommits } = await run.request.control.features(run.reading());
  const ref = { repoUrl: undefined, repoRef: undefined, workflow: undefined };
  return determineCommit({ ...ref, commit: sha, head: sha, pinsCommits });
}

/**
 * The idempotency key of a request. That of a bound run follows from its plan: a run that applies the plan again sends
 * the same request, which a service that honours keys carries out once. An upload has a new path each time.
 */
export function keyOf({ change, holdSeconds }: Pick<Prepared, 'change' | 'holdSeconds'>, run: DeployRun): string {
  const { saved, digest } = run.request.binding ?? {};
  const path = change.kind === 'redeploy' ? undefined : change.request.source_revision_config?.source_tarball_path;
  if (!saved || !digest) return onceKey([change.kind, holdSeconds ?? null, path ?? null], run);
  return `landfall-plan-${digest(JSON.stringify([saved.id, change.kind, holdSeconds ?? null, path ?? null]))}`;
}

/** The idempotency key of a request: the same whenever the run is started again for what requested it. */
export function onceKey(parts: readonly unknown[], { request: { onceFor } }: DeployRun): string {
  if (onceFor === undefined) return randomUUID();
  const digest = createHash('sha256').update(JSON.stringify([onceFor, ...parts]));
  return `landfall-once-${digest.digest('hex')}`;
}
