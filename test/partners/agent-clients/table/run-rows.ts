import { code, count, field, post, row, text } from './row.ts';
import type { Asking, Row } from './row.ts';

const hello = { assistant_id: 'greeter', input: { input: 'Ada' } };
const long = { assistant_id: 'slow', input: { each: 60_000 } };

/** A thread with a run on it that goes on for long. */
async function busy(server: Asking): Promise<{ thread: string; run: string }> {
  const thread = await server.thread();
  const run = await server.run(thread, long);
  await server.until(thread, run, 'running');
  return { thread, run };
}

export const runRows: Row[] = [
  row("a stream starts with `metadata` and the run's id", async (server) => {
    const [first] = await server.events('/runs/stream', post({ ...hello, stream_mode: ['updates'] }));
    return `\`${first?.event}\` ${text(first?.data, 'run_id') === '' ? 'without' : 'with'} an id`;
  }),
  row('updates of a subgraph have its name', async (server) => {
    const body = { assistant_id: 'outer', input: { word: 'w' }, stream_mode: ['updates'], stream_subgraphs: true };
    const inner = (await server.events('/runs/stream', post(body))).find(({ event }) => event.startsWith('updates|'));
    return inner?.event.startsWith('updates|inside:') ? 'they do' : 'they do not';
  }),
  row('`Content-Location` names the run', async (server) => {
    const thread = await server.thread();
    const made = await server.ask('POST', `/threads/${thread}/runs`, hello);
    const named = `/threads/${thread}/runs/${text(made.body, 'run_id')}`;
    return made.header('content-location') === named ? 'it does' : code(made.header('content-location'));
  }),
  row('waiting for a failed run: 200 with `__error__`', async (server) => {
    const { status, body } = await server.wait({ ...hello, input: { input: 'x', fail: 'no ink' } });
    return `${status} with ${code(field(body, '__error__'))}`;
  }),
  row('a run on a busy thread with `reject` is a 409', async (server) => {
    const { thread, run } = await busy(server);
    const answered = await server.status('POST', `/threads/${thread}/runs`, { ...hello, multitask_strategy: 'reject' });
    await server.ask('POST', `/threads/${thread}/runs/${run}/cancel?wait=1`);
    return answered;
  }),
  row('without a `multitask_strategy` it is queued', async (server) => {
    const thread = await server.thread();
    await server.run(thread, { assistant_id: 'slow', input: { each: 200 } });
    const { status } = await server.wait({ assistant_id: 'slow', input: { each: 1 } }, thread);
    return String(status);
  }),
  row('`rollback` deletes the former run', async (server) => {
    const { thread, run } = await busy(server);
    await server.wait({ ...hello, multitask_strategy: 'rollback' }, thread);
    return server.status('GET', `/threads/${thread}/runs/${run}`);
  }),
  row('waiting for a cancelled run returns an error', async (server) => {
    const { thread, run } = await busy(server);
    const waited = server.ask('GET', `/threads/${thread}/runs/${run}/join`);
    await server.ask('POST', `/threads/${thread}/runs/${run}/cancel?wait=1`);
    const { body } = await waited;
    return `\`__error__\` ${code(field(body, '__error__', 'error'))}`;
  }),
  row('deleting an unfinished run is a 409', async (server) => {
    const { thread, run } = await busy(server);
    const answered = await server.status('DELETE', `/threads/${thread}/runs/${run}`);
    await server.ask('POST', `/threads/${thread}/runs/${run}/cancel?wait=1`);
    return answered;
  }),
  row('`POST /runs/cancel` ends several', async (server) => {
    const { thread, run } = await busy(server);
    const answered = await server.status('POST', '/runs/cancel', { thread_id: thread, run_ids: [run] });
    const seen = answered === '404' ? 'running' : await server.until(thread, run, 'interrupted');
    await server.ask('POST', `/threads/${thread}/runs/${run}/cancel?wait=1`);
    return `${answered}, then ${seen}`;
  }),
  row('a batch with an invalid run creates none', async (server) => {
    const answered = await server.ask('POST', '/runs/batch', [hello, { ...hello, assistant_id: 'nothing' }]);
    return `${answered.status}${Array.isArray(answered.body) ? `, ${answered.body.length} runs` : ''}`;
  }),
  row('a resumable stream continues after `Last-Event-ID`', async (server) => {
    const thread = await server.thread();
    const stream = { assistant_id: 'slow', input: { each: 150 }, stream_mode: ['updates'], stream_resumable: true };
    const before = await server.events(
      `/threads/${thread}/runs/stream`,
      post({ ...stream, on_disconnect: 'continue' }),
      ({ event }) => event === 'updates',
    );
    const run = text(before[0]?.data, 'run_id');
    const after = await server.events(`/threads/${thread}/runs/${run}/stream`, {
      headers: { 'last-event-id': before.at(-1)?.id ?? '' },
    });
    return after.map(({ data }) => Object.keys(Object(data)).join()).join(', then ') || 'no events';
  }),
  row('the stream of a cancelled run ends without `error`', async (server) => {
    const thread = await server.thread();
    const heard = server.events(
      `/threads/${thread}/runs/stream`,
      post({ ...long, stream_mode: ['updates'] }),
      undefined,
      8_000,
    );
    let run = '';
    while (run === '') run = text((await server.ask('GET', `/threads/${thread}/runs`)).body, 0, 'run_id');
    await server.until(thread, run, 'running');
    await server.ask('POST', `/threads/${thread}/runs/${run}/cancel?wait=1`);
    return `its last event is \`${(await heard).at(-1)?.event}\``;
  }),
  row('the stream of a thread has the events of its runs', async (server) => {
    const thread = await server.thread();
    const heard = server.events(`/threads/${thread}/stream`, {}, ({ event }) => event === 'values', 5_000);
    // Several, because nothing signals that the stream is open.
    for (let n = 0; n < 5; n++) await server.wait(hello, thread);
    return (await heard).some(({ event }) => event === 'values') ? 'it does' : 'no events';
  }),
  row('`after_seconds` delays a run', async (server) => {
    const thread = await server.thread();
    const run = await server.run(thread, { ...hello, after_seconds: 1 });
    const started = performance.now();
    const end = await server.until(thread, run, 'success');
    return `${end} ${performance.now() - started > 500 ? 'later' : 'at once'}`;
  }),
  row('`GET .../runs` filters by `status`', async (server) => {
    const thread = await server.thread();
    await server.wait(hello, thread);
    return `${count((await server.ask('GET', `/threads/${thread}/runs?status=error`)).body)} of another status`;
  }),
];
