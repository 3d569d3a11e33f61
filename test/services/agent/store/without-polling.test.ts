import { AsyncBatchedStore, BaseStore, InMemoryStore } from '@langchain/langgraph-checkpoint';
import { describe, expect, test } from 'vitest';
import { withoutPolling } from '../../../../src/services/agent/store/without-polling.ts';

withoutPolling(AsyncBatchedStore);
// A second time, as another graph of the same engine does.
withoutPolling(AsyncBatchedStore);

/** The engine's wrapper, started as the engine does, around a store that records its calls. */
function started(slow: (key: string) => number = () => 0) {
  const requested: string[] = [];
  const memory = new InMemoryStore();
  const store = new InMemoryStore();
  store.batch = async (operations) => {
    const key = String(Reflect.get(operations[0] ?? {}, 'key'));
    await new Promise((resolve) => setTimeout(resolve, slow(key)));
    requested.push(key);
    if (key === 'bad') throw new Error('not this one');
    return memory.batch(operations);
  };
  const wrapper = new AsyncBatchedStore(store);
  wrapper.start();
  return { wrapper, requested };
}

describe("the engine's wrapper around a store", () => {
  test('uses no timer while idle', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const { wrapper } = started();
    expect(wrapper.isRunning).toBe(true);
    expect(timers()).toBe(before);
    await wrapper.stop();
    expect(wrapper.isRunning).toBe(false);
  });

  test('executes operations in order', async () => {
    const { wrapper, requested } = started((key) => (key === 'first' ? 20 : 0));
    const put = wrapper.put(['a'], 'first', { v: 1 });
    const got = wrapper.get(['a'], 'first');
    expect(await got).toMatchObject({ value: { v: 1 } });
    await put;
    expect(requested).toEqual(['first', 'first']);
  });

  test('a failed operation does not affect others', async () => {
    const { wrapper } = started();
    const bad = wrapper.put(['a'], 'bad', {});
    const good = wrapper.put(['a'], 'good', { v: 1 });
    await expect(bad).rejects.toThrow('not this one');
    await good;
    expect(await wrapper.search(['a'])).toMatchObject([{ key: 'good' }]);
    await wrapper.delete(['a'], 'good');
    expect(await wrapper.get(['a'], 'good')).toBeNull();
  });

  test('completes pending operations before it stops', async () => {
    const { wrapper, requested } = started(() => 20);
    void wrapper.put(['a'], 'last', {});
    await wrapper.stop();
    expect(requested).toEqual(['last']);
  });

  test('lists namespaces, and executes several operations at once', async () => {
    const { wrapper } = started();
    await wrapper.put(['a', 'b'], 'k', {});
    expect(await wrapper.listNamespaces({ prefix: ['a'] })).toEqual([['a', 'b']]);
    expect(await wrapper.batch([{ namespace: ['a', 'b'], key: 'k' }])).toMatchObject([{ key: 'k' }]);
  });

  test('leaves other stores unchanged', () => {
    class Other extends BaseStore {
      batch(): Promise<never> {
        throw new Error('nothing');
      }
    }
    const before = Object.getOwnPropertyNames(Other.prototype);
    withoutPolling(Other);
    withoutPolling(undefined);
    expect(Object.getOwnPropertyNames(Other.prototype)).toEqual(before);
  });
});
