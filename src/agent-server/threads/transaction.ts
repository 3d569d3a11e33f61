import { Pool } from 'pg';
import type { PoolClient } from 'pg';

/** Does something in one transaction, on one connection: all of it holds, or, where it throws, nothing. */
export async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((lost: Error) => {
      // A connection that can't roll back is lost: the server undoes what it began, and the pool must not lend it again.
      broken = lost;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/** What a library says to begin and end a transaction of its own. */
const OF_A_TRANSACTION = /^(?:begin|commit|rollback)\s*;?$/i;

/**
 * A pool that lends out the connection of a transaction under way, and no other: for a library that wants a pool and
 * shall take part in the transaction. What it says to begin or to end one of its own is passed over. It knows whether
 * a statement failed, and how: the transaction is lost then, whatever became of the error.
 */
export class PoolOfOne extends Pool {
  readonly #client: PoolClient;
  #failure: Error | undefined;

  constructor(client: PoolClient) {
    super({ max: 1 });
    this.#client = client;
  }

  /** What the first statement that failed failed with. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: Parameters<Pool['connect']>[0]): void;
  override connect(callback?: Parameters<Pool['connect']>[0]): Promise<PoolClient> | void {
    const lent = this.#lent();
    if (callback === undefined) return Promise.resolve(lent);
    callback(undefined, lent, () => undefined);
  }

  #lent(): PoolClient {
    return new Proxy(this.#client, {
      get: (client, name) => {
        if (name === 'release') return () => undefined;
        if (name === 'query') return (...args: unknown[]) => this.#query(args);
        const member: unknown = Reflect.get(client, name);
        return typeof member === 'function' ? (...args: unknown[]) => Reflect.apply(member, client, args) : member;
      },
    });
  }

  #query(args: unknown[]): unknown {
    const [text] = args;
    if (typeof text === 'string' && OF_A_TRANSACTION.test(text.trim()))
      return Promise.resolve({ rows: [], rowCount: 0 });
    const last = args.at(-1);
    if (typeof last === 'function') {
      const heard = (error: unknown, ...rest: unknown[]) => {
        this.#note(error);
        Reflect.apply(last, undefined, [error, ...rest]);
      };
      return this.#send([...args.slice(0, -1), heard]);
    }
    const answer = this.#send(args);
    return answer instanceof Promise
      ? answer.catch((error: unknown) => {
          this.#note(error);
          throw error;
        })
      : answer;
  }

  #send(args: unknown[]): unknown {
    const query: unknown = Reflect.get(this.#client, 'query');
    if (typeof query !== 'function') throw new Error('A connection that takes no statements.');
    return Reflect.apply(query, this.#client, args);
  }

  #note(error: unknown): void {
    if (error instanceof Error) this.#failure ??= error;
  }
}
