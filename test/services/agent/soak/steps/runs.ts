import { fieldsOf, itemsOf } from '../caller.ts';
import type { Step } from '../worker.ts';
import { accept, eventsIn, hearEnd, hearEvents, request } from './sending.ts';
import type { StreamEvent } from './sending.ts';
import { aThread } from './threads.ts';

const wait: Step = async (worker) => {
  const [threadId] = aThread(worker);
  if (threadId === '') return;
  const { run, body } = request(worker, { threadId, detached: false });
  const reply = await worker.caller.report('POST', `/threads/${threadId}/runs/wait`, body);
  accept(run, reply);
  hearEnd(worker, run, reply);
};

/** A background run that two clients join and a third one follows. */
const join: Step = async (worker) => {
  const { caller, chance } = worker;
  const [threadId] = aThread(worker);
  if (threadId === '') return;
  const spelling = chance.one(['thread', 'threads']);
  const { run, body } = request(worker, { threadId, detached: true, more: chance.is(0.2) ? { after_seconds: 1 } : {} });
  const reply = await caller.report('POST', `/${spelling}/${threadId}/runs`, body);
  accept(run, reply);
  if (run.runId === undefined) return;
  const place = `/threads/${threadId}/runs/${run.runId}`;
  const [one, other, stream] = await Promise.all([
    caller.report('GET', `${place}/join`, undefined),
    caller.report('GET', `${place}/join`, undefined),
    caller.report('GET', `${place}/stream`, undefined),
  ]);
  for (const each of [one, other]) hearEnd(worker, run, each);
  if (stream.text !== undefined) hearEvents(run, eventsIn(stream.text));
};

/** Background runs without a waiting client, so that they queue up on a thread. */
const pileUp: Step = async (worker) => {
  const { caller, chance } = worker;
  const [threadId] = aThread(worker);
  for (let left = threadId === '' ? 0 : chance.between(1, 4); left > 0; left -= 1) {
    const { run, body } = request(worker, { threadId, detached: true });
    accept(run, await caller.report('POST', `/threads/${threadId}/runs`, body));
  }
};

const stream: Step = async (worker) => {
  const { caller, chance } = worker;
  const [threadId] = aThread(worker);
  if (threadId === '') return;
  const stream_mode = [chance.one(['updates', 'values', 'debug', 'events']), 'updates'];
  const { run, body } = request(worker, { threadId, detached: false, more: { stream_mode } });
  // Some clients disconnect midway.
  const leave = chance.is(0.2) ? { leave: /event: updates/ } : {};
  const reply = await caller.report('POST', `/threads/${threadId}/runs/stream`, body, leave);
  accept(run, reply);
  if (reply.text !== undefined) hearEvents(run, eventsIn(reply.text));
};

/** Follows a stream to its end despite killed processes: no event repeats, and the ids grow. */
const resume: Step = async (worker) => {
  const { caller, faults } = worker;
  const [threadId] = aThread(worker);
  if (threadId === '') return;
  const more = { stream_mode: ['updates'], stream_resumable: true, on_disconnect: 'continue' };
  const { run, body } = request(worker, { threadId, detached: true, most: 1500, more });
  let reply = await caller.report('POST', `/threads/${threadId}/runs/stream`, body, {
    leave: /event: updates\n.*\n\n/,
  });
  accept(run, reply);
  if (run.runId === undefined) return;
  const place = `/threads/${threadId}/runs/${run.runId}`;
  const events: StreamEvent[] = [];
  for (let tries = 0; tries < 20; tries += 1) {
    const headers = { 'last-event-id': String(events.at(-1)?.id ?? -1) };
    reply = await caller.report('GET', `${place}/stream`, undefined, { headers });
    events.push(...eventsIn(reply.text ?? ''));
    const said = await caller.ask('GET', place);
    if (said.kind === 'answered' && !isUnfinished(String(fieldsOf(said.body)['status']))) break;
  }
  // Events between the last disconnect and the end.
  const rest = await caller.report('GET', `${place}/stream`, undefined, {
    headers: { 'last-event-id': String(events.at(-1)?.id ?? -1) },
  });
  if (rest.text === undefined) return;
  events.push(...eventsIn(rest.text));
  const ids = events.map(({ id }) => id ?? Number.NaN);
  if (ids.some((id, at) => !(id > (ids[at - 1] ?? -1))))
    faults.push(`the events of ${run.mark} arrived as ${ids.join()}`);
  hearEvents(run, events);
};

