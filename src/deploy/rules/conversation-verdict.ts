import type { ConversationProblem } from './conversations.ts';
import type { Redact } from '../words/format-expectation.ts';
import { createFormatter } from '../words/format-expectation.ts';
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
const mostShown = 20;

const expectation = { kind: 'goes-on' } as const;

const howItGoesOn = {
  message: 'by another message',
  resume: 'by a resume',
  interrupt: 'up to their interrupt',
  'next-node': 'by their next node',
  state: 'by their state alone',
} as const;

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
  redact: Redact,
): NamedVerdict | undefined {
  const broken = results.filter((each) => each.kind === 'broken');
  const unchecked = results.filter((each) => each.kind === 'unchecked');
  const goOn = results.filter((each) => each.kind === 'goes-on');
  const [first] = unchecked;
  if (broken.length === 0 && first) {
    const why = `${unchecked.length} of ${counted(results.length, 'conversation')} could not be checked, such as thread ${first.threadId}: ${redact(first.why)}`;
    return { name, attempts: results.length, verdict: { kind: 'unproven', because: first.because, why } };
  }
  if (broken.length === 0 && goOn.length === 0) return undefined;
  const held: ExpectationResult[] = broken.slice(0, mostShown).map(({ threadId, problems }) => ({
    expectation,
    held: false,
    expected: 'each conversation goes on',
    seen: `thread ${threadId}: ${problems.map((problem) => wordsOf(problem, redact)).join('; ')}`,
  }));
  if (broken.length > mostShown) {
    const seen = counted(broken.length - mostShown, 'more thread');
    held.push({ expectation, held: false, expected: 'each conversation goes on', seen });
  }
  if (goOn.length > 0) held.push({ expectation, held: true, expected: goingOn(goOn), seen: notCounted(results) });
  else if (unchecked.length > 0)
    held.push({ expectation, held: false, expected: 'each conversation can be checked', seen: notCounted(results) });
  const kind = broken.length > 0 ? 'failed' : 'passed';
  return { name, attempts: results.length, verdict: { kind, held, firstEventMs: undefined, totalMs } };
}

function goingOn(results: readonly Extract<ConversationResult, { kind: 'goes-on' }>[]): string {
  const ways = Object.entries(howItGoesOn).flatMap(([by, words]) => {
    const count = results.filter((each) => each.by === by).length;
    return count === 0 ? [] : [`${count} ${words}`];
  });
  return `${counted(results.length, 'conversation goes', 'conversations go')} on: ${ways.join(', ')}`;
}

/** The conversations that are neither broken nor go on. */
export function notCounted(results: readonly ConversationResult[]): string {
  const count = (kind: ConversationResult['kind']): number => results.filter((each) => each.kind === kind).length;
  const parts = [
    [count('broken-before'), 'fails on the live revision as well', 'fail on the live revision as well'],
    [count('moved-on'), 'was changed or deleted meanwhile', 'were changed or deleted meanwhile'],
    [count('unchecked'), 'could not be checked', 'could not be checked'],
  ] as const;
  return parts.flatMap(([many, one, more]) => (many === 0 ? [] : [counted(many, one, more)])).join(', ');
}

function wordsOf(problem: ConversationProblem, redact: Redact): string {
  const words = createFormatter(redact);
  const named = (written: string): string => `\`${words.text(written, 80)}\``;
  switch (problem.kind) {
    case 'no-graph':
      return `the new revision does not have its graph ${named(problem.graph)}`;
    case 'no-state':
      return `its state can't be loaded (${problem.status})`;
    case 'no-node':
      return `its next step is the node ${named(problem.node)}, which the new revision does not have`;
    case 'not-pending':
      return `its next step, the node ${named(problem.node)}, is no longer pending in the new revision`;
    case 'no-channel':
      return `its state has the channel ${named(problem.channel)}, which the new revision does not have`;
    case 'other-type': {
      const { channel, is, mustBe } = problem;
      if (mustBe === undefined)
        return `the channel ${named(channel)} of its state does not fit the schema of the new revision`;
      return `the channel ${named(channel)} of its state is of the type ${is}, and of ${words.text(mustBe, 40)} in the new revision`;
    }
    case 'no-interrupt':
      return `the node ${named(problem.node)} does not stop with its interrupt any more`;
    case 'other-interrupt': {
      const fields = problem.fields.map(named).join(', ');
      return `the interrupt of the node ${named(problem.node)} has another shape${fields ? `, missing or of another type: ${fields}` : ''}`;
    }
    case 'run-failed':
      return `${stepWords[problem.step]} ends with ${named(problem.error)}`;
  }
}

const stepWords = {
  message: 'another message',
  interrupt: 'the way to its interrupt',
  resume: 'a resume',
  'next-node': 'its next node',
} as const;
