import { mostTracedSteps, type TracedStep } from '../../contract/control/tracing-project.ts';
import type { Graph } from '../graphs/graph.ts';
import { memberOf } from '../members.ts';
import { boundedCopy } from './bounded-copy.ts';

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
/** The most JSON (bytes) of all values of a run. */
const maxRunBytes = 256 * 1024;
/** The most JSON (bytes) of an error, and what one may have where the bound of the run is used up. */
const maxErrorBytes = 10_000;
const minErrorBytes = 1_000;
const maxNameLength = 255;
const maxPathLength = 20;
/** The approximate size of a step without its values, name and path. */
const stepBytes = 256;

/**
 * Records the steps of a run in this process: one for each execution of a node, also in subgraphs. It is a callback
 * handler of the engine, because the engine's streams report neither failed nodes nor, unless they are requested,
 * subgraphs.
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
  readonly #steps: TracedStep[] = [];
  readonly #open = new Map<string, TracedStep>();
  #remainingBytes = maxRunBytes;
  #isCut = false;

  /** @param now milliseconds since the epoch. */
  constructor(hidden: HiddenValues, now: () => number) {
    this.#hidden = hidden;
    this.#now = now;
  }

  /**
   * Attaches the handler for one run. Some engines replace a graph's own handlers by those of the options, so a graph
   * with handlers is copied, which merges them.
   */
  attach(graph: Graph): { graph: Graph; callbacks?: object[] } {
    const callbacks = [this.handler];
    if (memberOf(graph.config, 'callbacks') === undefined) return { graph, callbacks };
    return { graph: graph.withConfig({ callbacks }) };
  }

  /** Input, output and steps of the ended run as JSON, in the form of the contract. */
  describe(input: unknown, output: unknown): string {
    const [first, last] = [this.#copyUnlessHidden(input, 'inputs'), this.#copyUnlessHidden(output, 'outputs')];
    return JSON.stringify({
      input: first.value,
      output: last.value,
      steps: this.#steps,
      is_cut: this.#isCut || first.isCut || last.isCut,
    });
  }

  #start(id: string, input: unknown, tags: unknown, metadata: unknown): void {
    const name = memberOf(metadata, 'langgraph_node');
    // The engine tags the execution of a node with its step, and passes the metadata to all that the node calls.
    if (typeof name !== 'string' || !Array.isArray(tags)) return;
    if (!tags.some((tag) => String(tag).startsWith('graph:step:')) || tags.includes('langsmith:hidden')) return;
    if (this.#steps.length >= mostTracedSteps || this.#remainingBytes < -maxRunBytes) {
      this.#isCut = true;
      return;
    }
    const { path, taskId } = parseNamespace(memberOf(metadata, 'langgraph_checkpoint_ns'));
    const shown = this.#copyForStep(input, 'inputs');
    const shortName = bounded(name, maxNameLength);
    this.#remainingBytes -= stepBytes + Buffer.byteLength(JSON.stringify([shortName, path]));
    const step: TracedStep = {
      id: taskId ?? id,
      name: shortName,
      path,
      started_at: this.#time(),
      ended_at: null,
      input: shown.value,
      output: null,
      error: null,
      is_cut: shown.isCut,
    };
    this.#steps.push(step);
    this.#open.set(id, step);
  }

  #end(id: string, end: { output: unknown } | { error: unknown }): void {
    const step = this.#open.get(id);
    if (step === undefined) return;
    this.#open.delete(id);
    step.ended_at = this.#time();
    if ('error' in end) {
      // Interrupts and commands to parent graphs are thrown too.
      if (memberOf(end.error, 'is_bubble_up') !== true) step.error = this.#copyError(end.error);
      return;
    }
    const shown = this.#copyForStep(end.output, 'outputs');
    step.output = shown.value;
    step.is_cut ||= shown.isCut;
  }

  #copyError(error: unknown): string {
    const [name, message] = [memberOf(error, 'name'), memberOf(error, 'message')];
    const text =
      typeof message === 'string' ? `${typeof name === 'string' ? name : 'Error'}: ${message}` : String(error);
    const { value, size } = boundedCopy(text, Math.max(minErrorBytes, Math.min(maxErrorBytes, this.#remainingBytes)));
    this.#remainingBytes -= size;
    return String(value);
  }

  /** Copies a value of a step within the remaining bytes of the run. */
  #copyForStep(value: unknown, kind: keyof HiddenValues): { value: unknown; isCut: boolean } {
    const shown = this.#copyUnlessHidden(value, kind, Math.max(0, Math.min(maxValueBytes, this.#remainingBytes)));
    this.#remainingBytes -= shown.size;
    return shown;
  }

  #copyUnlessHidden(value: unknown, kind: keyof HiddenValues, most = maxValueBytes): ReturnType<typeof boundedCopy> {
    return this.#hidden[kind] ? { value: null, size: 0, isCut: false } : boundedCopy(value, most);
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
const bounded = (text: string, longest: number): string =>
  text.slice(0, longest).replaceAll('\0', '\uFFFD').toWellFormed();
