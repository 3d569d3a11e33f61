import type { ConversationServer } from '../../contract/agent/service.ts';
import { type ConversationCourse, endedOf } from '../rules/conversation-course.ts';
import type { ConversationSides } from '../rules/conversations.ts';
import type { Verdict } from '../rules/verdict-types.ts';
import { recordConversations, type ConversationCheck, type RecordedConversations } from './conversations.ts';
import { checkConversations, newCourse, withConversations, withoutAddress, withVerdict } from './converse.ts';
import type { DeployRun } from '../machine/deploy-run.ts';
import { productionAgent, clientAt, liveAddress } from '../machine/live-agents.ts';

/** How far the conversations are that an earlier run began, and what keeps how far they come. */
export interface GoingOn extends Pick<ConversationCheck, 'keep'> {
  course?: ConversationCourse | undefined;
}

/** Reads the newest conversations of the live revision, for a check once another one serves in its place. */
export async function rememberConversations(run: DeployRun): Promise<void> {
  const check = checkOf(run);
  const { known } = run;
  const isPreview = run.request.previewRun !== undefined;
  if (!check || (!isPreview && !known.deployment?.active_revision_id)) return;
  const live = isPreview ? await productionAgent(run, (agents) => agents.threadsAt) : liveServer(run);
  // Nothing is live that could have conversations.
  if (isPreview && !live) return;
  known.conversations = live ? await recordConversations(live, check) : { ok: false, verdict: withoutAddress };
}

/** Whether conversations are tried after the tests of a held revision. */
export const triesConversationsHeld = ({ kind }: Verdict, { request, known }: DeployRun): boolean =>
  kind !== 'failed' && request.conversations !== undefined && known.deployment?.active_revision_id != null;

/**
 * Adds the verdict on the conversations of a held revision to that of its smoke tests, while the former one serves.
 *
 * @param held.until when it must have come to an end (ms since the epoch).
 */
export async function withConversationsHeld(
  tested: Verdict,
  { address, until, course = newCourse(), keep }: GoingOn & { address: string; until: number },
  run: DeployRun,
): Promise<Verdict> {
  const check = checkOf(run, { until, keep });
  if (!check || !triesConversationsHeld(tested, run)) return tested;
  // As they are now: those that were read before the build may have gone on.
  run.known.conversations = undefined;
  const triedBy = async () => ({ ...check, changed: run.request.threadsAt?.(address), live: liveServer(run) });
  return withConversations(tested.tests, course, triedBy);
}

/** The same of a revision that serves. Unless it is a preview, nothing else does, so that a failed run can't be compared. */
export async function withConversationsLive(
  tested: Verdict,
  run: DeployRun,
  { course, keep }: GoingOn,
): Promise<Verdict> {
  const { conversations } = run.known;
  // A rollback has no conversations of its own.
  run.known.conversations = undefined;
  const check = checkOf(run, { keep });
  if (!check || !(conversations ?? course) || tested.kind === 'failed') return tested;
  const live = await productionAgent(run, (agents) => agents.threadsAt);
  const recorded = conversations ?? (course && (await remembered(course, live, check, run)));
  if (!recorded) return tested;
  const changed = liveServer(run);
  const verdict = changed ? await checkConversations(recorded, { changed, live }, check) : withoutAddress;
  return withVerdict(tested, verdict, check);
}

/** What is left of an earlier run's conversations: all where the former revision serves, else those that have ended. */
async function remembered(
  course: ConversationCourse,
  live: ConversationServer | undefined,
  check: ConversationCheck,
  run: DeployRun,
): Promise<RecordedConversations | undefined> {
  if (live) return recordConversations(live, check, course);
  const left = endedOf(course);
  const [all, ended] = [course, left].map(({ conversations = [] }) => conversations.length);
  const open = (all ?? 0) - (ended ?? 0);
  if (open > 0) run.note({ code: 'conversations-forgotten', ...(ended ? { open } : {}) });
  return ended || open === 0 ? { ok: true, conversations: [], course: left } : undefined;
}

function checkOf(run: DeployRun, more: Pick<ConversationCheck, 'until' | 'keep'> = {}): ConversationCheck | undefined {
  const { conversations: terms, clock, signal, judge } = run.request;
  if (!terms) return undefined;
  return {
    terms,
    clock,
    signal,
    ...more,
    emit: (event) => run.emit(event),
    ...(judge && { compare: (sides: ConversationSides) => judge.compareStates(sides) }),
    note: (text) => run.note({ code: 'smoke-tests', text }),
    redact: (text) => run.redact(text),
  };
}

const liveServer = (run: DeployRun): ConversationServer | undefined =>
  clientAt(liveAddress(run), run.request.threadsAt);
