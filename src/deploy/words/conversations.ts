import type { ConversationResult } from '../rules/conversation-verdict.ts';
import type { ConversationProblem } from '../rules/conversations.ts';
import { createFormatter } from './format-expectation.ts';
import { counted } from './verdict-table/words.ts';

export const goOnExpected = 'each conversation goes on';
export const checksExpected = 'each conversation can be checked';

export const whyDisagreeing = 'one of two tries failed, and the other did not';
export const whyLate = 'the time for all conversations together was over';
export const whyLost = 'the process ended before they were tried, several times';

/** Why a verdict on conversations is unproven; `first` is one that could not be checked. */
export const whyUnchecked = (unchecked: number, all: number, first: { threadId: string; why: string }): string =>
  `${unchecked} of ${counted(all, 'conversation')} could not be checked, such as thread ${first.threadId}: ${first.why}`;

const howItGoesOn = {
  message: 'by another message',
  resume: 'by a resume',
  interrupt: 'up to their interrupt',
  'next-node': 'by their next node',
  state: 'by their state alone',
} as const;

/** How the conversations go on that do. */
export function goingOn(results: readonly Extract<ConversationResult, { kind: 'goes-on' }>[]): string {
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

/** The names in a problem were redacted when it was found. */
const words = createFormatter((text) => text);

/** What is wrong with one conversation. */
export const brokenThread = (threadId: string, problems: readonly ConversationProblem[]): string =>
  `thread ${threadId}: ${problems.map((problem) => problemWords(problem)).join('; ')}`;

function problemWords(problem: ConversationProblem): string {
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
