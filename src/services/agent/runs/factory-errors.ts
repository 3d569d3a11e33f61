import { GraphFactoryError, type Graph } from '../graphs/graph.ts';
import { Refusal } from '../refusal.ts';
import { describeError } from './run-error.ts';

/** The graph; undefined if the agent's factory failed. */
export const ignoreFactoryError = (making: Promise<Graph>): Promise<Graph | undefined> =>
  making.catch((error: unknown) => {
    if (!(error instanceof GraphFactoryError)) throw error;
    return undefined;
  });

/** The graph. Throws Refusal 422 if the agent's factory failed; `source` names its configuration. */
export const refuseFactoryError = (making: Promise<Graph>, graphId: string, source: string): Promise<Graph> =>
  making.catch((thrown: unknown) => {
    if (!(thrown instanceof GraphFactoryError)) throw thrown;
    const { error, message } = describeError(thrown.cause);
    throw new Refusal(
      422,
      `Graph "${graphId}" can't be made with the configuration of ${source}: ${error}: ${message}`,
    );
  });
