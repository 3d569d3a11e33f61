import { field, post, quickest, row, text } from './row.ts';
import type { Row } from './row.ts';

const hello = { assistant_id: 'greeter', input: { input: 'Ada' } };

/** Less than this (ms) is no waiting, on the busiest machine. */
const moment = 400;
const tries = 5;

/** Asked one after the other, while nothing else is asked. */
export const speedRows: Row[] = [
  row(`a wait answers as its run ends: the quickest of ${tries} within ${moment} ms`, async (server) => {
    const thread = await server.thread();
    const stayed = await quickest(tries, async () => {
      const { path, url } = server.hook();
      await server.wait({ ...hello, webhook: url }, thread);
      const answered = Date.now();
      return answered - Date.parse(text(field(await server.hooks(path), 0, 'body'), 'run_ended_at'));
    });
    return stayed < moment ? 'it does' : 'it does not';
  }),
  row(`a stream ends with its last event: the quickest of ${tries} within ${moment} ms`, async (server) => {
    const stayed = await quickest(tries, async () => {
      let last = 0;
      await server.events('/runs/stream', post({ ...hello, stream_mode: ['updates'] }), () => {
        last = performance.now();
        return false;
      });
      return performance.now() - last;
    });
    return stayed < moment ? 'it does' : 'it does not';
  }),
];
