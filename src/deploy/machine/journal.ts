import type { Deployment } from '../../contract/control/deployment.ts';
import { isTransient } from '../../contract/service-error.ts';
import type { Sample } from '../rules/verdict-types.ts';
import type { DeployRun } from './deploy-run.ts';
import type { RunState } from './run-state.ts';
import { type Deploy, type DeployIn, type Ending, type OpenState, ownOf, type Prepared } from './deploy-state.ts';
import { tryCall } from '../smoke/try-call.ts';
import { findRevision } from './steps/read-deployment.ts';

/** Keeps how far a run is, before each effect, so that a later run can go on with the same deploy. */
export interface Journal {
  /**
   * Keeps this in place of what was kept before; undefined: there is nothing to go on with. The values of the secrets
   * that are sent are left out; `redact` removes them from texts of others.
   */
  keep(kept: JournalEntry | undefined, redact: (text: string) => string): Promise<void>;
  /** A cancelled run leaves the revision that it holds to the run that goes on. */
  leavesHeld: boolean;
  /** What was there when the run began. */
  readonly left?: JournalEntry | undefined;
}

/** What a run keeps of its deploy: once something was sent that a later run could go on with. */
export type JournaledState = Exclude<OpenState, 'requested' | 'filling' | 'measuring' | 'resolving' | 'serving'>;

/** The state of a deploy, and what later states and the outcome need. */
export interface JournalEntry extends Pick<RunState, 'plan' | 'commit' | 'rollout' | 'changed' | 'notes'> {
  /** ms since the epoch */
  at: number;
  deploy: DeployIn<JournaledState>;
  /** The revision that served before anything was sent. */
  formerLive?: string | undefined;
  /** What the live revision answered before the change, by the names of the tests. */
  before?: { of: string; answers: (readonly [test: string, samples: readonly Sample[]])[] } | undefined;
  /** What was sent, and what the deployment held before, without the values of secrets: a rollback puts settings back. */
  sent?: Prepared | undefined;
  formerDeployment?: Deployment | undefined;
}

/** What of a run is worth going on with; undefined before anything was sent. */
export function journalEntryOf(deploy: Deploy, run: DeployRun): JournalEntry | undefined {
  const state = stateToKeep(deploy);
  if (!state) return undefined;
  const { plan, commit, formerLive, formerDeployment: former, sent, before, rollout, changed, notes } = run.known;
  return {
    at: run.request.clock.now(),
    deploy: state,
    plan,
    commit,
    formerLive: formerLive?.id,
    before: before && { of: before.of, answers: [...before.answers] },
    rollout,
    changed,
    notes,
    sent: sent && withoutSecrets(sent),
    formerDeployment: former && { ...former, secrets: null },
  };
}

function stateToKeep(deploy: Deploy): JournalEntry['deploy'] | undefined {
  switch (deploy.state) {
    case 'requested':
    case 'filling':
    case 'measuring':
    case 'serving':
    case 'ended':
      return undefined;
    case 'sending':
      return { ...deploy, prepared: withoutSecrets(deploy.prepared) };
    case 'resolving':
      return { ...deploy, state: 'sending', tries: 1 };
    default:
      return deploy;
  }
}

function withoutSecrets(prepared: Prepared): Prepared {
  const { change, sought } = prepared;
  if (change.kind === 'redeploy' || !change.request.secrets) return prepared;
  const { secrets: _, ...request } = sought.request ?? {};
  return { ...prepared, change: withoutValues(change), sought: { ...sought, request }, isWithoutSecrets: true };
}

const withoutValues = <Sent extends { request: object }>(change: Sent): Sent => ({
  ...change,
  request: { ...change.request, secrets: [] },
});

/** Whether nothing is left to go on with after an ending. */
export function isOver(ending: Ending, { rollout, rollback }: RunState): boolean {
  if (ending.kind === 'service-error' || ending.kind === 'unsettled') return false;
  if (ending.kind === 'cancelled') return ending.discarded;
  if (rollback?.kind === 'failed' && rollback.reason.code === 'service-error' && isTransient(rollback.reason))
    return false;
  const last = rollback && 'rollout' in rollback ? rollback.rollout : rollout;
  return ending.kind !== 'started' && last?.kind !== 'timed-out';
}

/** Whether a run that kept nothing itself ends without a word on the revision of what an earlier one left. */
export const saysNothingOf = (left: JournalEntry, ending: Ending, { deployment }: RunState): boolean =>
  ending.kind !== 'kept' || ownOf(left.deploy)?.revisionId !== deployment?.active_revision_id;

/** What was about to be sent may have been. */
function resumed(kept: JournalEntry['deploy']): Deploy {
  if (kept.state === 'sending') return { ...kept, state: 'resolving' };
  return kept.state === 'restoring' || kept.state === 'deciding' ? { ...kept, mayBeSent: true } : kept;
}

/** The deployment of a state; undefined before one is known. */
export function deploymentOf(deploy: Deploy): string | undefined {
  if ('deploymentId' in deploy) return deploy.deploymentId;
  if ('own' in deploy) return deploy.own.deploymentId;
  const change = 'prepared' in deploy ? deploy.prepared.change : undefined;
  return change && 'deploymentId' in change ? change.deploymentId : undefined;
}

/**
 * Goes on from what an earlier run kept, after a look at the deployment as it is now. Where that is gone, the deploy
 * begins anew. @throws ServiceError
 */
export async function resumeDeploy(kept: JournalEntry, run: DeployRun): Promise<Deploy> {
  const { known } = run;
  const { control } = run.request;
  const { plan, commit, before, rollout, sent, formerDeployment, changed, notes, formerLive, at } = kept;
  const deploy = resumed(kept.deploy);
  const deploymentId = deploymentOf(deploy);
  const found =
    deploymentId === undefined ? undefined : await tryCall(control.getDeployment(deploymentId, run.reading()));
  const isGone = found?.ok === false && found.error.status === 404;
  if (isGone && 'desired' in run.request) return { state: 'requested', tries: 1 };
  if (found?.ok === false) throw found.error;
  Object.assign(known, { plan, commit, rollout, sent, formerDeployment, changed });
  if (before) known.before = { of: before.of, answers: new Map(before.answers) };
  for (const note of notes) run.note(note);
  run.emit({ kind: 'resumed', at, state: kept.deploy.state });
  if (found) {
    const { id: within } = run.saw(found.value);
    const read = (id: string) => findRevision(within, id, { control, options: () => run.reading() });
    if (formerLive) known.formerLive = { id: formerLive, revision: await read(formerLive) };
    if ('target' in deploy) known.target = { id: deploy.target, revision: await read(deploy.target) };
  }
  return deploy;
}

/** Texts of others, by the names of their fields. */
const maskedFields: ReadonlySet<string> = new Set([
  'text',
  'why',
  'expected',
  'nodes',
  'tools',
  'buildWarnings',
  'statusMessage',
]);

/** What a journal keeps, as JSON. `redact` removes secrets from the texts of others in it. */
export function toJournalJson(kept: unknown, redact: (text: string) => string): string {
  const shownText = (value: unknown): unknown => (typeof value === 'string' ? redact(value) : value);
  return JSON.stringify(kept, (name: string, value: unknown): unknown =>
    !maskedFields.has(name) ? value : Array.isArray(value) ? value.map(shownText) : shownText(value),
  );
}
