import { messageOf } from '../../errors.ts';

/** A graph factory of the agent failed for one run; `cause` is what it threw. Fails the run, not the server. */
export class GraphNotMade extends Error {
  constructor(graphId: string, cause: unknown) {
    super(`The function of graph "${graphId}" made no graph: ${messageOf(cause)}`, { cause });
    this.name = 'GraphNotMade';
  }
}
