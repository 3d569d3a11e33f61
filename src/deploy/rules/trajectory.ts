import { deepCompareStrict } from '@cfworker/json-schema';
import { readMessage } from '../file/written-trajectory.ts';
import type { ReferenceTrajectory, ToolCall, TrajectoryMessage } from '../file/smoke-test.ts';
import { isObject } from '../../kit/json-object.ts';
import type { TextFormatter } from '../words/format-expectation.ts';
import type { CheckResult } from './expectation-value.ts';
import { unseen } from '../words/unseen.ts';

// The rules of the package `agentevals` (createTrajectoryMatchEvaluator) without its models, whose one entry point
// loads a megabyte. Messages of LangChain and of OpenAI are read alike.

/** More is not compared: each call is held against each. */
const maxMessages = 1_000;
const maxCalls = 500;

/** Holds the messages that were found at the path to the reference. */
export function checkTrajectory(
  reference: ReferenceTrajectory,
  found: readonly unknown[],
  words: TextFormatter,
): CheckResult {
  const list = found.length === 1 && Array.isArray(found[0]) ? found[0] : found;
  if (list.length === 0) return { held: false, seen: unseen.noMessages };
  if (list.length > maxMessages) return { held: false, seen: unseen.tooManyMessages(list.length) };
  const read = list.map(readMessage);
  const messages = read.flatMap((message) => message ?? []);
  if (messages.length < read.length) return { held: false, seen: unseen.noMessage };
  if (callsOf(messages).length > maxCalls) return { held: false, seen: unseen.tooManyCalls };
  const seen =
    reference.mode === 'strict'
      ? words.nodes(messages.map(messageWords), ' → ')
      : `calls ${words.nodes(callsOf(messages).map(callWords), ', ')}`;
  return { held: isMatch(reference, messages), seen };
}

const messageWords = ({ role, calls }: TrajectoryMessage): string =>
  calls.length === 0 ? role : `${role} (${calls.map(callWords).join(', ')})`;

const callWords = ({ name, args }: ToolCall): string => `${name} ${JSON.stringify(args)}`;

const callsOf = (messages: readonly TrajectoryMessage[]): ToolCall[] => messages.flatMap(({ calls }) => calls);

function isMatch({ mode, args, messages: expected }: ReferenceTrajectory, seen: readonly TrajectoryMessage[]): boolean {
  const matches = argumentsMatch[args];
  const [all, wanted] = [callsOf(seen), callsOf(expected)];
  const isSuperset = (): boolean => covers(all, wanted, (call, of) => matches(call.args, of.args));
  // As there: the roles of the two are swapped, those of the arguments with them.
  const isSubset = (): boolean => covers(wanted, all, (call, of) => matches(call.args, of.args));
  switch (mode) {
    case 'superset':
      return isSuperset();
    case 'subset':
      return isSubset();
    case 'unordered':
      return isSuperset() && isSubset();
    case 'strict':
      return (
        seen.length === expected.length &&
        seen.every(({ role, calls }, index) => {
          const other = expected[index];
          const isSame = other?.role === role && other.calls.length === calls.length;
          return isSame && covers(other.calls, calls, (reference, call) => matches(call.args, reference.args));
        })
      );
  }
}

/** Whether each of the wanted calls is found among all, each of which serves for one. */
function covers(
  all: readonly ToolCall[],
  wanted: readonly ToolCall[],
  matches: (call: ToolCall, wanted: ToolCall) => boolean,
): boolean {
  const used = new Set<number>();
  return wanted.every((call) => {
    const at = all.findIndex((each, index) => !used.has(index) && each.name === call.name && matches(each, call));
    used.add(at);
    return at !== -1;
  });
}

const equal = (one: unknown, other: unknown): boolean => deepCompareStrict(one, other);

/** Every argument of the one is the same in the other. */
const isWithin = (one: unknown, other: unknown): boolean =>
  isObject(one) && isObject(other)
    ? Object.entries(one).every(([key, value]) => Object.hasOwn(other, key) && equal(other[key], value))
    : equal(one, other);

const argumentsMatch: Record<ReferenceTrajectory['args'], (seen: unknown, reference: unknown) => boolean> = {
  exact: equal,
  ignore: () => true,
  subset: isWithin,
  superset: (seen, reference) => isWithin(reference, seen),
};
