import type { StoredCommand } from '../../../app/commands/stored-command.ts';
import type { IntentFields } from '../../../app/reconcile/intent.ts';
import { commitCheckName } from '../../../app/reconcile/report.ts';
import { answeredOnce, commentedPulls, doneOnce, oncePerPerson, promotedBy } from './commanded.ts';
import { afterChecks } from './gated.ts';
import { promotedInOrder } from './promoted.ts';
import type { Simulation } from './simulation.ts';
import { previewViolations } from '../previews/preview-invariants.ts';
import { reviewed } from './reviewed.ts';
import { branch, repository } from './terms.ts';
import type { Written } from './model-control.ts';
import type { ModelRevisions } from './model-revisions.ts';
import { nameOf } from './play.ts';

/** A sentence for every broken invariant once all is idle; none if all hold. */
export async function violations(simulation: Simulation): Promise<string[]> {
  const intents = new Map<string, IntentFields[]>();
  for (const id of simulation.deploymentIds) intents.set(id, await simulation.intents(id));
  const all = [...intents.values()].flat();
  const given: StoredCommand[] = [];
  for (const number of commentedPulls(simulation))
    given.push(...(await simulation.store.lastCommands(repository.repositoryId, number, 1_000)));
  const found = [
    ...atRest(simulation),
    ...oncePerCause(simulation, all),
    ...notDoubled(simulation, all),
    ...findRollbackTarget(simulation, all),
  ];
  found.push(...nothingLost(simulation), ...comparedRightly(simulation), ...oncePerPerson(simulation, all));
  for (const id of simulation.deploymentIds) {
    const held = simulation.control.deployments.get(id);
    if (!held) continue;
    found.push(
      ...(simulation.pushedIds.includes(held.id) ? standingHead(simulation, held) : []),
      ...afterChecks(simulation, intents.get(held.id) ?? [], held),
      ...noFalseGreen(simulation, held),
      ...seenWhereMade(intents.get(held.id) ?? [], held),
      ...promotedByVerdict(simulation, intents.get(held.id) ?? [], held, promotedBy(given)),
      ...markContained(simulation, intents.get(held.id) ?? [], held),
    );
  }
  found.push(
    ...promotedInOrder(simulation, intents),
    ...reviewed(simulation, intents, given),
    ...previewViolations(simulation),
  );
  found.push(...doneOnce(simulation, given, all), ...answeredOnce(simulation, given, all));
  if (simulation.previewing.uninstalledAt !== undefined) return found;
  found.push(...nothingOpen(simulation, all));
  const unreported = await simulation.store.pendingReports();
  if (unreported.length > 0) found.push(`${unreported.length} reports were not sent`);
  return found;
}

/**
 * How recent another client's revision may be (ms) for a request to overlook it at a service without `If-Match`: a
 * process may pause for five minutes between its last observation and its request, which takes up to another.
 */
const overlookedMs = 400_000;

/** All work has ended, and none is waiting. */
function atRest({ jobs, clock, control }: Simulation): string[] {
  const found = jobs.left.map((each) => `a job never ends: ${each}`);
  if (clock.sleepers > 0) found.push(`${clock.sleepers} still sleep`);
  for (const held of control.deployments.values()) {
    if (held.isBusy) found.push('the service is still at work');
    if (held.held) found.push(`${held.held.id} is still held`);
  }
  return found;
}

/** One cause makes at most one revision. */
function oncePerCause({ control, deploymentIds }: Simulation, intents: readonly IntentFields[]): string[] {
  const byCause = new Map<string, Written[]>();
  for (const written of control.written) {
    if (!written.revision) continue;
    const isAtItsOwn = deploymentIds.includes(written.deploymentId);
    // Previews have invariants of their own.
    if (!isAtItsOwn && !intents.some(({ id }) => id === written.key)) continue;
    if (!isAtItsOwn) return [`${written.revision.id} was made of what is not deployed on push`];
    const intent = intents.find(({ id }) => id === written.key);
    const cause = intent
      ? `${intent.deploymentId} ${intent.commit} ${intent.cause.kind} ${intent.cause.key}`
      : `unknown (${written.key ?? 'no key'})`;
    byCause.set(cause, [...(byCause.get(cause) ?? []), written]);
  }
  return [...byCause].flatMap(([cause, made]) =>
    made.length > 1 || cause.startsWith('unknown')
      ? [`the cause ${cause} made ${made.length} revisions: ${made.map(({ revision }) => revision?.id).join(', ')}`]
      : [],
  );
}

