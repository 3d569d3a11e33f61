import { isNotOffered, isTransient } from '../../contract/service-error.ts';
import { sameCommit } from '../../contract/control/repo-ref.ts';
import { isOtherCommit } from '../rules/commit.ts';
import type { ConversationCourse } from '../rules/conversation-course.ts';
import type { EndedRollout, Rollout } from '../rules/rollout-types.ts';
import type { Verdict } from '../rules/verdict-types.ts';
import { lastLogLines } from '../smoke/log-lines.ts';
import { askLive, concludeLive, keepAnswers, smokeLive } from '../smoke/smoke.ts';
import { tryCall } from '../smoke/try-call.ts';
import { keyOf } from './bind-plan.ts';
import type { DeployRun } from './deploy-run.ts';
import type { Deploy, DeployIn, Ending, OpenState, RunRevision } from './deploy-state.ts';
import { resolvePrepared, sendPrepared } from './make-change.ts';
import { measureLive } from './measure-live.ts';
import { next, type Seen } from './next.ts';
import { prepareFolder } from './prepare-change.ts';
import { findRestored, followRestored, restoreFormer } from './roll-back.ts';
import { startDeploy } from './start-deploy.ts';
import type { TestResult } from './state.ts';
import { decideAboutHeld, decidingUntil, testHeld, verificationOf } from './verify-held.ts';
import { watchRevision, watchUntilHeld } from './watch.ts';
import { successorOf } from './steps/read-deployment.ts';

type Steps = { [State in OpenState]: (deploy: DeployIn<State>, run: DeployRun) => Promise<Seen[State]> };

const steps: Steps = {
  requested: startDeploy,
  filling: prepareFolder,
  measuring: async ({ prepared }, run) => {
    await measureLive(run);
    return { kind: 'measured', key: keyOf(prepared, run) };
  },
  sending: sendPrepared,
  resolving: resolvePrepared,
  following: follow,
  held: testHeld,
  deciding: decideAboutHeld,
  decided: ({ own, result }, run) =>
    followToEnd(own, run, result || own.holdSeconds !== undefined ? decidingUntil(run) : run.deadline),
  live: testOnceLive,
  serving: testServing,
  restoring: restoreFormer,
  returning: followRestored,
};

/** Carries a deploy on to its end, one kept state after the other. */
export async function carryOn(begun: Deploy, run: DeployRun): Promise<Ending> {
  let deploy = begun;
  while (deploy.state !== 'ended') {
    run.deploy = deploy;
    await run.keep(deploy);
    deploy = await step(deploy, run);
  }
  return deploy.ending;
}

const step = async <State extends OpenState>(deploy: DeployIn<State>, run: DeployRun): Promise<Deploy> =>
  next(deploy, await steps[deploy.state](deploy, run));

/** Follows the revision, until it waits for its tests at the latest. */
async function follow({ own }: DeployIn<'following'>, run: DeployRun): Promise<Seen['following']> {
  const { deploymentId, revisionId, how, holdSeconds } = own;
  run.emit({ kind: 'started', how, deploymentId, revisionId });
  if (!run.request.wait) return { kind: 'ends', ending: { kind: 'started' } };
  // A hold that this deploy requested has to be decided, also where nothing is tested before traffic any more.
  if (holdSeconds === undefined && (await verificationOf(run)).when === 'after-traffic') return followToEnd(own, run);
  const seen = await watchUntilHeld(watched(own, run), run);
  if (seen.kind !== 'in-progress') return atEnd(own, seen, run);
  if (isOtherCommit(run.known.commit, seen.builtCommit)) {
    return { kind: 'decides', decision: 'discarded', result: undefined };
  }
  const { address, endsAt } = seen.hold;
  return { kind: 'held', address, endsAt };
}

const followToEnd = async (own: RunRevision, run: DeployRun, deadline = run.deadline): Promise<Seen['decided']> =>
  atEnd(own, await watchRevision({ ...watched(own, run), deadline }, run), run);

function watched({ deploymentId, revisionId }: RunRevision, { known, deadline, record }: DeployRun) {
  const seen = known.rollout?.revisionId === revisionId ? known.rollout.seen : undefined;
  return { deploymentId, revisionId, deadline, seen, record };
}

