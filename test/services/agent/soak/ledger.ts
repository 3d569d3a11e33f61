import { isDeepStrictEqual } from 'node:util';

/**
 * The acknowledged state of resources of one kind. After a change without a response, both the previous and the requested
 * state are valid; that resource is not used again.
 *
 * @typeParam T the state of a resource; undefined if it does not exist.
 */
export class Ledger<T> {
  readonly #things = new Map<string, readonly (T | undefined)[]>();

  /** A response confirmed this state. */
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

  /** The ids of resources that certainly exist. */
  sure(): string[] {
    return [...this.#things.keys()].filter((id) => this.get(id) !== undefined);
  }

  ids(): string[] {
    return [...this.#things.keys()];
  }

  /** The fault of an observed state; undefined if it is valid. */
  problem(id: string, found: T | undefined): string | undefined {
    const states = this.#things.get(id) ?? [];
    if (states.some((state) => isDeepStrictEqual(state, found))) return undefined;
    return `${id} is ${JSON.stringify(found)}, and was acknowledged as ${states.map((each) => JSON.stringify(each)).join(' or ')}`;
  }
}
