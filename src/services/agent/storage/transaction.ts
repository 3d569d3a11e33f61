import { Pool, type ClientBase, type PoolClient } from 'pg';
import { overriding } from '../../../kit/overriding.ts';

/** Executes statements: a connection, or that of a transaction. */
export type Queryable = Pick<ClientBase, 'query'>;

/** Runs work in one transaction, which is rolled back if it throws. */
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
      // If the rollback fails, the connection is closed: the database then rolls back, and the pool must not reuse it.
      broken = lost;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/** The statements by which a library controls its own transaction. */
const ofATransaction = /^(?:begin|commit|rollback)\s*;?$/i;

/**
 * A pool that only lends a transaction's connection, skips a library's own transaction statements, and records the
 * first failed one: the transaction is lost then, even if the library handles the error.
 */
export class SingleClientPool extends Pool {
  /** The error of the first failed statement. */
  failure: Error | undefined;
  readonly #lent: PoolClient;

  constructor(client: PoolClient) {
    super({ max: 1 });
    const send = (args: unknown[]): unknown => Reflect.apply(client.query.bind(client), undefined, args);
    const note = (error: unknown): void => {
      if (error instanceof Error) this.failure ??= error;
    };
    this.#lent = overriding(client, {
      release: (): void => undefined,
      query(...args: unknown[]): unknown {
        const [text, last] = [args[0], args.at(-1)];
        if (typeof text === 'string' && ofATransaction.test(text.trim()))
          return Promise.resolve({ rows: [], rowCount: 0 });
        if (typeof last === 'function') {
          const heard = (error: unknown, ...rest: unknown[]) => {
            note(error);
            Reflect.apply(last, undefined, [error, ...rest]);
          };
          return send([...args.slice(0, -1), heard]);
        }
        const answer = send(args);
        if (answer instanceof Promise) answer.catch(note);
        return answer;
      },
    });
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: Parameters<Pool['connect']>[0]): void;
  override connect(callback?: Parameters<Pool['connect']>[0]): Promise<PoolClient> | void {
    if (callback === undefined) return Promise.resolve(this.#lent);
    callback(undefined, this.#lent, () => undefined);
  }
}

/** Runs tasks one after the other, in the order of arrival. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs the task once all earlier ones have settled. */
  do<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work, work);
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}
