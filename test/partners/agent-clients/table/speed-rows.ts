import { field, isOnceWithin, post, row, text } from './row.ts';
import type { Asking, Row } from './row.ts';

/** Less than this (ms) counts as no delay, on the busiest machine. */
const moment = 400;
const tries = 20;

/**
 * Whether a caller learns within a moment that a run has ended, measured from its webhook on. A busy machine only makes
 * that longer.
 */
async function heardAtOnce(server: Asking, hear: (run: object) => Promise<unknown>): Promise<string> {
  const isAtOnce = await isOnceWithin(moment, tries, async () => {
    const { path, url } = server.hook();
    await hear({ assistant_id: 'greeter', input: { input: 'Ada' }, webhook: url });
    const heard = Date.now();
    return heard - Date.parse(text(field(await server.hooks(path), 0, 'body'), 'run_ended_at'));
  });
  return isAtOnce ? 'it does' : 'it does not';
}

/** Sent one after the other, with no other requests. */
export const speedRows: Row[] = [
  row(`a wait responds as its run ends: one of ${tries} within ${moment} ms`, async (server) => {
    const thread = await server.thread();
    return heardAtOnce(server, (run) => server.wait(run, thread));
  }),
  row(`a stream ends as its run does: one of ${tries} within ${moment} ms`, async (server) => {
    const path = `/threads/${await server.thread()}/runs/stream`;
    return heardAtOnce(server, (run) => server.events(path, post({ ...run, stream_mode: ['updates'] })));
  }),
];
