import { A2AError, RequestMalformedError, TaskNotCancelableError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import { stackOf } from '../../../../kit/errors.ts';
import { Refusal } from '../../refusal.ts';
import type { Logger } from '../../../../kit/logger.ts';

/**
 * Converts refusals of the server's own endpoints to protocol errors. The details of an internal error go to the log
 * only.
 */
export async function withA2aErrors<T>(log: Logger, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) throw new (errorClasses.get(error.status) ?? A2AError)(error.message);
    if (error instanceof A2AError) throw error;
    log.error(`The agent-to-agent protocol failed: ${stackOf(error)}`);
    throw new A2AError('Internal error. See the server log.');
  }
}

/** The error for a missing task. */
export const noTask = (id: string): Error => new TaskNotFoundError(`There is no task ${id}.`);

/** Reports a hidden task like a missing one: the refusal of its run would name its thread. */
export const asNoTask =
  (id: string) =>
  (error: unknown): never => {
    throw error instanceof Refusal && error.status === 404 ? noTask(id) : error;
  };

const errorClasses: ReadonlyMap<number, new (message: string) => Error> = new Map([
  [400, RequestMalformedError],
  [404, TaskNotFoundError],
  [409, TaskNotCancelableError],
  [413, RequestMalformedError],
  [422, RequestMalformedError],
]);
