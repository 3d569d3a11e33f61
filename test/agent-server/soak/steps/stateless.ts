import { fieldsOf, itemsOf } from '../caller.ts';
import type { Step } from '../worker.ts';
import { accept, eventsIn, hearEnd, hearEvents, wish } from './sending.ts';
import { ownMetadata } from './threads.ts';

const wait: Step = async (worker) => {
  const { run, body } = wish(worker, { detached: false });
  const told = await worker.caller.tell('POST', '/runs/wait', body);
  accept(run, told);
  hearEnd(worker, run, told);
};

const stream: Step = async (worker) => {
  const { run, body } = wish(worker, { detached: false, more: { stream_mode: ['updates'] } });
  const told = await worker.caller.tell('POST', '/runs/stream', body);
  accept(run, told);
  if (told.text !== undefined) hearEvents(run, eventsIn(told.text));
};

/** Leaves nothing but its webhook. */
const background: Step = async (worker) => {
  const { run, body } = wish(worker, { detached: true, most: 1500 });
  accept(run, await worker.caller.tell('POST', '/runs', body));
};

const batch: Step = async (worker) => {
  const wishes = Array.from({ length: worker.chance.between(1, 5) }, () => wish(worker, { detached: true }));
  const said = await worker.caller.ask(
    'POST',
    '/runs/batch',
    wishes.map(({ body }) => body),
  );
  if (said.kind === 'nobody-knows') return;
  for (const [at, each] of itemsOf(said.body).entries()) {
    const run = wishes[at]?.run;
    if (run) Object.assign(run, { accepted: true, runId: String(fieldsOf(each)['run_id']) });
  }
};

/** Makes a thread of itself, with what it did on it. */
const keep: Step = async (worker) => {
  const { caller, threads, floors } = worker;
  const { run, body } = wish(worker, { detached: false, more: { on_completion: 'keep' } });
  const told = await caller.tell('POST', '/runs/wait', body);
  accept(run, told);
  hearEnd(worker, run, told);
  const threadId = told.place?.split('/')[2];
  if (threadId === undefined || run.told[0] !== 'success') return;
  run.threadId = threadId;
  const said = await caller.ask('PATCH', `/threads/${threadId}`, { metadata: { by: worker.name, word: run.mark } });
  if (said.kind === 'nobody-knows') return;
  threads.is(threadId, ownMetadata(said.body));
  floors.set(threadId, run.steps);
};

/** Steps of the group of stateless runs, with how often each comes. */
export const statelessSteps: [number, Step][] = [
  [4, wait],
  [3, stream],
  [3, background],
  [2, batch],
  [3, keep],
];
