// CPU time of an agent for reading a state of 3 MB: ours from Postgres, beside the engine deserialising the same bytes from
// memory.
import { randomUUID } from 'node:crypto';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { emptyCheckpoint, MemorySaver } from '@langchain/langgraph-checkpoint';
import { Checkpoints } from '../src/services/agent/graphs/checkpoints.ts';
import { openStorage } from '../src/services/agent/storage/open.ts';
import { loggerTo } from '../test/logger.ts';
import { benchFolder, startBenchPostgres } from './bench-postgres.ts';
import { contend, cpuEach, startContender } from './contender-process.ts';
import type { Measured } from './figure.ts';
import { interleave, median, sized, spread } from './rounds.ts';

const bytes = sized(3_000_000, 30_000);
/** How often a round reads the state. */
const times = sized(10, 1);

const picture = (size: number) => ({
  type: 'image_url' as const,
  image_url: { url: `data:image/png;base64,${Buffer.alloc(size, 'picture').toString('base64')}` },
});

/** The messages of a conversation, by what it consists of. */
const shapes: Readonly<Record<string, () => unknown[]>> = {
  pictures: () =>
    [0, 1, 2].flatMap((index) => [
      new HumanMessage({ content: [{ type: 'text', text: `What is on picture ${index}?` }, picture(bytes / 4)] }),
      new AIMessage('A parcel.'),
    ]),
  texts: () =>
    Array.from(
      { length: bytes / 3_000 },
      (_, index) => new AIMessage(`Parcel ${index} left the same day. `.repeat(90)),
    ),
};

const messagesOf = (shape: string): unknown[] => {
  const messages = shapes[shape];
  if (!messages) throw new Error(`there is no state of ${shape}`);
  return messages();
};

const { serde } = new MemorySaver();

/** Stores the state once, and reads it as a run and the API do. */
async function ours(shape = '', databaseUrl = '') {
  const { pool } = await openStorage(databaseUrl, randomUUID(), loggerTo(console.error));
  const checkpoints = new Checkpoints(pool, { serializer: serde, keepsPendingSends: false });
  const config = { configurable: { thread_id: randomUUID(), checkpoint_ns: '' } };
  const state = { messages: messagesOf(shape) };
  const checkpoint = { ...emptyCheckpoint(), channel_values: state, channel_versions: { messages: 1 } };
  await checkpoints.put(config, checkpoint, { source: 'loop', step: 0, parents: {} }, { messages: 1 });
  return {
    round: () =>
      cpuEach(times, async () => {
        const tuple = await checkpoints.getTuple(config);
        expectMessages(tuple?.checkpoint.channel_values['messages'], state.messages);
      }),
  };
}

async function floor(shape = '') {
  const messages = messagesOf(shape);
  const [type, stored] = await serde.dumpsTyped(messages);
  return {
    round: () => cpuEach(times, async () => expectMessages(await serde.loadsTyped(type, stored), messages)),
  };
}

function expectMessages(read: unknown, stored: readonly unknown[]): void {
  if (!Array.isArray(read) || read.length !== stored.length) throw new Error('the state was not read as it was stored');
}

/** CPU time for reading one state, for each of the shapes. */
export async function stateRead(): Promise<Measured[]> {
  await using folder = benchFolder();
  await using postgres = await startBenchPostgres(folder.path);
  const measured: Measured[] = [];
  for (const shape of Object.keys(shapes)) measured.push(await ofShape(shape, await postgres.database(shape)));
  return measured;
}

async function ofShape(shape: string, databaseUrl: string): Promise<Measured> {
  await using reader = await startContender(import.meta.filename, 'ours', shape, databaseUrl);
  await using engine = await startContender(import.meta.filename, 'floor', shape);
  const measured = await interleave({ ours: reader, floor: engine }, { rounds: 7, warmups: 2 });
  return {
    figure: `state-read-${shape}`,
    unit: 'us CPU',
    ours: median(measured.ours),
    floor: median(measured.floor),
    notes: {
      ours: `a state of ${bytes / 1_000_000} MB in messages, from Postgres`,
      floor: 'the engine deserialises the same bytes',
    },
    targets: [{ of: 'floor', most: 2 }],
    spread: spread(measured.ours),
  };
}

if (import.meta.main) await contend({ ours, floor });
