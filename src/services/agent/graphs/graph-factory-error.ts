import { messageOf } from '../../../kit/errors.ts';

/** A graph factory of the agent failed for one run; `cause` is what it threw. Fails the run, not the server. */
export class GraphFactoryError extends Error {
  constructor(graphId: string, cause: unknown) {
    super(`The factory of graph "${graphId}" failed: ${messageOf(cause)}`, { cause });
    this.name = 'GraphFactoryError';
  }
}