async function atEnd(own: RunRevision, rollout: EndedRollout, run: DeployRun): Promise<Seen['decided']> {
  const { deploymentId, revisionId } = own;
  const { known } = run;
  if (rollout.kind === 'live') return { kind: 'live' };
  const successor = rollout.kind === 'superseded' ? await sameSuccessor(deploymentId, rollout, run) : undefined;
  if (successor !== undefined) {
    // These are of the superseded revision.
    for (const field of ['before', 'rollout'] as const) delete known[field];
    return { kind: 'follows', own: { deploymentId, revisionId: successor, how: 'adopted' } };
  }
  if (rollout.kind === 'failed' || rollout.kind === 'timed-out') {
    known.logs = await lastLogLines(deploymentId, revisionId, {
      control: run.request.control,
      options: () => run.reading(Infinity),
      lines: 50,
      characters: 2_000,
      redact: (text, most) => run.redactStart(text, most),
      missed: (log, error) =>
        run.note({ code: 'log-unread', log, ...(!isNotOffered(error) && { text: error.message }) }),
    });
  }
  return { kind: 'ends', ending: { kind: 'followed' } };
}

/** The revision of the same commit that took the place of the followed one; waits while its commit is not reported. */
async function sameSuccessor(
  deploymentId: string,
  rollout: Extract<Rollout, { kind: 'superseded' }>,
  run: DeployRun,
): Promise<string | undefined> {
  const { control, clock } = run.request;
  const commit = run.known.commit?.kind === 'known' ? run.known.commit.sha : undefined;
  if (!commit) return undefined;
  for (;;) {
    const found = await tryCall(successorOf(deploymentId, rollout, { control, options: () => run.reading() }));
    if (found.ok && sameCommit(found.value.commit, commit)) return found.value.id;
    const mayStillAppear = found.ok ? found.value.mayReport : isTransient(found.error);
    if (!mayStillAppear || clock.now() >= run.deadline) return undefined;
    await run.untilNextPoll(run.deadline, found.ok ? 0 : found.error.retryAfterMs);
  }
}

/** Tests a revision that serves, unless it was tested before, and decides whether it is taken back. */
async function testOnceLive(live: DeployIn<'live'>, run: DeployRun): Promise<Seen['live']> {
  const { known } = run;
  const { own, result: before } = live;
  const tested = before ?? live.tested ?? (await askLive(run, own.revisionId));
  const areForgotten = !known.conversations && !live.conversations && run.request.kept && run.request.conversations;
  if (!before && !live.tested && known.conversations && tested.verdict.kind !== 'failed')
    return { kind: 'tested', tested };
  const keep = (conversations: ConversationCourse) => run.keep({ ...live, tested, conversations });
  const { verdict, current } = before
    ? { verdict: before.verdict, current: known.deployment && ({ ok: true, value: known.deployment } as const) }
    : await concludeLive(tested, own.revisionId, run, { course: live.conversations, keep });
  const result = before ?? foundLive(verdict);
  run.deploy = { ...live, result };
  if (before) keepAnswers(before, own, run);
  if (!before && areForgotten) run.note({ code: 'conversations-forgotten' });
  const restored = verdict.kind === 'failed' ? await findRestored(own, current, run) : undefined;
  if (restored && 'state' in restored) return { kind: 'restores', result, restoring: restored };
  known.rollback = restored;
  return { kind: 'ends', ending: { kind: 'followed' } };
}

const foundLive = (verdict: Verdict): TestResult =>
  verdict.kind === 'none' ? { verdict } : { verdict, verified: 'after-traffic' };

/** Tests the revision that goes on serving. This run did not make it, and only says why it takes nothing back. */
async function testServing(serving: DeployIn<'serving'>, run: DeployRun): Promise<Seen['serving']> {
  const { known, request } = run;
  const ends = { kind: 'ends', ending: { kind: 'kept' } } as const;
  if (!request.wait) return ends;
  const { verdict, current } = await smokeLive(run, known.deployment?.active_revision_id);
  run.deploy = { ...serving, result: foundLive(verdict) };
  const restored = verdict.kind === 'failed' ? await findRestored(undefined, current, run) : undefined;
  if (restored && !('state' in restored)) known.rollback = restored;
  return ends;
}
