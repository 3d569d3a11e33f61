import { isDeepStrictEqual } from 'node:util';

/**
 * What was acknowledged of things of one kind. Of a change that nobody answered either is right: what was before, and what
 * was asked for. Such a thing is left alone from then on.
 *
 * @typeParam T what a thing looks like; undefined: it is not there.
 */
export class Ledger<T> {
  readonly #things = new Map<string, readonly (T | undefined)[]>();

  /** It is so: that was answered. */
  is(id: string, state: T | undefined): void {
    this.#things.set(id, [state]);
  }

  /** Unchanged or changed to this: the request got no response. */
  maybe(id: string, state: T | undefined): void {
    this.#things.set(id, [...(this.#things.get(id) ?? [undefined]), state]);
  }

  /** Its value; undefined if unknown or absent. */
  get(id: string): T | undefined {
    const states = this.#things.get(id) ?? [];
    return states.length === 1 ? states[0] : undefined;
  }

  /** Those that are there for sure. */
  sure(): string[] {
    return [...this.#things.keys()].filter((id) => this.get(id) !== undefined);
  }

  ids(): string[] {
    return [...this.#things.keys()];
  }

  /** What is wrong with a thing that was found so; undefined where nothing is. */
  problem(id: string, found: T | undefined): string | undefined {
    const states = this.#things.get(id) ?? [];
    if (states.some((state) => isDeepStrictEqual(state, found))) return undefined;
    return `${id} is ${JSON.stringify(found)}, and was acknowledged as ${states.map((each) => JSON.stringify(each)).join(' or ')}`;
  }
}
