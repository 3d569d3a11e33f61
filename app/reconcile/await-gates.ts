import { isDeepStrictEqual } from 'node:util';
import { decideGate, type GateDecision } from '../../src/deploy/machine/gate.ts';
import { checksBefore, decideChecks, nextLookAtChecks } from './await-checks.ts';
import type { Intent, UnsentIntent } from './intent.ts';
import { withNotes } from './live-answers.ts';
import { saveIntents, type ReconcileContext, type StepResult } from './reconcile-context.ts';

/** Whether a request may be sent now, and the request with what is to be said of that. */
interface Gated {
  gate: GateDecision;
  intent: UnsentIntent;
}

/** Decides whether a request may be sent now, by its checks and the gates of its environment. */
export async function decideGates(work: ReconcileContext, intent: UnsentIntent): Promise<Gated> {
  const checks = await decideChecks(work, intent);
  if (checks.kind !== 'pass' || needsNoGate(intent)) return { gate: checks, intent };
  const { cause, terms, repository, branch, createdAt, approvals = [] } = intent;
  const { githubApi, clock } = work.context;
  const { name: environment } = terms.environment;
  const read = await githubApi.environmentProtection(repository, environment, branch);
  const { gate, isGateUnknown } = terms;
  const protection = read.kind === 'protected' ? read.protection : undefined;
  const gates = { gate, isGateUnknown, ignoresFreeze: cause.ignoresFreeze, protection };
  const request = { environment, branch, requestedAt: createdAt, approvals };
  return {
    gate: decideGate(gates, request, clock.now()),
    // An installation that is older than the permission to read environments goes on as before.
    intent: read.kind === 'unread' ? withNotes(intent, [{ code: 'protection-unread', environment }]) : intent,
  };
}

/** A service that builds pushes by itself waits for nobody, nor when the App catches up with a push that it missed. */
const needsNoGate = ({ cause: { kind }, terms }: Intent): boolean =>
  terms.builder === 'service' && (kind === 'push' || kind === 'recovery');

type ShutGate = Extract<GateDecision, { kind: 'await' }>;

/** How often to look whether a gate is still shut (ms): its rules, or this machine's clock, may have changed. */
const frozenLookMs = 60 * 60_000;
const protectedLookMs = 10 * 60_000;

/** How often the environment before is looked at while it is changing (ms). */
const earlierMs = 20_000;

/** How long such a look may be refused (ms) before that counts, and how old the last one that is stored may be. */
const earlierRefusedMs = 10 * 60_000;
const earlierStoredMs = earlierRefusedMs / 2;

/** When to look again (ms since the epoch), without an event. */
function nextLook(intent: UnsentIntent, decision: ShutGate, now: number): number {
  switch (decision.code) {
    case 'checks':
      return nextLookAtChecks(intent, now);
    case 'frozen':
      return Math.min(now + frozenLookMs, decision.until ?? Infinity);
    case 'reviewers':
      return now + protectedLookMs;
    case 'wait-timer':
      return Math.min(now + protectedLookMs, decision.until);
    case 'earlier':
      return now + earlierMs;
  }
}

/**
 * From when on what a request needs is tried for a limited time (ms since the epoch): since it was made, or since it has
 * waited. While it waits for people or a date, that time has not begun.
 */
export function triedSince(intent: Intent): number {
  const { state, decision, createdAt, waitedUntil = createdAt } = intent;
  if (state !== 'waiting' || decision?.kind !== 'await') return waitedUntil;
  switch (decision.code) {
    case 'checks':
      return createdAt + (checksBefore(intent)?.timeoutMs ?? 0);
    case 'frozen':
    case 'wait-timer':
      return decision.until ?? Infinity;
    case 'reviewers':
      return Infinity;
    case 'earlier':
      return waitedUntil + earlierStoredMs + earlierRefusedMs;
  }
}

/** How long after the time of a look it may be (ms), so that not all look at once. */
const jitterMs = 10_000;

/** Waits, and shows for what: until an event, or until it is time to look. */
export async function awaitGate(work: ReconcileContext, intent: UnsentIntent, decision: ShutGate): Promise<StepResult> {
  const { clock, random } = work.context;
  const now = clock.now();
  const isShown = intent.state === 'waiting' && isDeepStrictEqual(intent.decision, decision);
  const { createdAt, waitedUntil = createdAt } = intent;
  const hasLooked = decision.code === 'earlier' && now - waitedUntil > earlierStoredMs;
  if (!isShown || hasLooked)
    await saveIntents(work, [{ ...intent, state: 'waiting', decision, ...(hasLooked ? { waitedUntil: now } : {}) }]);
  const until = Math.max(now + 1_000, nextLook(intent, decision, now)) + Math.round(random() * jitterMs);
  return { kind: 'requeue', until };
}
