import { join } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { expect, onTestFinished, test } from 'vitest';
import { describePython } from '../../../../python/needs-python.ts';
import { serveAgent } from '../../serving.ts';

describePython('client.threads.stream of the official client, with a graph in Python', (python) => {
  test('reports an interrupt, and goes on with its response', async () => {
    const serving = await serveAgent({ configPath: join(import.meta.dirname, 'agent/odd.json'), python });
    onTestFinished(() => serving.close());
    const client = new Client({ apiUrl: serving.url, apiKey: null });
    const thread = client.threads.stream({ assistantId: 'notes' });
    onTestFinished(() => thread.close());
    await thread.submitRun({ input: {} });
    await expect.poll(() => thread.interrupted).toBe(true);
    const [waiting] = thread.interrupts;
    expect(waiting?.payload).toBe('Really?');
    await thread.respondInput({ namespace: [], interrupt_id: waiting?.interruptId ?? '', response: 'yes' });
    await expect
      .poll(async () => (await thread.state.get({ namespace: [] })).values)
      .toEqual({ said: { text: 'kept' }, steps: ['yes'] });
    await expect.poll(async () => (await client.threads.get(thread.threadId)).status).toBe('idle');
  });
});
