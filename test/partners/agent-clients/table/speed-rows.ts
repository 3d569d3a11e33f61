import { field, post, quickest, row, text } from './row.ts';
import type { Asking, Row } from './row.ts';

/** Less than this (ms) is no waiting, on the busiest machine. */
const moment = 400;
const tries = 5;

/**
 * Whether a caller hears within a moment that a run has ended, from its end on, as its webhook tells it. A busy machine
 * makes that longer, and never shorter.
 */
async function heardAtOnce(server: Asking, hear: (run: object) => Promise<unknown>): Promise<string> {
  const stayed = await quickest(tries, async () => {
    const { path, url } = server.hook();
    await hear({ assistant_id: 'greeter', input: { input: 'Ada' }, webhook: url });
    const heard = Date.now();
    return heard - Date.parse(text(field(await server.hooks(path), 0, 'body'), 'run_ended_at'));
  });
  return stayed < moment ? 'it does' : 'it does not';
}

/** Sent one after the other, with no other requests. */
export const speedRows: Row[] = [
  row(`a wait responds as its run ends: the quickest of ${tries} within ${moment} ms`, async (server) => {
    const thread = await server.thread();
    return heardAtOnce(server, (run) => server.wait(run, thread));
  }),
  row(`a stream ends as its run does: the quickest of ${tries} within ${moment} ms`, async (server) => {
    const path = `/threads/${await server.thread()}/runs/stream`;
    return heardAtOnce(server, (run) => server.events(path, post({ ...run, stream_mode: ['updates'] })));
  }),
];
