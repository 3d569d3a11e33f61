import type { ConversationTerms } from '../file/conversations.ts';
import { schemaFaults, type SchemaObject } from '../file/json-schema.ts';
import type { Thread, ThreadState } from '../../contract/agent/thread.ts';
import { isObject } from '../../kit/json-object.ts';
import { isCheckable, schemaMismatch } from './expectation-schema.ts';
import { createFormatter } from '../words/format-expectation.ts';

/** An interrupt that a conversation waits in. */
export interface PendingInterrupt {
  node: string;
  id: string | undefined;
  value: unknown;
}

/** What of a thread's state decides whether it goes on. */
export interface ConversationState {
  values: unknown;
  next: readonly string[];
  interrupts: readonly PendingInterrupt[];
}

/** What a revision reports of a graph; undefined parts are not reported. */
export interface GraphShape {
  nodes: readonly string[] | undefined;
  stateSchema: SchemaObject | undefined;
}

/** What is wrong with a conversation in the new revision. Only names of the agent's own code, never a value. */
export type ConversationProblem =
  | { kind: 'no-graph'; graph: string }
  | { kind: 'no-state'; status: string }
  | { kind: 'no-node'; node: string }
  | { kind: 'not-pending'; node: string }
  | { kind: 'no-channel'; channel: string }
  | { kind: 'other-type'; channel: string; is: string; mustBe: string | undefined }
  | { kind: 'no-interrupt'; node: string }
  | { kind: 'other-interrupt'; node: string; fields: readonly string[] }
  | { kind: 'run-failed'; step: 'message' | 'interrupt' | 'resume' | 'next-node'; error: string };

/** A problem without secrets in the names that are part of it. */
export function redactedProblem(problem: ConversationProblem, redact: (text: string) => string): ConversationProblem {
  switch (problem.kind) {
    case 'no-graph':
      return { ...problem, graph: redact(problem.graph) };
    case 'no-node':
    case 'not-pending':
    case 'no-interrupt':
      return { ...problem, node: redact(problem.node) };
    case 'other-interrupt':
      return { ...problem, node: redact(problem.node), fields: problem.fields.map(redact) };
    case 'no-channel':
      return { ...problem, channel: redact(problem.channel) };
    case 'other-type':
      return { ...problem, channel: redact(problem.channel), mustBe: problem.mustBe && redact(problem.mustBe) };
    case 'run-failed':
      return { ...problem, error: redact(problem.error) };
    case 'no-state':
      return problem;
  }
}

/** Stands for a value that is too large to be kept: it is known to be there, and its type is not checked. */
const notKept = { landfall_too_large: true };
/** By its content: states may be compared on another thread. */
const isNotKept = (value: unknown): boolean => isObject(value) && value['landfall_too_large'] === true;

/** The part of a state that is compared. Of many states much would be kept, so a long list is represented by one member. */
export function conversationState({ values, next, tasks }: ThreadState): ConversationState {
  const kept = isObject(values)
    ? Object.fromEntries(Object.entries(values).map(([channel, value]) => [channel, shortened(value)]))
    : shortened(values);
  return {
    values: kept,
    next,
    interrupts: (tasks ?? []).flatMap(({ name, interrupts }) =>
      (interrupts ?? []).flatMap((each): PendingInterrupt[] => {
        if (!isObject(each)) return [];
        const value = isCheckable(each['value']) ? each['value'] : notKept;
        return [{ node: name, id: typeof each['id'] === 'string' ? each['id'] : undefined, value }];
      }),
    ),
  };
}

function shortened(value: unknown): unknown {
  if (isCheckable(value)) return value;
  const one: unknown = Array.isArray(value) ? (value.findLast(isOfPerson) ?? value.at(-1)) : undefined;
  return one !== undefined && isCheckable(one) ? [one] : notKept;
}

/** What marks a thread as a copy of ours. */
export const copyMark = { landfall_copy: true };
/** The key beside it: until when (ISO 8601) the copy may be in use. */
const untilKey = 'landfall_copy_until';
/** The key of the course that the copy was made for: in the App the id of its intent. */
export const courseMark = 'landfall_intent';

/** The metadata of a copy for a course that is in use until then (ms since the epoch). */
export const markOfCopy = (courseId: string, until: number): object => ({
  ...copyMark,
  [courseMark]: courseId,
  [untilKey]: new Date(until).toISOString(),
});

