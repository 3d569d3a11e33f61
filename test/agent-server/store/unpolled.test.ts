import { AsyncBatchedStore, BaseStore, InMemoryStore } from '@langchain/langgraph-checkpoint';
import { describe, expect, test } from 'vitest';
import { withoutPolling } from '../../../src/agent-server/store/unpolled.ts';

withoutPolling(AsyncBatchedStore);
// Once more: another graph of the same engine.
withoutPolling(AsyncBatchedStore);

/** The wrapper, begun as the engine begins it, around a store that writes down what it is asked. */
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
  test('asks nothing of a timer while nobody asks it', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const { wrapper } = started();
    expect(wrapper.isRunning).toBe(true);
    expect(timers()).toBe(before);
    await wrapper.stop();
    expect(wrapper.isRunning).toBe(false);
  });

  test('carries operations out in their order', async () => {
    const { wrapper, requested } = started((key) => (key === 'first' ? 20 : 0));
    const put = wrapper.put(['a'], 'first', { v: 1 });
    const got = wrapper.get(['a'], 'first');
    expect(await got).toMatchObject({ value: { v: 1 } });
    await put;
    expect(requested).toEqual(['first', 'first']);
  });

  test('lets one operation fail alone', async () => {
    const { wrapper } = started();
    const bad = wrapper.put(['a'], 'bad', {});
    const good = wrapper.put(['a'], 'good', { v: 1 });
    await expect(bad).rejects.toThrow('not this one');
    await good;
    expect(await wrapper.search(['a'])).toMatchObject([{ key: 'good' }]);
    await wrapper.delete(['a'], 'good');
    expect(await wrapper.get(['a'], 'good')).toBeNull();
  });

  test('lets a run end when what it asked for is done', async () => {
    const { wrapper, requested } = started(() => 20);
    void wrapper.put(['a'], 'last', {});
    await wrapper.stop();
    expect(requested).toEqual(['last']);
  });

  test('lists namespaces, and takes several operations at once', async () => {
    const { wrapper } = started();
    await wrapper.put(['a', 'b'], 'k', {});
    expect(await wrapper.listNamespaces({ prefix: ['a'] })).toEqual([['a', 'b']]);
    expect(await wrapper.batch([{ namespace: ['a', 'b'], key: 'k' }])).toMatchObject([{ key: 'k' }]);
  });

  test('of another form is left as it is', () => {
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
