import { unlessAborted, withTimeout, type Clock } from '../../../kit/clock.ts';
import { wholeValue } from '../../../contract/agent/text-path.ts';
import { stackOf } from '../../../kit/errors.ts';
import type { StoreIndexConfig } from '../../../agent-folder/graph-config/retention.ts';
import type { Logger } from '../../../kit/logger.ts';
import { invalidAt } from '../refusal.ts';
import { EmbeddingFailed, type Embeddings } from './embeddings.ts';
import { textsAt } from './texts.ts';

/** A unit vector, or all zeros: the dot product of two is their cosine similarity. */
export type Vector = readonly number[];

/** Which paths of a value are embedded: those of the configuration if absent or null, none for false. */
export type IndexedPaths = false | readonly string[] | null | undefined;

const maxTexts = 1_000;
const maxCharacters = 4_000_000;
/** The time limit (ms) for the texts of an item or a query. */
const embedWithinMs = 60_000;

interface SemanticIndexDependencies {
  embeddings: Embeddings;
  config: StoreIndexConfig;
  clock: Clock;
  log: Logger;
}

/** Embeds items and queries, as configured in `store.index`. Holds no connection to the database meanwhile. */
export class SemanticIndex {
  readonly #dependencies: SemanticIndexDependencies;

  constructor(dependencies: SemanticIndexDependencies) {
    this.#dependencies = dependencies;
  }

  /** The vectors of an item's texts. @throws EmbeddingFailed, or Refusal 422 for too many texts. */
  async vectorsOf(value: object, index: IndexedPaths): Promise<Vector[]> {
    const { embeddings, config } = this.#dependencies;
    const paths = index === false ? [] : (index ?? config.fields ?? [wholeValue]);
    const json: unknown = JSON.parse(JSON.stringify(value));
    const texts = textsAt(json, paths, maxCharacters);
    if (texts === undefined || texts.length > maxTexts) {
      const problem = `has more than ${maxTexts} texts or ${maxCharacters} characters to embed`;
      throw invalidAt(['body', 'value'], `${problem}. Split the item, or name fewer in \`index\`.`);
    }
    if (texts.length === 0) return [];
    const found = await this.#embed((signal) => embeddings.embedDocuments(texts, signal));
    if (!Array.isArray(found) || found.length !== texts.length)
      throw this.#failed(`did not return exactly one embedding for each of ${texts.length} texts`);
    return found.map((embedding: unknown) => this.#vector(embedding));
  }

  /** The vector of a query. Throws EmbeddingFailed. */
  async vectorOf(query: string): Promise<Vector> {
    return this.#vector(await this.#embed((signal) => this.#dependencies.embeddings.embedQuery(query, signal)));
  }

  async #embed(work: (signal: AbortSignal) => Promise<unknown>): Promise<unknown> {
    const { clock, log } = this.#dependencies;
    let timeout: AbortSignal | undefined;
    try {
      return await withTimeout(clock, embedWithinMs, (signal) => {
        timeout = signal;
        return unlessAborted(work(signal), signal);
      });
    } catch (error) {
      if (error instanceof EmbeddingFailed) throw error;
      const advice = 'Retry in a moment.';
      if (timeout?.aborted)
        throw new EmbeddingFailed(503, `The text could not be embedded within ${embedWithinMs / 1000} s. ${advice}`);
      // The error may contain anything; the log is for the agent's author.
      log.error(`\`store.index.embed\` threw: ${stackOf(error)}`);
      throw this.#failed('threw an error');
    }
  }

  #vector(embedding: unknown): Vector {
    const { dims } = this.#dependencies.config;
    const isList = Array.isArray(embedding) || embedding instanceof Float32Array || embedding instanceof Float64Array;
    const numbers: unknown[] = isList ? Array.from(embedding) : [];
    if (!isList || !numbers.every((each) => typeof each === 'number' && Number.isFinite(each)))
      throw this.#failed('returned an embedding that is not a list of finite numbers');
    if (numbers.length !== dims)
      throw new EmbeddingFailed(
        502,
        `\`store.index.embed\` returned an embedding of ${numbers.length} numbers, and \`store.index.dims\` is ${dims}. Set \`dims\` to the length of the model's embeddings.`,
      );
    return normalize(numbers.map(Number));
  }

  #failed(what: string): EmbeddingFailed {
    return new EmbeddingFailed(502, `\`store.index.embed\` ${what}. Check its code; the log has errors that it threw.`);
  }
}

function normalize(numbers: readonly number[]): Vector {
  const length = Math.hypot(...numbers);
  return length === 0 ? numbers : numbers.map((each) => Math.fround(each / length));
}
