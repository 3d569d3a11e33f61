import type { FreeObject } from '../../contract/agent/open-word.ts';

/** The context and configuration of an assistant or a run. */
export interface Given {
  context: FreeObject | undefined;
  configurable: FreeObject;
}

/** The context of a run, and the path of its keys in the request. */
export interface GivenContext {
  /** Undefined if neither sets any of it. */
  context: FreeObject | undefined;
  placeOf: (key: string | number) => string[];
}

/**
 * Computes the context of a run of a graph whose context has the keys `names`. Without a context, the keys of that name
 * in `configurable` count, for clients of older servers. The run's keys win over the assistant's.
 *
 * @param configurable the run's final one, including reserved names; the context by default.
 */
export function givenContext(
  names: readonly string[],
  { assistant, run, configurable }: { assistant: Given; run: Given; configurable: FreeObject },
): GivenContext {
  const isByName = isEmpty(run.context);
  const context =
    isByName && isEmpty(assistant.context)
      ? picked(configurable, names)
      : { ...contextOf(assistant, names), ...contextOf(run, names) };
  return {
    context: run.context === undefined && isEmpty(context) ? undefined : context,
    placeOf: (key) =>
      isByName && Object.hasOwn(run.configurable, key) ? ['body', 'config', 'configurable'] : ['body', 'context'],
  };
}

const contextOf = ({ context, configurable }: Given, names: readonly string[]): FreeObject =>
  isEmpty(context) ? picked(configurable, names) : { ...context };

const picked = (configurable: FreeObject, names: readonly string[]): FreeObject =>
  Object.fromEntries(Object.entries(configurable).filter(([key]) => names.includes(key)));

const isEmpty = (context: FreeObject | undefined): boolean => Object.keys(context ?? {}).length === 0;
