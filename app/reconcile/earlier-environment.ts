import type { CallOptions } from '../../src/contract/call-options.ts';
import type { ControlRecords } from '../../src/contract/control/service.ts';
import { ifFound } from '../../src/contract/service-error.ts';
import { provenRevision } from '../../src/deploy/machine/steps/proven-revision.ts';
import { sameCommit } from '../../src/contract/control/repo-ref.ts';
import type { CommandRefusal } from '../../src/deploy/commands/outcomes.ts';
import { findRevision } from '../../src/deploy/machine/steps/read-deployment.ts';
import type { AppContext, LaterTarget } from '../context.ts';
import type { EarlierDeployment, PromotedFrom } from './deploy-request.ts';
import type { IntentFields } from './intent.ts';

type EarlierContext = Pick<AppContext, 'control' | 'records' | 'store'>;

/** How many of a deployment's newest intents are searched for its revision. */
const maxSearchedIntents = 100;

/** What the environment before serves and has proven now, or why there is nothing to promote. @throws ServiceError */
export async function provenIn(
  { deploymentId, name }: EarlierDeployment,
  { control, records, store }: EarlierContext,
  options: () => CallOptions,
): ReturnType<typeof provenRevision> {
  const deployment = await ifFound(control.getDeployment(deploymentId, options()));
  const ownVerdictOn = async (revisionId: string) => {
    const own = await intentsOn(store, deploymentId, revisionId);
    return own.find(({ verdict }) => verdict && verdict.kind !== 'none')?.verdict?.kind;
  };
  const earlier = { name, matches: deployment ? 1 : 0, deployment, requested: undefined };
  const verdictsOf: ControlRecords['verdictsOf'] | undefined = records && ((...asked) => records.verdictsOf(...asked));
  return provenRevision(earlier, { control, verdictsOf, ownVerdictOn, options });
}

/** The ended intents about a revision, newest first. */
async function intentsOn(
  store: AppContext['store'],
  deploymentId: string,
  revisionId: string,
): Promise<readonly IntentFields[]> {
  const own: readonly IntentFields[] = await store.lastWithRevision(deploymentId, maxSearchedIntents);
  return own.filter((intent) => intent.revisionId === revisionId && intent.state === 'ended');
}

/** What a person promotes: the commit that the environment before serves and has proven. */
type FoundPromotion =
  | { ok: true; commit: string; from: PromotedFrom }
  | { ok: false; obstacle: Extract<Awaited<ReturnType<typeof provenIn>>, { code: unknown }> };

/** What a person promotes to a deployment that does not serve it yet. */
export type NewPromotion = Extract<FoundPromotion, { ok: true }>;

/**
 * Finds what a person may promote to a deployment now. It is the newest of what was to be promoted, whoever made its
 * revision: it is what the environment before serves. @throws ServiceError
 */
export async function findPromotion(
  { deploymentId, terms: { promotedFrom: earlier } }: LaterTarget,
  context: EarlierContext,
  options: () => CallOptions,
): Promise<FoundPromotion> {
  const proven = await provenIn(earlier, context, options);
  if ('code' in proven) return { ok: false, obstacle: proven };
  const { revisionId, commit } = proven;
  const own = await intentsOn(context.store, earlier.deploymentId, revisionId);
  const maker = own.find(({ sending }) => sending.kind !== 'test');
  const last = await context.store.lastIntents(deploymentId, maxSearchedIntents);
  const orders = last.map(({ sending }) => (sending.kind === 'promote' ? sending.from.order : 0));
  return { ok: true, commit, from: { ...earlier, revisionId, order: Math.max(maker?.seq ?? 0, ...orders) } };
}

/** The same for a deployment, unless that one serves the commit already and a rollback does not hold it. */
export async function findNewPromotion(
  target: LaterTarget,
  context: EarlierContext,
  options: () => CallOptions,
): Promise<NewPromotion | { ok: false; refusal: CommandRefusal }> {
  const { control, store } = context;
  const { deploymentId, terms } = target;
  const found = await findPromotion(target, context, options);
  if (!found.ok) return { ok: false, refusal: { ...found.obstacle } };
  const { held } = await store.deploymentQueue(deploymentId);
  const { active_revision_id: active } = await control.getDeployment(deploymentId, options());
  const live = active ? await findRevision(deploymentId, active, { control, options }) : undefined;
  const serves = sameCommit(live?.source_revision_config.repo_commit_sha ?? undefined, found.commit);
  if (!serves || held) return found;
  return { ok: false, refusal: { code: 'promoted-already', deployment: terms.deploymentName, commit: found.commit } };
}