/** Of two pages of idle and interrupted threads the newest that ran a graph; never a copy of ours. */
export function newestConversations(threads: readonly Thread[], newest: number): Thread[] {
  const lastChange = ({ updated_at }: Thread): number => Date.parse(updated_at) || 0;
  return threads
    .filter(({ metadata }) => typeof metadata?.['graph_id'] === 'string' && metadata['landfall_copy'] === undefined)
    .toSorted((one, other) => lastChange(other) - lastChange(one))
    .slice(0, newest);
}

/** Whether the run that made a copy must have ended by now (ms since the epoch). */
export function isLeftOver({ metadata }: Thread, now: number): boolean {
  const until = metadata?.[untilKey];
  return typeof until === 'string' && !(Date.parse(until) > now);
}

/** What a copy goes on with. */
export type Continuation =
  /** A message, or the input of the graph. */
  | { kind: 'message'; input: unknown }
  /** The pending node again, up to its interrupt. */
  | { kind: 'interrupt' }
  /** The pending node, which waits in no interrupt. */
  | { kind: 'next-node' }
  /** Nothing that could be sent is known: only its state is compared. */
  | { kind: 'none' };

/** How a conversation goes on, by its state and the file. */
export function continuationOf(
  { values, next, interrupts }: ConversationState,
  terms: ConversationTerms,
): Continuation {
  if (interrupts.length > 0) return { kind: 'interrupt' };
  if (next.length > 0) return { kind: 'next-node' };
  const { message = lastHumanMessage(values) } = terms;
  if (message === undefined) return { kind: 'none' };
  const isInput = isObject(message) && terms.message !== undefined;
  return { kind: 'message', input: isInput ? message : { messages: [{ role: 'user', content: message }] } };
}

const isOfPerson = (message: unknown): boolean =>
  isObject(message) && (message['type'] === 'human' || message['role'] === 'user');

/** The content of the last message of a person. */
function lastHumanMessage(values: unknown): unknown {
  const messages: unknown = isObject(values) ? values['messages'] : undefined;
  if (!Array.isArray(messages)) return undefined;
  const last: unknown = messages.findLast(isOfPerson);
  return isObject(last) ? (last['content'] ?? undefined) : undefined;
}

/**
 * What resumes these interrupts with the least effect: a rejection where their kind has one, else the value of the file.
 * Undefined where there is none for each of them.
 */
export function resumeOf(
  interrupts: readonly PendingInterrupt[],
  { resume }: ConversationTerms,
): { value: unknown } | undefined {
  const answers = interrupts.map(({ id, value }) => ({ id, answer: rejectionOf(value) ?? resume }));
  const [only] = answers;
  if (answers.length === 1) return only?.answer;
  const isEveryKnown = answers.every(({ id, answer }) => id !== undefined && answer !== undefined);
  if (!isEveryKnown || answers.length === 0) return undefined;
  return { value: Object.fromEntries(answers.map(({ id = '', answer }) => [id, answer?.value])) };
}

/** A rejection of every action of the human-in-the-loop middleware, or of an agent inbox. */
function rejectionOf(value: unknown): { value: unknown } | undefined {
  if (Array.isArray(value)) {
    const mayBeIgnored = (each: unknown): boolean =>
      isObject(each) && isObject(each['config']) && each['config']['allow_ignore'] === true;
    if (value.length === 0 || !value.every(mayBeIgnored)) return undefined;
    return { value: value.map(() => ({ type: 'ignore', args: null })) };
  }
  if (!isObject(value)) return undefined;
  const actions: unknown = value['action_requests'] ?? value['actionRequests'];
  const reviews: unknown = value['review_configs'] ?? value['reviewConfigs'];
  if (!Array.isArray(actions) || actions.length === 0 || !Array.isArray(reviews)) return undefined;
  const mayBeRejected = reviews.every((each: unknown) => {
    const allowed: unknown = isObject(each) ? (each['allowed_decisions'] ?? each['allowedDecisions']) : undefined;
    return Array.isArray(allowed) && allowed.includes('reject');
  });
  return mayBeRejected ? { value: { decisions: actions.map(() => ({ type: 'reject' })) } } : undefined;
}

/** The state and the shape of the graph as the live revision reports them, and as the new one does. */
export interface ConversationSides {
  before: ConversationState;
  live: GraphShape;
  after: ConversationState;
  changed: GraphShape;
}

/** What a copy's state shows to be broken in the new revision and not in the live one. */
export function compareStates({ before, live, after, changed }: ConversationSides): ConversationProblem[] {
  return [...pendingProblems({ before, live, after, changed }), ...channelProblems({ before, live, after, changed })];
}