/**
 * A push makes no revision if its commit is already live, or in progress as the newest. A revision of another client
 * may be overlooked at a service without `If-Match` if its response was still on its way.
 */
function notDoubled({ control }: Simulation, intents: readonly IntentFields[]): string[] {
  return control.written.flatMap((written) => {
    const { revision, latest, active, key, at, kind } = written;
    const intent = intents.find(({ id }) => id === key);
    if (!revision?.commit || !latest || kind !== 'restate') return [];
    if (intent?.cause.kind !== 'push' && intent?.cause.kind !== 'recovery') return [];
    const standsFirst = latest.id === active?.id || (written.latestWasOnItsWay && latest.commit !== undefined);
    // The head may have moved between sending and building.
    if (!standsFirst || latest.commit !== revision.commit || intent.commit !== revision.commit) return [];
    const overlooked = latest.madeBy.who !== 'app' && !control.offers.ifMatch && at - latest.madeAt < overlookedMs;
    return overlooked ? [] : [`${intent.cause.kind} of ${intent.commit} was built although ${latest.id} stood with it`];
  });
}

/** A way back of the App's own takes a wrong answer away, never a good one, and never goes over something newer. */
function findRollbackTarget({ control, git }: Simulation, intents: readonly IntentFields[]): string[] {
  return control.written.flatMap(({ revision, kind, key, active, latest, at, latestWasOnItsWay }) => {
    const intent = intents.find(({ id }) => id === key);
    if (!revision || kind !== 'redeploy' || intent?.cause.kind !== 'failure') return [];
    const found: string[] = [];
    const fate = git.commits.get(active?.commit ?? '')?.fate;
    const isOverlooked = !control.offers.ifMatch && latest !== undefined && at - latest.madeAt < overlookedMs;
    if (isOverlooked && latest.madeBy.who !== 'app') return [];
    if (fate !== 'wrong') found.push(`a rollback took ${active?.id} away, whose answer is ${fate}`);
    if (latestWasOnItsWay) found.push(`a rollback went over ${latest?.id}, which was on its way`);
    return found;
  });
}

/**
 * Every check run is completed, every GitHub Deployment has come to an end, every intent has ended or waits for a
 * person.
 */
function nothingOpen({ githubApi }: Simulation, intents: readonly IntentFields[]): string[] {
  const found = githubApi.checks.flatMap(({ name, headSha, content }) =>
    content.status === 'completed' ? [] : [`the check ${name} of ${headSha} stays ${content.status}`],
  );
  for (const { state, commit, cause } of intents) {
    if (state !== 'ended' && state !== 'paused') found.push(`${cause.kind} ${cause.key} of ${commit} stays ${state}`);
  }
  for (const { commit, states } of githubApi.deployments) {
    const last = states.at(-1);
    if (last === undefined || last === 'queued' || last === 'in_progress') {
      found.push(`the GitHub Deployment of ${commit} stays ${last ?? 'without a status'}`);
    }
  }
  return found;
}

/**
 * Every acknowledged delivery was carried out, or a text says why not; every pushed commit has a check: one for each
 * deployment, or the commit's own if the branch was gone by then.
 */
function nothingLost(simulation: Simulation): string[] {
  return simulation.deliveries.flatMap(({ guid, requests, storedAt, did }) => {
    if (storedAt === undefined) return [];
    if (!did || did.length === 0) return [`${requests.kind} ${guid} was acknowledged without a result`];
    if (requests.kind !== 'push') return [];
    const { after } = requests;
    if (after === undefined || simulation.githubApi.check(after, commitCheckName)) return [];
    return simulation.pushedIds
      .filter((id) => !simulation.githubApi.check(after, nameOf(simulation, id)))
      .map((id) => `push ${guid} of ${after} has no check for ${id}`);
  });
}

/**
 * A revision is compared with answers of the one that served before, to the same test, and nothing is left at agents. A
 * process that stood still while a thread was made may make it after another one has removed it.
 */
function comparedRightly({ control, hasStalled }: Simulation): string[] {
  const left = hasStalled ? [] : [...control.threads].map((thread) => `the thread ${thread} is left at an agent`);
  return [...control.mistaken, ...left];
}

