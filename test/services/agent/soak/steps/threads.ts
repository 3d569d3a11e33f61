import { fieldsOf, itemsOf } from '../caller.ts';
import { note } from '../worker.ts';
import type { Step, Worker } from '../worker.ts';

const make: Step = async (worker) => {
  const { chance, caller, threads, name, newMark } = worker;
  const id = chance.uuid();
  const metadata = { by: name, word: newMark() };
  const ttl = chance.is(0.3) ? { ttl: 600 } : {};
  note(threads, id, metadata, await caller.ask('POST', '/threads', { thread_id: id, metadata, ...ttl }));
};

const patch: Step = async (worker) => {
  const [id, metadata] = aThread(worker);
  if (metadata === undefined) return make(worker);
  const more = { word: worker.newMark() };
  const said = await worker.caller.ask('PATCH', `/threads/${id}`, { metadata: more });
  note(worker.threads, id, { ...metadata, ...more }, said);
};

const search: Step = async (worker) => {
  const { caller, threads, name, faults } = worker;
  const [, metadata] = aThread(worker);
  if (metadata === undefined) return make(worker);
  const said = await caller.ask('POST', '/threads/search', {
    metadata: { by: name, word: metadata['word'] },
    limit: 10,
  });
  await caller.ask('POST', '/threads/count', { metadata: { by: name } });
  if (said.kind === 'unknown') return;
  const found = itemsOf(said.body).map((each) => String(fieldsOf(each)['thread_id']));
  if (!found.some((id) => threads.get(id)))
    faults.push(`the search missed the thread with ${String(metadata['word'])}`);
};

/** Reads the states and records the steps, which must not disappear. */
const read: Step = async (worker) => {
  const [id, metadata] = aThread(worker);
  if (metadata === undefined) return make(worker);
  await worker.caller.ask('GET', `/threads/${id}/history?limit=5`);
  await worker.caller.ask('POST', `/threads/${id}/history`, { limit: 3 });
  await keepFloor(worker, id);
};

const writeByHand: Step = async (worker) => {
  const { caller, byHand, floors, newMark } = worker;
  const [id] = aThread(worker);
  if ((floors.get(id)?.length ?? 0) === 0) return read(worker);
  const step = `by hand ${newMark()}`;
  const body = { values: { steps: [step] }, as_node: 'answer' };
  const said = await caller.ask('POST', `/threads/${id}/state`, body, [200, 409]);
  if (said.kind === 'answered' && said.status === 409) return;
  byHand.push({ threadId: id, step, isSure: said.kind === 'answered' });
};

const copy: Step = async (worker) => {
  const { caller, threads, copied } = worker;
  const [id, metadata] = aThread(worker);
  if (metadata === undefined) return make(worker);
  const said = await caller.ask('POST', `/threads/${id}/copy`);
  if (said.kind === 'unknown') return;
  const copy = String(fieldsOf(said.body)['thread_id']);
  const steps = await stepsOn(worker, copy);
  if (steps === undefined) return;
  copied.set(copy, steps);
  threads.is(copy, metadata);
};

const keepLatest: Step = async (worker) => {
  const [id, metadata] = aThread(worker);
  if (metadata === undefined) return make(worker);
  await worker.caller.ask('POST', '/threads/prune', { thread_ids: [id], strategy: 'keep_latest' });
};

const remove: Step = async (worker) => {
  const { caller, threads, runs, byHand, floors } = worker;
  const [id, metadata] = aThread(worker);
  if (metadata === undefined || threads.sure().length < 4) return make(worker);
  runs.gone(id);
  floors.delete(id);
  for (const written of byHand) if (written.threadId === id) written.isSure = false;
  note(threads, id, undefined, await caller.ask('DELETE', `/threads/${id}`));
};

/** Follows all events of a thread for a while. */
const listen: Step = async (worker) => {
  const [id, metadata] = aThread(worker);
  if (metadata === undefined) return make(worker);
  await worker.caller.report('GET', `/threads/${id}/stream`, undefined, { leaveAfterMs: 300 });
};

/** Steps of the group of threads, with their weights. */
export const threadSteps: [number, Step][] = [
  [4, make],
  [3, patch],
  [2, search],
  [4, read],
  [3, writeByHand],
  [2, copy],
  [1, keepLatest],
  [2, remove],
  [1, listen],
];

/** The steps on a thread; undefined if the server is unavailable. */
export async function stepsOn({ caller }: Worker, id: string): Promise<string[] | undefined> {
  const said = await caller.ask('GET', `/threads/${id}/state`);
  if (said.kind === 'unknown') return undefined;
  return itemsOf(fieldsOf(fieldsOf(said.body)['values'])['steps']).map(String);
}

/** The metadata from clients: the server adds the graph and the assistant. */
export function ownMetadata(thread: unknown): Record<string, unknown> {
  const { graph_id: _, assistant_id: __, ...own } = fieldsOf(fieldsOf(thread)['metadata']);
  return own;
}

/** Records the steps of an idle thread. */
async function keepFloor(worker: Worker, id: string): Promise<void> {
  const said = await worker.caller.ask('GET', `/threads/${id}`);
  if (said.kind === 'unknown' || fieldsOf(said.body)['status'] === 'busy') return;
  const steps = await stepsOn(worker, id);
  if (steps === undefined) return;
  worker.floors.set(id, steps);
}

/** A thread that certainly exists. */
export function aThread({ chance, threads }: Worker): [string, Record<string, unknown> | undefined] {
  const id = chance.any(threads.sure()) ?? '';
  return [id, threads.get(id)];
}
