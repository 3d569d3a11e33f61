import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import * as z from 'zod';
import { tracedRunsReport } from '../../../../src/contract/control/tracing-project.ts';
import type { TracedRun } from '../../../../src/contract/control/tracing-project.ts';

/** A fake tracing project: records the exported runs, and responds as a test sets it. */
export interface Collector {
  url: string;
  token: string;
  /** Every accepted run, once per export. */
  runs: TracedRun[];
  /** Number of requests. */
  requested: number;
  /** Its response: a status, for any request or by its runs, or none at all. */
  answers: number | ((runs: readonly unknown[]) => number) | 'nothing';
  close(): Promise<void>;
}

export async function startCollector(): Promise<Collector> {
  const token = 'token-of-a-project';
  const server = createServer((request, response) => {
    void (async () => {
      self.requested += 1;
      // Read for each request, because a test may change it meanwhile.
      const { answers } = self;
      const body = await text(request);
      if (answers === 'nothing') return request.socket.destroy();
      if (request.headers.authorization !== `Bearer ${token}`) return response.writeHead(401).end();
      const json: unknown = JSON.parse(body);
      const status =
        typeof answers === 'number' ? answers : answers(z.object({ runs: z.array(z.unknown()) }).parse(json).runs);
      if (status === 200) self.runs.push(...tracedRunsReport.parse(json).runs);
      return response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the collector has no port');
  const self: Collector = {
    url: `http://127.0.0.1:${address.port}/v1/projects/one/runs`,
    token,
    runs: [],
    requested: 0,
    answers: 200,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return self;
}
