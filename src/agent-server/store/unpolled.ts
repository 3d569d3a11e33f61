/** The part of the engine's wrapper that is replaced: it stands between a run and the store of the deployment. */
const REPLACED = ['start', 'stop', 'enqueueOperation'] as const;

/** Prototypes that are done: every graph of an agent loads the same engine. */
const done = new WeakSet<object>();

/** Where each wrapper's operations have got to: the next one waits for the one before it. */
const lines = new WeakMap<object, Promise<unknown>>();

/**
 * Lets the engine's wrapper around a store carry operations out as they come.
 *
 * The engine wraps the store anew for each run and graph in it, and the wrapper looks for operations with a timer of no
 * delay for as long as the run lasts: a thousand looks a second for each run that waits for a model, and one more at its
 * end, whether or not the graph has ever heard of a store. One wrong operation also fails all that were asked for at the
 * same moment, `listNamespaces` and `batch` throw, and `put` loses what it was told beyond the value. Here an operation
 * begins when it is asked for, after the ones before it of its run; a run ends when they have.
 *
 * @param wrapper the engine's class `AsyncBatchedStore`; what is not of the expected form is left as it is.
 */
export function withoutPolling(wrapper: unknown): void {
  const prototype: unknown = typeof wrapper === 'function' ? wrapper.prototype : undefined;
  if (typeof prototype !== 'object' || prototype === null || done.has(prototype)) return;
  if (!REPLACED.every((name) => typeof Reflect.get(prototype, name) === 'function')) return;
  done.add(prototype);
  for (const [name, value] of Object.entries(methods)) {
    Reflect.defineProperty(prototype, name, { value, writable: true, configurable: true });
  }
}

const methods = {
  start(this: object): void {
    Reflect.set(this, 'running', true);
  },

  async stop(this: object): Promise<void> {
    Reflect.set(this, 'running', false);
    await lines.get(this);
  },

  enqueueOperation(this: object, operation: object): Promise<unknown> {
    return inLine(this, operation);
  },

  async batch(this: object, operations: readonly object[]): Promise<unknown[]> {
    return Promise.all(operations.map((operation) => inLine(this, operation)));
  },

  async put(
    this: object,
    namespace: unknown,
    key: unknown,
    value: unknown,
    index?: unknown,
    options?: unknown,
  ): Promise<void> {
    await inLine(this, { namespace, key, value, index, options });
  },
};

async function inLine(wrapper: object, operation: object): Promise<unknown> {
  const before = lines.get(wrapper);
  const turn = (async () => {
    await before;
    return carryOut(Reflect.get(wrapper, 'store'), operation);
  })();
  lines.set(
    wrapper,
    turn.then(
      () => undefined,
      // Whoever asked is told.
      () => undefined,
    ),
  );
  return turn;
}

async function carryOut(store: unknown, operation: object): Promise<unknown> {
  if (!isStore(store)) throw new Error('The graph has no store.');
  const [result] = await store.batch([operation]);
  return result;
}

interface BatchingStore {
  batch(operations: readonly object[]): Promise<unknown[]>;
}

const isStore = (store: unknown): store is BatchingStore =>
  typeof store === 'object' && store !== null && typeof Reflect.get(store, 'batch') === 'function';
