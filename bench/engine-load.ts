import { loggerTo } from '../test/logger.ts';
// Runs of examples/echo-agent by the graph engine alone, in process: what every server of it has to do.
import { randomUUID } from 'node:crypto';
import { MemorySaver } from '@langchain/langgraph-checkpoint';
import { graph } from '../examples/echo-agent/src/graph.ts';
import { Checkpoints } from '../src/services/agent/graphs/checkpoints.ts';
import { openStorage } from '../src/services/agent/storage/open.ts';
import { loadRuns, type PrepareRuns, type RunTimes } from './run-load.ts';

const input = { input: 'Ada' };

/** `postgres`: our agent server's own checkpoints and connections; `memory`: the engine's; `nothing`: none are kept. */
async function retention(what: string, databaseUrl: string) {
  const copy = graph.withConfig({});
  const memory = new MemorySaver();
  if (what === 'memory') copy.checkpointer = memory;
  if (what === 'postgres') {
    const { pool } = await openStorage(databaseUrl, randomUUID(), loggerTo(console.error));
    copy.checkpointer = new Checkpoints(pool, { serializer: memory.serde, keepsPendingSends: false });
  }
  return copy;
}

async function preparing(what = '', databaseUrl = ''): Promise<PrepareRuns> {
  const engine = await retention(what, databaseUrl);
  const onNewThread = () => ({ configurable: { thread_id: randomUUID() } });

  const invoked = async (): Promise<RunTimes> => {
    const began = performance.now();
    const { output } = await engine.invoke(input, onNewThread());
    if (output !== 'hello Ada') throw new Error(`the graph answered ${output}`);
    return { last: performance.now() - began };
  };

  const streamed = async (): Promise<RunTimes> => {
    const began = performance.now();
    const times: RunTimes = { last: 0 };
    let updates = 0;
    for await (const [mode] of await engine.stream(input, { ...onNewThread(), streamMode: ['updates', 'values'] })) {
      times.last = performance.now() - began;
      times.first ??= times.last;
      if (mode !== 'updates') continue;
      times.firstUpdate ??= times.last;
      updates += 1;
    }
    if (updates !== 2) throw new Error(`${updates} of 2 nodes were seen`);
    return times;
  };

  return async ({ kind }) => (kind === 'stream' ? streamed : invoked);
}

if (import.meta.main) loadRuns(await preparing(...process.argv.slice(2)));
