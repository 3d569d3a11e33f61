import type { ConversationProblem } from './conversations.ts';
import {
  brokenThread,
  checksExpected,
  goingOn,
  goOnExpected,
  notCounted,
  whyUnchecked,
} from '../words/conversations.ts';
import { counted } from '../words/verdict-table/words.ts';
import { conversationsTest } from '../file/smoke-test.ts';
import type { NamedVerdict, ExpectationResult, UnprovenReason } from './verdict-types.ts';

/** What the check of one conversation came to. */
export type ConversationResult = { threadId: string } & (
  | { kind: 'goes-on'; by: 'message' | 'resume' | 'interrupt' | 'next-node' | 'state' }
  | { kind: 'broken'; problems: readonly ConversationProblem[] }
  /** It fails on the live revision as well. */
  | { kind: 'broken-before' }
  /** It was changed or deleted since its state was read on the live revision. */
  | { kind: 'moved-on' }
  | { kind: 'unchecked'; because: UnprovenReason; why: string }
);

const name = conversationsTest;
/** How many broken conversations a verdict names. */
const maxShown = 20;

const expectation = { kind: 'goes-on' } as const;

/** The verdict if the conversations could not be read at all. */
export const unreadConversations = (because: UnprovenReason, why: string): NamedVerdict => ({
  name,
  attempts: 0,
  verdict: { kind: 'unproven', because, why },
});

/**
 * The verdict on all conversations: failed where one is broken, else unproven where one could not be checked. Undefined
 * where there was none to check.
 */
export function concludeConversations(
  results: readonly ConversationResult[],
  totalMs: number,
): NamedVerdict | undefined {
  const broken = results.filter((each) => each.kind === 'broken');
  const unchecked = results.filter((each) => each.kind === 'unchecked');
  const goOn = results.filter((each) => each.kind === 'goes-on');
  const [first] = unchecked;
  if (broken.length === 0 && first) {
    const why = whyUnchecked(unchecked.length, results.length, first);
    return { name, attempts: results.length, verdict: { kind: 'unproven', because: first.because, why } };
  }
  if (broken.length === 0 && goOn.length === 0) return undefined;
  const held: ExpectationResult[] = broken.slice(0, maxShown).map(({ threadId, problems }) => ({
    expectation,
    held: false,
    expected: goOnExpected,
    seen: brokenThread(threadId, problems),
  }));
  if (broken.length > maxShown) {
    const seen = counted(broken.length - maxShown, 'more thread');
    held.push({ expectation, held: false, expected: goOnExpected, seen });
  }
  if (goOn.length > 0) held.push({ expectation, held: true, expected: goingOn(goOn), seen: notCounted(results) });
  else if (unchecked.length > 0)
    held.push({ expectation, held: false, expected: checksExpected, seen: notCounted(results) });
  const kind = broken.length > 0 ? 'failed' : 'passed';
  return { name, attempts: results.length, verdict: { kind, held, firstEventMs: undefined, totalMs } };
}
