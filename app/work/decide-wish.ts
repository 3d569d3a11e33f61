import { sameCommit } from '../../src/decide/commit.ts';
import { decideTrigger } from '../../src/decide/trigger.ts';
import type { ChangedPaths, Decision } from '../../src/decide/trigger-types.ts';
import type { Head } from '../github/hub.ts';
import { alreadyTold, endedBefore, toldElsewhere } from './already-told.ts';
import { ended } from './end-words.ts';
import { beginFollowing } from './begin-following.ts';
import type { Intent } from './intent.ts';
import { sendFor } from './send.ts';
import { look, type Sight } from './sight.ts';
import type { Lane } from './store.ts';
import { headOf, keep, moved, reportsOf, restFor, type Came, type Work } from './work.ts';

/** How long the hosted service may take to make a revision of a push (ms). */
const hostedMs = 10 * 60_000;
const anothersMs = 5_000;

/** Decides what is done about the head's wish, and does it. Nothing of ours runs on the deployment. */
export async function decideWish(work: Work, lane: Lane, intent: Intent, head: Head): Promise<Came> {
  const { world } = work;
  const sight = await look(work);
  const earlier = await world.store.intentsOf(intent.deploymentId, intent.commit);
  const told = alreadyTold(intent, earlier, sight);
  if (told) return join(work, intent, { kind: 'skip', code: 'already-told', why: told }, earlier);
  const changed = await changedPaths(work, intent, sight);
  const { rolledBackCommit, held } = lane;
  const decision = decideTrigger({
    cause: intent.cause.kind,
    head,
    standing: { live: sight.live, latest: sight.latest, rolledBackCommit, held },
    changed,
    rules: intent.terms.rules,
  });
  world.log(`decided ${intent.commit} on ${intent.deploymentId}: ${decision.kind}`, { why: decision.why });
  switch (decision.kind) {
    case 'skip':
      return toldElsewhere(intent, earlier, decision)
        ? join(work, intent, decision, earlier)
        : skip(work, intent, decision);
    case 'hold':
      await keep(work, [{ ...intent, state: 'held', decision }]);
      return moved;
    case 'adopt':
      return beginFollowing(work, { ...intent, decision }, decision.revisionId, 'adopted', sight);
    case 'wait':
      return isOverdue(intent, world.clock.now())
        ? trigger(
            work,
            intent,
            { kind: 'trigger', why: `${decision.why} for too long, and is waited for no more` },
            sight,
          )
        : wait(work, intent, decision, sight);
    case 'trigger':
      return trigger(work, intent, decision, sight);
  }
}

/** A revision of others that never ends must not keep pushes from being built for ever. */
const isOverdue = ({ decision, deadline }: Intent, now: number): boolean =>
  decision?.kind === 'wait' && deadline !== undefined && now >= deadline;

type Skip = Extract<Decision, { kind: 'skip' }>;

const reasonOf = ({ why }: Skip): string => `${why.charAt(0).toUpperCase()}${why.slice(1)}.`;

async function skip(work: Work, intent: Intent, decision: Skip): Promise<Came> {
  const end = { kind: 'skipped' as const, reason: reasonOf(decision) };
  await keep(work, [ended({ ...intent, decision }, end, work.world.clock.now())]);
  return moved;
}

/** Ends it in favour of an earlier one, whose check it may have written over while it waited. */
async function join(work: Work, intent: Intent, decision: Skip, earlier: readonly Intent[]): Promise<Came> {
  const end = { kind: 'joined' as const, reason: reasonOf(decision) };
  const speaker = endedBefore(intent, earlier);
  const reports = speaker ? reportsOf(work, speaker) : [];
  await keep(work, [ended({ ...intent, decision }, end, work.world.clock.now())], { reports });
  return moved;
}

async function wait(
  work: Work,
  intent: Intent,
  decision: Extract<Decision, { kind: 'wait' }>,
  sight: Sight,
): Promise<Came> {
  const former = intent.decision;
  const isSame = former?.kind === 'wait' && former.revisionId === decision.revisionId && former.why === decision.why;
  if (intent.state !== 'waiting' || !isSame) {
    const deadline =
      former?.kind === 'wait' && intent.deadline ? intent.deadline : work.world.clock.now() + intent.terms.timeoutMs;
    const commit = sight.latest?.commit;
    const busy = commit === undefined ? undefined : { commit, revisionId: decision.revisionId };
    await keep(work, [{ ...intent, state: 'waiting', decision, deadline }], { busy });
  }
  return restFor(work, anothersMs);
}

async function trigger(
  work: Work,
  intent: Intent,
  decision: Extract<Decision, { kind: 'trigger' }>,
  sight: Sight,
): Promise<Came> {
  const { deadline: _, ...decided } = { ...intent, decision };
  const isHosted = intent.terms.builder === 'service' && isOfItself(intent);
  if (isHosted) {
    // It made its revision already, and that ended: there is no other one to wait for.
    const { latest } = sight;
    if (latest?.standing === 'ended' && sameCommit(latest.commit, intent.commit)) {
      return beginFollowing(work, decided, latest.id, 'found', sight);
    }
    const deadline = work.world.clock.now() + Math.min(hostedMs, intent.terms.timeoutMs);
    const formerLatestRevisionId = sight.deployment.latest_revision_id;
    const formerLiveRevisionId = sight.deployment.active_revision_id;
    await keep(work, [{ ...decided, state: 'expecting', deadline, formerLatestRevisionId, formerLiveRevisionId }]);
    return moved;
  }
  // What was read of the service took its time: the head may be another by now.
  const head = await headOf(work, intent);
  return head?.sha === intent.commit ? sendFor(work, decided, sight.deployment) : moved;
}

/** True where no person asked: the service builds pushes by itself, but neither a Re-run nor a Redeploy. */
const isOfItself = ({ cause }: Intent): boolean => cause.kind === 'push' || cause.kind === 'recovery';

/** What changed since the commit that serves; asked only where a rule needs it. */
async function changedPaths(work: Work, intent: Intent, { live, latest }: Sight): Promise<ChangedPaths | undefined> {
  const { terms, repository, commit } = intent;
  if (!terms.rules.paths || !isOfItself(intent) || !live || latest?.standing === 'on-its-way') return undefined;
  if (live.commit === undefined) return { kind: 'untold', why: 'the live revision does not tell its commit' };
  const comparison = await work.world.hub.compare(repository, live.commit, commit);
  if (comparison.kind === 'untold') return comparison;
  return { kind: 'told', paths: comparison.kind === 'ahead' ? comparison.paths : [] };
}
