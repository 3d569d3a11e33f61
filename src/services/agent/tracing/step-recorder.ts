import { maxTracedSteps } from '../../../contract/control/tracing-project.ts';
import type { Graph } from '../graphs/graph.ts';
import { storableText } from '../../../kit/json-text.ts';
import { memberOf } from '../members.ts';
import { describeError } from '../runs/run-error.ts';
import { boundedCopy, minCopyBytes, type BoundedCopy } from './bounded-copy.ts';

/** The values that exported runs omit. */
export interface HiddenValues {
  inputs: boolean;
  outputs: boolean;
}

/** The variables of LangSmith's clients that leave inputs and outputs out of traces. */
export const hiddenValues = (env: NodeJS.ProcessEnv): HiddenValues => {
  const isSet = (name: string): boolean =>
    [env[`LANGSMITH_${name}`], env[`LANGCHAIN_${name}`]].some((value) => value?.trim().toLowerCase() === 'true');
  return { inputs: isSet('HIDE_INPUTS'), outputs: isSet('HIDE_OUTPUTS') };
};

/** The most JSON (bytes) of one value. */
const maxValueBytes = 16 * 1024;
/** The most JSON (bytes) of the input, the output and the steps of a run. */
const maxRunBytes = 256 * 1024;
/** The most JSON (bytes) of an error, and what one may take of the bytes that later steps need. */
const maxErrorBytes = 10_000;
const minErrorBytes = 1_000;
const maxNameLength = 255;
const maxPathLength = 20;
/** What values leave for each step to come: most steps need no more without their values. */
const reservedStepBytes = 320;

/** A step as it is recorded: its values are JSON already. */
interface RecordedStep {
  /** The members that are known at its start, as JSON without the closing brace. */
  start: string;
  endedAt: string | null;
  input: string;
  output: string;
  error: string;
  isCut: boolean;
}

const toJson = ({ start, endedAt, input, output, error, isCut }: RecordedStep): string =>
  `${start},"ended_at":${JSON.stringify(endedAt)},"input":${input},"output":${output},"error":${error},"is_cut":${isCut}}`;

/** The bytes of a step beside its start, with the smallest input, output and error. */
const endBytes =
  toJson({ start: '', endedAt: new Date(0).toISOString(), input: '', output: '', error: '', isCut: false }).length +
  3 * minCopyBytes +
  ','.length;
/** The bytes of a run beside its input, output and steps. */
const runBytes = 100;

/**
 * Records the executions of nodes in this process, also in subgraphs, as a callback handler of the engine: its streams
 * report neither failed nodes nor, unless requested, subgraphs.
 */
export class StepRecorder {
  /** The handler, as every version of `@langchain/core` takes one. It copies values at once: nodes may change them. */
  readonly handler = {
    name: 'landfall_steps',
    awaitHandlers: true,
    raiseError: false,
    ignoreLLM: true,
    ignoreChain: false,
    ignoreAgent: true,
    ignoreRetriever: true,
    ignoreCustomEvent: true,
    handleChainStart: (_: unknown, input: unknown, id: string, __: unknown, tags: unknown, metadata: unknown): void =>
      this.#start(id, input, tags, metadata),
    handleChainEnd: (output: unknown, id: string): void => this.#end(id, { output }),
    handleChainError: (error: unknown, id: string): void => this.#end(id, { error }),
  };
  readonly #hidden: HiddenValues;
  readonly #now: () => number;
  readonly #steps: RecordedStep[] = [];
  readonly #open = new Map<string, RecordedStep>();
  #remainingBytes = maxRunBytes - 2 * maxValueBytes - runBytes;
  #isCut = false;

  /** @param now milliseconds since the epoch. */
  constructor(hidden: HiddenValues, now: () => number) {
    this.#hidden = hidden;
    this.#now = now;
  }

  /** Attaches the handler for one run. A graph with handlers is copied, since some engines would replace its own. */
  attach(graph: Graph): { graph: Graph; callbacks?: object[] } {
    const callbacks = [this.handler];
    if (memberOf(graph.config, 'callbacks') === undefined) return { graph, callbacks };
    return { graph: graph.withConfig({ callbacks }) };
  }

