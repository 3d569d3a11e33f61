// The worker with each engine before the newest one, with which all other tests of it run.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client } from '@langchain/langgraph-sdk';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { endWithTest } from '../../../../child-process.ts';
import { askRun, describeIn, Environment } from '../../../../python/needs-python.ts';
import { serveAgent } from '../../serving.ts';

const engines = await askRun('enginesPort', z.record(z.string(), Environment));
const folder = join(import.meta.dirname, '../../../../../python');
/** What of `python/tests` uses the engine. */
const files = ['auth', 'embeddings', 'load', 'logs', 'schemas', 'types_in_checkpoints', 'worker'];

for (const [engine, environment] of Object.entries(engines))
  describeIn(environment, `with langgraph ${engine}`, (python) => {
    test('the worker passes its own tests', async () => {
      const args = ['-m', 'pytest', '-q', '-rfE', '--color=no', '-p', 'no:cacheprovider'];
      const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
      const tests = files.map((name) => `tests/test_${name}.py`);
      const child = endWithTest(spawn(python, [...args, ...tests], { cwd: folder, env }));
      expect(await text(child.stdout)).toMatch(/^\d+ passed(, \d+ warnings?)? in/m);
    });

    test('a graph runs, stops, goes on and is forked, and uses the store', async () => {
      const serving = await serveAgent({ configPath: join(import.meta.dirname, 'agent/engines.json'), python });
      onTestFinished(() => serving.close());
      const client = new Client({ apiUrl: serving.url, apiKey: null });
      const { thread_id: thread } = await client.threads.create();
      const modes = ['values', 'updates', 'custom', 'messages-tuple', 'tasks', 'checkpoints', 'debug'] as const;
      const input = { name: 'Ada' };
      const events = await Array.fromAsync(
        client.runs.stream(thread, 'all', {
          input,
          context: { word: 'Hello' },
          streamMode: [...modes],
          streamSubgraphs: true,
        }),
      );
      const dataOf = (name: string) => events.flatMap(({ event, data }) => (event === name ? [data] : []));
      expect(new Set(events.map(({ event }) => event.replace(/\|.*/, '')))).toEqual(
        new Set(['metadata', 'values', 'updates', 'custom', 'messages', 'tasks', 'checkpoints', 'debug']),
      );
      expect(dataOf('updates').map((each) => Object.keys(Object(each))[0])).toEqual([
        'greet',
        'inside',
        '__interrupt__',
      ]);
      expect(dataOf('custom')).toEqual([{ heard: 'Ada' }]);
      expect(
        dataOf('messages')
          .map((each) => Object(each)[0].content)
          .join(''),
      ).toBe('Hello Ada');
      expect(dataOf('values').at(-1)).toMatchObject({ __interrupt__: [{ value: 'Really?' }] });

      const stopped = await client.threads.getState(thread);
      expect(stopped).toMatchObject({ next: ['ask'], tasks: [{ name: 'ask', interrupts: [{ value: 'Really?' }] }] });
      expect((await client.threads.get(thread)).status).toBe('interrupted');

      const ended = await client.runs.wait(thread, 'all', { command: { resume: 'yes' }, context: { word: 'Hello' } });
      expect(ended).toMatchObject({ steps: ['Hello Ada', 'yes'], found: [{ name: 'Ada' }, ['Ada']] });
      expect(await client.store.getItem(['users', 'ada'], 'name')).toMatchObject({ value: { name: 'Ada' } });

      const history = await client.threads.getHistory(thread);
      expect(history.map(({ next }) => next.join())).toEqual(['', 'keep', 'ask', 'inside', 'greet', '__start__']);
      // 0.6 keeps what the nodes after a checkpoint wrote when it is forked; this node's value is replaced anyway.
      const { checkpoint } = history[3] ?? {};
      const fork = await client.threads.updateState(thread, {
        values: { found: 'by hand' },
        asNode: 'inside',
        ...(checkpoint?.checkpoint_id ? { checkpointId: checkpoint.checkpoint_id } : {}),
      });
      const forked = { values: { steps: ['Hello Ada'], found: 'by hand' } };
      expect(await client.threads.getState(thread)).toMatchObject({ next: ['ask'], ...forked });
      const { checkpoint_id: checkpointId } = Object(fork).configurable ?? Object(fork).checkpoint;
      expect(await client.runs.wait(thread, 'all', { input: null, checkpointId })).toMatchObject({
        ...forked.values,
        __interrupt__: [{ value: 'Really?' }],
      });
      expect(await client.runs.wait(thread, 'all', { command: { resume: 'again' } })).toMatchObject({
        steps: ['Hello Ada', 'again'],
      });

      const [{ assistant_id: id } = { assistant_id: '' }] = await client.assistants.search({ graphId: 'all' });
      const drawn = await client.assistants.getGraph(id);
      expect(drawn.nodes.map((node) => node.id)).toEqual(['__start__', 'greet', 'inside', 'ask', 'keep', '__end__']);
      const schemas = await client.assistants.getSchemas(id);
      expect(Object.keys(Object(schemas.context_schema).properties)).toEqual(['word']);
      expect(Object.keys(Object(schemas.state_schema).properties)).toEqual(['name', 'steps', 'found']);
      expect(Object.keys(await client.assistants.getSubgraphs(id))).toEqual(['inside']);
      await expect(client.runs.wait(null, 'fails', { input })).rejects.toThrow('ValueError: no tea');
      // Without a context: that of the graph has a default.
      const seen = await Array.fromAsync(client.runs.stream(null, 'all', { input, streamMode: 'events' }));
      expect(seen.some(({ event, data }) => event === 'events' && Object(data).event === 'on_chat_model_stream')).toBe(
        true,
      );
    });
  });
