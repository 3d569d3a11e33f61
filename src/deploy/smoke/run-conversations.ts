import type { ConversationSides } from '../rules/conversations.ts';
import type { ConversationServer } from '../../contract/agent/service.ts';
import { unreadConversations } from '../rules/conversation-verdict.ts';
import type { NamedVerdict, Verdict } from '../rules/verdict-types.ts';
import { concludeAll } from '../rules/verdict.ts';
import { checkConversations, recordConversations, type ConversationCheck } from './conversations.ts';
import type { DeployRun } from '../machine/deploy-run.ts';
import { clientAt, liveAddress } from '../machine/live-address.ts';
import { productionAgent } from '../machine/production.ts';

/** Reads the newest conversations of the live revision, for a check once another one serves in its place. */
export async function rememberConversations(run: DeployRun, until?: number): Promise<void> {
  const check = checkOf(run, until);
  const { known } = run;
  const isPreview = run.request.previewRun !== undefined;
  if (!check || (!isPreview && !known.deployment?.active_revision_id)) return;
  const live = isPreview ? await productionAgent(run, (agents) => agents.threadsAt) : liveServer(run);
  // Nothing is live that could have conversations.
  if (isPreview && !live) return;
  known.conversations = live
    ? await recordConversations(live, check)
    : { ok: false, verdict: unreadConversations('no-address', 'the service does not report where the agent answers') };
}

/**
 * Adds the verdict on the conversations of a held revision to that of its smoke tests, while the former one serves.
 *
 * @param until when it must have come to an end (ms since the epoch).
 */
export async function withConversationsHeld(
  tested: Verdict,
  { address, until }: { address: string; until: number },
  run: DeployRun,
): Promise<Verdict> {
  if (tested.kind === 'failed') return tested;
  // As they are now: those that were read before the build may have gone on.
  await rememberConversations(run, until);
  const changed = run.request.threadsAt?.(address);
  return withConversations(tested, { changed, live: liveServer(run), until }, run);
}

/** The same of a revision that serves. Unless it is a preview, nothing else does, so that a failed run can't be compared. */
export async function withConversationsLive(tested: Verdict, run: DeployRun): Promise<Verdict> {
  const live = run.known.conversations ? await productionAgent(run, (agents) => agents.threadsAt) : undefined;
  return withConversations(tested, { changed: liveServer(run), live }, run);
}

async function withConversations(
  tested: Verdict,
  {
    changed,
    live,
    until,
  }: { changed: ConversationServer | undefined; live: ConversationServer | undefined; until?: number },
  run: DeployRun,
): Promise<Verdict> {
  const { conversations } = run.known;
  // A rollback has no conversations of its own.
  run.known.conversations = undefined;
  const check = checkOf(run, until);
  if (!check || !conversations || tested.kind === 'failed') return tested;
  const verdict = changed
    ? await checkConversations(conversations, { changed, live }, check)
    : unreadConversations('no-address', 'the service does not report where the agent answers');
  if (!verdict) return tested;
  emitTested(verdict, run);
  return concludeAll([...tested.tests, verdict]);
}

const emitTested = (tested: NamedVerdict, run: DeployRun): void => run.emit({ kind: 'smoke-tested', tested });

function checkOf(run: DeployRun, until?: number): ConversationCheck | undefined {
  const { conversations: terms, clock, signal, judge } = run.request;
  if (!terms) return undefined;
  return {
    terms,
    clock,
    signal,
    until,
    ...(judge && { compare: (sides: ConversationSides) => judge.compareStates(sides) }),
    note: (text) => run.note({ code: 'smoke-tests', text }),
    redact: (text) => run.redact(text),
  };
}

const liveServer = (run: DeployRun): ConversationServer | undefined =>
  clientAt(liveAddress(run), run.request.threadsAt);