function pendingProblems({ before, live, after, changed }: ConversationSides): ConversationProblem[] {
  return [...new Set(before.next)].flatMap((node): ConversationProblem[] => {
    if (live.nodes && !live.nodes.includes(node)) return [];
    if (changed.nodes && !changed.nodes.includes(node)) return [{ kind: 'no-node', node }];
    return after.next.includes(node) ? [] : [{ kind: 'not-pending', node }];
  });
}

function channelProblems({ before, live, after, changed }: ConversationSides): ConversationProblem[] {
  if (!isObject(before.values)) return [];
  const channels = propertiesOf(changed.stateSchema);
  return Object.entries(before.values).flatMap(([channel, value]): ConversationProblem[] => {
    if (isNothing(value)) return [];
    const isKept = isObject(after.values) && Object.hasOwn(after.values, channel);
    if (!isKept && !Object.hasOwn(channels, channel)) return [{ kind: 'no-channel', channel }];
    const schema = within(changed.stateSchema, channel);
    if (
      schema === undefined ||
      isNotKept(value) ||
      fits(schema, value) ||
      !fits(within(live.stateSchema, channel) ?? {}, value)
    )
      return [];
    const mustBe = typeof schema['type'] === 'string' ? schema['type'] : undefined;
    const is = typeOf(value);
    return [{ kind: 'other-type', channel, is, mustBe: mustBe === is ? undefined : mustBe }];
  });
}

const isNothing = (value: unknown): boolean =>
  value == null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);

const propertiesOf = (schema: SchemaObject | undefined): object => {
  const properties = schema?.['properties'];
  return isObject(properties) ? properties : {};
};

/** The schema of one channel, with the definitions of the whole; undefined where it is unknown or can't be used. */
function within(schema: SchemaObject | undefined, channel: string): SchemaObject | undefined {
  const properties = propertiesOf(schema);
  const found: unknown = Object.hasOwn(properties, channel) ? Reflect.get(properties, channel) : undefined;
  if (!isObject(found)) return undefined;
  const { $schema: _, ...own } = found;
  const definitions = ['$defs', 'definitions'].filter((key) => schema?.[key] !== undefined && own[key] === undefined);
  const whole = { ...own, ...Object.fromEntries(definitions.map((key) => [key, schema?.[key]])) };
  return schemaFaults(whole).length === 0 ? whole : undefined;
}

const words = createFormatter((text) => text);
const fits = (schema: SchemaObject, value: unknown): boolean => schemaMismatch(schema, value, words) === undefined;

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value;
}

/** What is wrong with the interrupts that a node reaches again, compared with those that the conversation waits in. */
export function compareInterrupts(
  before: readonly PendingInterrupt[],
  after: readonly PendingInterrupt[],
): ConversationProblem[] {
  return [...new Set(before.map(({ node }) => node))].flatMap((node): ConversationProblem[] => {
    const [former, now] = [before, after].map((all) => all.filter((each) => each.node === node));
    return (former ?? []).flatMap(({ value }, index): ConversationProblem[] => {
      const again = now?.[index];
      if (!again) return [{ kind: 'no-interrupt', node }];
      if (isAlike(value, again.value)) return [];
      return [{ kind: 'other-interrupt', node, fields: changedFields(value, again.value) }];
    });
  });
}

/** The outermost fields that are missing or of another shape; none where the whole is. Only those that look like names. */
function changedFields(before: unknown, after: unknown): string[] {
  if (!isObject(before) || !isObject(after)) return [];
  return Object.keys(before)
    .filter((key) => !Object.hasOwn(after, key) || !isAlike(before[key], after[key], 1))
    .filter((key) => /^[A-Za-z_$][\w$-]{0,39}$/.test(key))
    .slice(0, 5);
}

/** Whether a value has the shape of an earlier one: what it had is there and of the same type; more may be. */
function isAlike(before: unknown, after: unknown, depth = 0): boolean {
  if (before == null || (after == null && depth > 0) || depth > 20) return true;
  if (isNotKept(before) || isNotKept(after)) return true;
  if (after === null) return false;
  if (Array.isArray(before) || Array.isArray(after)) {
    if (!Array.isArray(before) || !Array.isArray(after)) return false;
    return before.length === 0 || after.length === 0 || isAlike(before[0], after[0], depth + 1);
  }
  if (isObject(before) && isObject(after)) {
    return Object.keys(before).every((key) => Object.hasOwn(after, key) && isAlike(before[key], after[key], depth + 1));
  }
  return typeof before === typeof after;
}
