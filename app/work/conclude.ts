import { sameCommit } from '../../src/decide/commit.ts';
import type { Verdict } from '../../src/decide/verdict-types.ts';
import { ended, provenEnd, unaskedEnd, unprovenEnd, wrongly, type End } from './end-words.ts';
import type { Intent, Wish } from './intent.ts';
import { redeemed } from './redeem.ts';
import { look, type Sight } from './sight.ts';
import { mayContain } from './contains.ts';
import { wishAfter, wishLike } from './follow-up-wishes.ts';
import { headOf, keep, moved, reportsOf, type Came, type Work } from './work.ts';

/** Draws the conclusion of a revision that was live and asked. */
export async function conclude(work: Work, intent: Intent): Promise<Came> {
  const { verdict } = intent;
  if (!verdict) throw new Error(`intent ${intent.id} is concluded without a verdict`);
  await work.world.step?.('before-conclusion', intent.id);
  if (verdict.kind === 'failed') return wrong(work, intent, verdict);
  const sight = await look(work);
  if (sight.deployment.active_revision_id !== intent.revisionId) return replaced(work, intent, sight);
  const now = work.world.clock.now();
  const isUnasked = verdict.kind === 'none' && intent.terms.unread === true;
  if (verdict.kind === 'unproven' || isUnasked) {
    const done = ended(intent, isUnasked ? unaskedEnd(intent) : unprovenEnd(intent, verdict), now);
    await keep(work, [done], { wishes: await headGoneBackFrom(work, done) });
    return moved;
  }
  const done = ended(intent, provenEnd(intent, verdict), now);
  const live = done.sending.kind === 'restate' ? done.commit : sight.live?.commit;
  const { intents, silent } = live === undefined ? { intents: [], silent: [] } : await redeemed(work, done, live);
  const { rolledBackCommit } = await work.world.store.lane(intent.deploymentId);
  const isForgiven = done.sending.kind === 'restate' && sameCommit(rolledBackCommit, done.commit);
  // The check of a commit that is live in this one changes, unless a newer intent speaks in it.
  const quiet = new Set(silent);
  const told = intents.filter(({ id }) => !quiet.has(id));
  await keep(work, [done], {
    wishes: await headGoneBackFrom(work, done),
    ...(isForgiven ? { rolledBackCommit: null } : {}),
    also: intents,
    reports: told.flatMap((each) => reportsOf(work, each)),
  });
  return moved;
}

/** A wrong answer: the former revision is brought back where that is wished for and can be, else it is told. */
async function wrong(work: Work, intent: Intent, verdict: Verdict): Promise<Came> {
  const { world } = work;
  const now = world.clock.now();
  const said = wrongly(intent, verdict);
  if (intent.cause.kind === 'failure') {
    const end: End = { kind: 'broken', reason: `${said}.` };
    const done = ended(intent, end, now);
    await keep(work, [done]);
    return moved;
  }
  const target = intent.formerLiveRevisionId;
  const isWished = intent.terms.onFailure === 'rollback' && intent.sending.kind === 'restate';
  const known = await world.store.intentsOf(intent.deploymentId, intent.commit);
  const isTried = known.some(({ cause }) => cause.kind === 'failure' && cause.key === intent.id);
  if (isWished && target && target !== intent.revisionId && !isTried) {
    await keep(work, [intent], { wishes: [goingBack(intent, target, now)] });
    return moved;
  }
  const why = isWished ? ' Not rolled back: no revision is known that was live before.' : '';
  const advice = 'Correct the agent and push, or press Rollback where a former revision is known.';
  await keep(work, [ended(intent, { kind: 'broken', reason: `${said}. It is live.${why}`, advice }, now)]);
  return moved;
}

const goingBack = (intent: Intent, revisionId: string, at: number): Wish =>
  wishLike(intent, {
    commit: intent.commit,
    sending: { kind: 'redeploy', revisionId },
    cause: { kind: 'failure', key: intent.id, at },
  });

/** Another revision serves by now: whatever was proven is not about what serves. */
async function replaced(work: Work, intent: Intent, { deployment, live }: Sight): Promise<Came> {
  const by = deployment.active_revision_id ?? 'none';
  const commit = live?.commit;
  const contains = commit && (await mayContain(work, intent.repository, intent.commit, commit));
  const done = ended(
    intent,
    {
      kind: 'superseded',
      reason: `Revision ${intent.revisionId} was live, and revision ${by} took its place before it was proven.`,
      ...(commit ? { by: { commit, contains: contains || undefined } } : {}),
    },
    work.world.clock.now(),
  );
  await keep(work, [done]);
  return moved;
}

/**
 * A head that a person went back from is wished for: it is not built, and its check, which may still be green, says why.
 */
async function headGoneBackFrom(work: Work, done: Intent): Promise<Wish[]> {
  if (done.cause.kind !== 'rollback') return [];
  const { rolledBackCommit: rolledBack } = await work.world.store.lane(done.deploymentId);
  if (rolledBack === undefined) return [];
  const head = await headOf(work, done);
  if (!head || !sameCommit(head.sha, rolledBack)) return [];
  return [wishAfter(done, head.sha, work.world.clock.now())];
}
