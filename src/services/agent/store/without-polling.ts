import { isObject } from '../../../kit/json-object.ts';

const replacedMethods = ['start', 'stop', 'enqueueOperation'] as const;

/** Prototypes already replaced: all graphs of an agent load the same engine. */
const done = new WeakSet<object>();

/** The last operation of each wrapper, after which the next one starts. */
const lines = new WeakMap<object, Promise<unknown>>();

/**
 * Makes the engine's store wrapper execute operations immediately instead of polling.
 *
 * The engine wraps the store for each run and subgraph, and polls for operations with a zero-delay timer while the run
 * lasts: a thousand polls a second for each run that waits for a model, even if the graph uses no store. It also fails
 * all operations of a batch together, breaks `listNamespaces` and `batch`, and drops arguments of `put`. Here each
 * operation starts when called, after the earlier ones of its run; a run ends when its operations have ended.
 *
 * @param wrapper the engine's class `AsyncBatchedStore`; an unexpected form is left as it is.
 */
export function withoutPolling(wrapper: unknown): void {
  const prototype: unknown = typeof wrapper === 'function' ? wrapper.prototype : undefined;
  if (typeof prototype !== 'object' || prototype === null || done.has(prototype)) return;
  if (!replacedMethods.every((name) => typeof Reflect.get(prototype, name) === 'function')) return;
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

  async put(this: object, namespace: unknown, key: unknown, value: unknown, index?: unknown, options?: unknown) {
    await inLine(this, { namespace, key, value, index, options });
  },
};

async function inLine(wrapper: object, operation: object): Promise<unknown> {
  const before = lines.get(wrapper);
  const turn = (async () => {
    await before;
    return callStore(Reflect.get(wrapper, 'store'), operation);
  })();
  // The caller receives the error.
  lines.set(
    wrapper,
    turn.catch(() => undefined),
  );
  return turn;
}

async function callStore(store: unknown, operation: object): Promise<unknown> {
  if (!isStore(store)) throw new Error('The graph has no store.');
  const [result] = await store.batch([operation]);
  return result;
}

const isStore = (store: unknown): store is { batch(operations: readonly object[]): Promise<unknown[]> } =>
  isObject(store) && typeof store['batch'] === 'function';
