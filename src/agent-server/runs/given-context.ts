import type { FreeObject } from '../../contract/agent/open-word.ts';

/** What somebody set: an assistant, or a run. */
export interface Given {
  context: FreeObject | undefined;
  configurable: FreeObject;
}

/** The context of a run, and where its keys stand in the request. */
export interface GivenContext {
  /** Undefined where nobody has set any of it. */
  context: FreeObject | undefined;
  placeOf: (key: string | number) => string[];
}

/**
 * The context of a run of a graph whose context has the keys `names`. Whoever sets no context sets it by what has these
 * names in their `configurable`: callers of older servers know no other way. The run's keys win over the assistant's.
 *
 * @param configurable all that the run has in the end, the server's own names with it: it counts where nobody sets a context.
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
