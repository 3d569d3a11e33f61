/** A function of the agent's did not make its graph for one run; `cause` is what it threw. How the run fails, and no failure of the server. */
export class GraphNotMade extends Error {
  constructor(graphId: string, cause: unknown) {
    super(
      `The function of graph "${graphId}" made no graph: ${cause instanceof Error ? cause.message : String(cause)}`,
      {
        cause,
      },
    );
    this.name = 'GraphNotMade';
  }
}