  /** Input, output and steps of the ended run as JSON, in the form of the contract. */
  describe(input: unknown, output: unknown): string {
    const [first, last] = [this.#copyUnlessHidden(input, 'inputs'), this.#copyUnlessHidden(output, 'outputs')];
    const isCut = this.#isCut || first.isCut || last.isCut;
    return `{"input":${first.json},"output":${last.json},"steps":[${this.#steps.map(toJson).join(',')}],"is_cut":${isCut}}`;
  }

  #start(id: string, input: unknown, tags: unknown, metadata: unknown): void {
    const name = memberOf(metadata, 'langgraph_node');
    // The engine tags the execution of a node with its step, and passes the metadata to all that the node calls.
    if (typeof name !== 'string' || !Array.isArray(tags)) return;
    if (!tags.some((tag) => String(tag).startsWith('graph:step:')) || tags.includes('langsmith:hidden')) return;
    const { path, taskId } = parseNamespace(memberOf(metadata, 'langgraph_checkpoint_ns'));
    const known = { id: taskId ?? id, name: bounded(name, maxNameLength), path, started_at: this.#time() };
    const start = JSON.stringify(known).slice(0, -1);
    const size = Buffer.byteLength(start) + endBytes;
    if (this.#steps.length >= maxTracedSteps || size > this.#remainingBytes) {
      this.#isCut = true;
      return;
    }
    this.#remainingBytes -= size;
    const step = { start, endedAt: null, input: 'null', output: 'null', error: 'null', isCut: false };
    this.#steps.push(step);
    this.#open.set(id, step);
    step.input = this.#copyForStep(step, input, 'inputs');
  }

  #end(id: string, end: { output: unknown } | { error: unknown }): void {
    const step = this.#open.get(id);
    if (step === undefined) return;
    this.#open.delete(id);
    step.endedAt = this.#time();
    // Interrupts and commands to parent graphs are thrown too.
    if (!('error' in end)) step.output = this.#copyForStep(step, end.output, 'outputs');
    else if (memberOf(end.error, 'is_bubble_up') !== true) step.error = this.#copyError(step, end.error);
  }

  /** Copies an error within the remaining bytes of the run, also those that are left for steps to come. */
  #copyError(step: RecordedStep, error: unknown): string {
    const { error: name, message } = describeError(error);
    const text = error instanceof Error ? `${name}: ${message}` : String(error);
    const max = Math.min(this.#remainingBytes, Math.max(minErrorBytes, this.#bytesForValues));
    return this.#noteCopy(step, boundedCopy(text, minCopyBytes + Math.min(maxErrorBytes - minCopyBytes, max)));
  }

  /** Copies a value of a step within the remaining bytes of the run. */
  #copyForStep(step: RecordedStep, value: unknown, kind: keyof HiddenValues): string {
    const max = Math.min(maxValueBytes, minCopyBytes + this.#bytesForValues);
    return this.#noteCopy(step, this.#copyUnlessHidden(value, kind, max));
  }

  #noteCopy(step: RecordedStep, { json, size, isCut }: BoundedCopy): string {
    // The smallest size was counted at the start of the step.
    this.#remainingBytes -= Math.max(0, size - minCopyBytes);
    step.isCut ||= isCut;
    return json;
  }

  /** What is left for values: the steps to come need some bytes without theirs. */
  get #bytesForValues(): number {
    return Math.max(0, this.#remainingBytes - (maxTracedSteps - this.#steps.length) * reservedStepBytes);
  }

  #copyUnlessHidden(value: unknown, kind: keyof HiddenValues, max = maxValueBytes): BoundedCopy {
    return this.#hidden[kind] ? { json: 'null', size: 4, isCut: false } : boundedCopy(value, max);
  }

  #time(): string {
    return new Date(this.#now()).toISOString();
  }
}

/** Parses the engine's namespace, `outer:ID|inner:ID`: the enclosing subgraphs of a task, and its id. */
function parseNamespace(namespace: unknown): { path: string[]; taskId: string | undefined } {
  const parts = typeof namespace === 'string' ? namespace.split('|') : [];
  const [name, taskId] = splitLast(parts.at(-1) ?? '');
  const enclosing = parts.slice(0, -1).map((part) => bounded(splitLast(part)[0], maxNameLength));
  return { path: enclosing.slice(0, maxPathLength), taskId: name === '' ? undefined : taskId?.slice(0, maxNameLength) };
}

function splitLast(part: string): [string, string?] {
  const at = part.lastIndexOf(':');
  return at === -1 ? [part] : [part.slice(0, at), part.slice(at + 1)];
}

/** Truncates text and replaces what the database does not accept. */
const bounded = (text: string, maxLength: number): string => storableText(text.slice(0, maxLength));
