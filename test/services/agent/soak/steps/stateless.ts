import { fieldsOf, itemsOf } from '../caller.ts';
import type { Step } from '../worker.ts';
import { accept, eventsIn, hearEnd, hearEvents, request } from './sending.ts';
import { ownMetadata } from './threads.ts';

const wait: Step = async (worker) => {
  const { run, body } = request(worker, { detached: false });
  const reply = await worker.caller.report('POST', '/runs/wait', body);
  accept(run, reply);
  hearEnd(worker, run, reply);
};

const stream: Step = async (worker) => {
  const { run, body } = request(worker, { detached: false, more: { stream_mode: ['updates'] } });
  const reply = await worker.caller.report('POST', '/runs/stream', body);
  accept(run, reply);
  if (reply.text !== undefined) hearEvents(run, eventsIn(reply.text));
};

/** Leaves only its webhook. */
const background: Step = async (worker) => {
  const { run, body } = request(worker, { detached: true, most: 1500 });
  accept(run, await worker.caller.report('POST', '/runs', body));
};

const batch: Step = async (worker) => {
  const requests = Array.from({ length: worker.chance.between(1, 5) }, () => request(worker, { detached: true }));
  const said = await worker.caller.ask(
    'POST',
    '/runs/batch',
    requests.map(({ body }) => body),
  );
  if (said.kind === 'unknown') return;
  for (const [at, each] of itemsOf(said.body).entries()) {
    const run = requests[at]?.run;
    if (run) Object.assign(run, { accepted: true, runId: String(fieldsOf(each)['run_id']) });
  }
};

/** Creates a thread with the run's steps. */
const keep: Step = async (worker) => {
  const { caller, threads, floors } = worker;
  const { run, body } = request(worker, { detached: false, more: { on_completion: 'keep' } });
  const reply = await caller.report('POST', '/runs/wait', body);
  accept(run, reply);
  hearEnd(worker, run, reply);
  const threadId = reply.place?.split('/')[2];
  if (threadId === undefined || run.reply[0] !== 'success') return;
  run.threadId = threadId;
  const said = await caller.ask('PATCH', `/threads/${threadId}`, { metadata: { by: worker.name, word: run.mark } });
  if (said.kind === 'unknown') return;
  threads.is(threadId, ownMetadata(said.body));
  floors.set(threadId, run.steps);
};

/** Steps of the group of stateless runs, with their weights. */
export const statelessSteps: [number, Step][] = [
  [4, wait],
  [3, stream],
  [3, background],
  [2, batch],
  [3, keep],
];
