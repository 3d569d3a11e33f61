import { usageOf } from '../tracing/usage.ts';
import type { Usage } from '../tracing/usage.ts';
import { toWire } from '../wire.ts';
import { answerOf } from './engine-run.ts';
import type { Reached } from './engine-run.ts';
import { describeError } from './run-error.ts';

/** What a run comes to while it goes on, and what is told of that as JSON. A large state is put into words once. */
export class Result {
  /** Kept up to date by the engine's run. */
  readonly reached: Reached = { values: undefined, waitsFor: undefined };
  readonly #runId: string;
  readonly #log: (line: string) => void;
  #lastReported: { values: unknown; json: string } | undefined;

  constructor(runId: string, log: (line: string) => void) {
    this.#runId = runId;
    this.#log = log;
  }

  /** The data of an event as JSON. */
  serialize(event: string, data: unknown): string {
    const json = toWire(data);
    if (event === 'values') this.#lastReported = { values: data, json };
    return json;
  }

  /**
   * What a caller who waits is answered where the run succeeds.
   *
   * @throws what JSON's writer throws of a state that JSON can't hold: that is how the run failed.
   */
  answer(): string {
    const { values, waitsFor } = this.reached;
    return values !== undefined && waitsFor === undefined ? this.#wire(values) : toWire(answerOf(this.reached));
  }

  /** The state that the run reached; undefined where there is none, or JSON can't hold it. */
  values(): string | undefined {
    const { values } = this.reached;
    if (values === undefined) return undefined;
    try {
      return this.#wire(values);
    } catch (error) {
      this.#log(`The state of run ${this.#runId} is no JSON: ${describeError(error).message}`);
      return undefined;
    }
  }

  /** What its messages tell of tokens. A message of the agent's may throw when it is looked at, and then tells none. */
  usage(): Usage | undefined {
    try {
      return usageOf(this.reached.first, this.reached.values);
    } catch (mistake) {
      this.#log(`The tokens of run ${this.#runId} can't be counted: ${describeError(mistake).message}`);
      return undefined;
    }
  }

  #wire(values: unknown): string {
    const last = this.#lastReported;
    return last !== undefined && last.values === values ? last.json : toWire(values);
  }
}