const cancel: Step = async (worker) => {
  const { caller, chance } = worker;
  const [threadId] = aThread(worker);
  if (threadId === '') return;
  const { run, body } = request(worker, { threadId, detached: true, most: 3000 });
  accept(run, await caller.report('POST', `/threads/${threadId}/runs`, body));
  if (run.runId === undefined) return;
  const way = chance.one(['interrupt', 'rollback', 'many']);
  if (way === 'many') {
    run.sure = false;
    await caller.ask('POST', '/runs/cancel', { thread_id: threadId, run_ids: [run.runId] });
    return;
  }
  [run.sure, run.mayBeUndone] = [false, way === 'rollback'];
  const query = `wait=${chance.one(['true', 'false'])}&action=${way}`;
  await caller.ask('POST', `/threads/${threadId}/runs/${run.runId}/cancel?${query}`, {}, [202, 204, 409]);
};

/** A run on a busy thread waits, is rejected, or ends the previous one. */
const collide: Step = async (worker) => {
  const { caller, chance, runs } = worker;
  const [threadId] = aThread(worker);
  if (threadId === '') return;
  const first = request(worker, { threadId, detached: true, most: 2000 });
  accept(first.run, await caller.report('POST', `/threads/${threadId}/runs`, first.body));
  const strategy = chance.one(['reject', 'enqueue', 'interrupt', 'rollback']);
  const next = request(worker, { threadId, detached: true, more: { multitask_strategy: strategy } });
  if (strategy === 'interrupt' || strategy === 'rollback')
    runs.endOpenWork(threadId, { forgets: strategy === 'rollback', but: next.run });
  const reply = await caller.report('POST', `/threads/${threadId}/runs`, next.body, { right: [200, 409] });
  accept(next.run, reply);
  if (reply.status === 409) next.run.refused = true;
};

/** A graph interrupts, and any process may resume it. */
const askAndResume: Step = async (worker) => {
  const { caller, chance, runs, newMark } = worker;
  const threadId = chance.uuid();
  const [mark, next] = [newMark(), newMark()];
  const requested = runs.add({ mark, threadId, hooked: false, steps: [`prepare ${mark}`] });
  const metadata = { by: worker.name };
  const body = {
    assistant_id: 'soak',
    input: { mark, sleep_ms: 0, fail: false, ask: true },
    metadata: { mark },
    if_not_exists: 'create',
  };
  const reply = await caller.report('POST', `/threads/${threadId}/runs/wait`, body);
  accept(requested, reply);
  if (!reply.text?.includes('__interrupt__')) return;
  requested.reply.push('success');
  await caller.ask('PATCH', `/threads/${threadId}`, { metadata });
  const command = { update: { ask: false, mark: next }, resume: 'yes' };
  const run = runs.add({ mark: next, threadId, hooked: false, steps: [`answer ${next}`] });
  const resumed = { assistant_id: 'soak', command, metadata: { mark: next } };
  const end = await caller.report('POST', `/threads/${threadId}/runs/wait`, resumed);
  accept(run, end);
  hearEnd(worker, run, end);
};

/** Reads the runs of a thread, and deletes an ended one. */
const tidyUp: Step = async (worker) => {
  const { caller, chance, runs, faults } = worker;
  const [threadId] = aThread(worker);
  if (threadId === '') return;
  const said = await caller.ask('GET', `/threads/${threadId}/runs?limit=1000`);
  if (said.kind === 'unknown') return;
  const listed = new Map(
    itemsOf(said.body)
      .map(fieldsOf)
      .map((run) => [run['run_id'], String(run['status'])]),
  );
  const there = runs.all.filter(
    (run) => run.threadId === threadId && run.accepted && !run.isDeleted && !run.mayBeUndone,
  );
  for (const run of there) {
    const status = listed.get(run.runId);
    if (status === undefined) faults.push(`the run ${run.mark} is not listed`);
    else if (!isUnfinished(status)) run.reply.push(status);
  }
  const run = chance.any(there.filter(({ reply }) => reply.length > 0));
  if (run === undefined || chance.is(0.5)) return;
  run.isDeleted = true;
  await caller.ask('DELETE', `/threads/${threadId}/runs/${run.runId}`);
};

const isUnfinished = (status: string): boolean => status === 'pending' || status === 'running';

/** Steps of the group of runs on threads, with their weights. */
export const runSteps: [number, Step][] = [
  [6, wait],
  [5, join],
  [3, pileUp],
  [5, stream],
  [4, resume],
  [3, cancel],
  [4, collide],
  [3, askAndResume],
  [2, tidyUp],
];