/** The head of a deployed branch is live, or its check says why not. */
function standingHead(simulation: Simulation, held: ModelRevisions): string[] {
  const head = simulation.git.head(branch)?.sha;
  if (head === undefined || held.active?.commit === head) return [];
  const check = simulation.githubApi.check(head, nameOf(simulation, held.id));
  const what = `${head} is the head and not live on ${held.id} (${held.active?.commit} is)`;
  if (!check) return [`${what}, and has no check`];
  if (check.content.title.startsWith('Superseded')) return [`${what}, and its check is: ${check.content.title}`];
  if (check.content.status === 'completed' && check.content.conclusion === 'success') {
    // A later replacement by another client is not the check's concern.
    const taken = held.switches.findLast(({ former }) => former?.commit === head);
    const byOthers = taken && (taken.revision.madeBy.who !== 'app' || taken.revision.again);
    return byOthers ? [] : [`${what}, and its check is green: ${check.content.title}`];
  }
  return [];
}

/**
 * Where the service builds pushes by itself, no check denies the newest revision, which the service made of its commit.
 */
function seenWhereMade(intents: readonly IntentFields[], held: ModelRevisions): string[] {
  return intents.flatMap(({ commit, end }) => {
    if (end?.kind !== 'absent') return [];
    const newest = held.all.findLast(({ madeAt }) => madeAt <= end.at);
    return newest?.madeBy.who === 'service' && newest.commit === commit
      ? [`${commit} is reported to have no revision, and the service made ${newest.id}`]
      : [];
  });
}

/**
 * A revision that the App holds gets no traffic where it fails its tests, or where they prove nothing and another one
 * serves, unless a person promotes it. The App discards no other, but one of another commit than the requested one, which
 * it does not test.
 */
function promotedByVerdict(
  { git }: Simulation,
  intents: readonly IntentFields[],
  held: ModelRevisions,
  byCommand: ReadonlySet<string>,
): string[] {
  return held.all.flatMap(({ id, hold, commit, madeBy, madeAt }) => {
    if (!hold || madeBy.who !== 'app' || byCommand.has(`${held.id} ${id}`)) return [];
    const fate = git.commits.get(commit ?? '')?.fate;
    const { decision, decidedBy } = hold;
    const found: string[] = [];
    if (decidedBy === 'app' && decision === 'promoted' && fate === 'wrong') found.push(`${id} fails, and was promoted`);
    // What was live before the request is what the App keeps.
    const isReplacing = held.switches.some(({ at, revision }) => revision.id !== id && at < madeAt);
    if (decidedBy === 'app' && decision === 'promoted' && fate === 'flaky' && isReplacing)
      found.push(`${id} proves nothing, and was promoted`);
    const isRefused = fate === 'wrong' || (fate === 'flaky' && isReplacing);
    const isAnothers = intents.every((each) => each.revisionId !== id || each.commit !== commit);
    if (decidedBy === 'app' && decision === 'discarded' && !isRefused && !isAnothers)
      found.push(`${id} is ${fate}, and was discarded`);
    return found;
  });
}

/** A green check's commit, or one that contains it, was live. */
function noFalseGreen(simulation: Simulation, held: ModelRevisions): string[] {
  return simulation.githubApi.checks
    .filter(({ name, content }) => name === nameOf(simulation, held.id) && content.conclusion === 'success')
    .filter(({ headSha }) => !served(simulation, held, headSha))
    .map(({ headSha, content }) => `the check of ${headSha} is green and it never was live: ${content.title}`);
}

const served = ({ git }: Simulation, held: ModelRevisions, sha: string): boolean =>
  held.switches.some(({ revision }) => revision.commit !== undefined && git.contains(revision.commit, sha));

/** The check of a superseded commit is green once one that contains it was live and proven. */
function markContained(simulation: Simulation, intents: readonly IntentFields[], held: ModelRevisions): string[] {
  return intents.flatMap(({ end, commit, seq }) => {
    if (!end || (end.kind !== 'superseded' && end.kind !== 'other-commit') || end.liveIn) return [];
    const by = intents.find(
      (each) =>
        each.seq > seq &&
        each.end?.kind === 'deployed' &&
        each.end.at > end.at &&
        each.commit !== commit &&
        held.all.find(({ id }) => id === each.revisionId)?.commit === each.commit &&
        simulation.git.contains(each.commit, commit),
    );
    return by ? [`${commit} ended ${end.kind}, is in ${by.commit}, which is live and proven, and does not say so`] : [];
  });
}
