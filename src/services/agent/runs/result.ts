import { usageOf, type Usage } from '../tracing/usage.ts';
import { toWire } from '../wire.ts';
import { valuesWithInterrupts, type RunState } from './engine-run.ts';
import { describeError } from './run-error.ts';
import type { Logger } from '../../../kit/logger.ts';

/** The result of a run while it proceeds, and its JSON. A large state is serialized once. */
export class Result {
  readonly reached: RunState = { values: undefined, waitsFor: undefined };
  readonly #runId: string;
  readonly #log: Logger;
  #lastReported: { values: unknown; json: string } | undefined;

  constructor(runId: string, log: Logger) {
    this.#runId = runId;
    this.#log = log;
  }

  serialize(event: string, data: unknown): string {
    const json = toWire(data);
    if (event === 'values') this.#lastReported = { values: data, json };
    return json;
  }

  /** The response if the run succeeds. @throws for a state that JSON can't represent, which fails the run. */
  answer(): string {
    const { values, waitsFor } = this.reached;
    return values !== undefined && waitsFor === undefined ? this.#wire(values) : toWire(this.output());
  }

  /** The state with the interrupts. */
  output(): unknown {
    return valuesWithInterrupts(this.reached);
  }

  /** The state as JSON; undefined if there is none, or JSON can't represent it. */
  values(): string | undefined {
    const { values, whole: state = values } = this.reached;
    if (state === undefined) return undefined;
    try {
      return this.#wire(state);
    } catch (error) {
      this.#log.error(`The state of run ${this.#runId} is not valid JSON: ${describeError(error).message}`);
      return undefined;
    }
  }

  /** The token usage of its messages. An agent's message may throw when read; its usage is then ignored. */
  usage(): Usage | undefined {
    const { first, values, whole: state = values } = this.reached;
    try {
      return usageOf(first, state);
    } catch (mistake) {
      this.#log.error(`The tokens of run ${this.#runId} can't be counted: ${describeError(mistake).message}`);
      return undefined;
    }
  }

  #wire(values: unknown): string {
    const last = this.#lastReported;
    return last !== undefined && last.values === values ? last.json : toWire(values);
  }
}
