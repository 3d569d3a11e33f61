import { silentLogger } from '../../../../src/kit/logger.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAgentServer } from '../../../../src/services/agent/server.ts';
import { systemClock } from '../../../../src/kit/clock.ts';
import { startTestPostgres } from '../../../kit/postgres/postgres.ts';
import type { TestPostgres } from '../../../kit/postgres/postgres.ts';
import { rememberingAgent } from '../store/remembering-agent.ts';
import type { TemporaryAgent } from '../temporary-agent.ts';

type Send = (path: string, init?: RequestInit) => Promise<Response>;

let postgres: TestPostgres;
let folder: TemporaryAgent;
beforeAll(async () => {
  postgres = await startTestPostgres();
  folder = rememberingAgent();
});
afterAll(async () => {
  await postgres.stop();
  folder.remove();
});

describe('what the store holds, over HTTP', () => {
  /** Serves one revision on the deployment's database while `use` runs. */
  const revision = async (revisionId: string, use: (send: Send) => Promise<void>): Promise<void> => {
    const { configPath } = folder;
    const address = { host: '127.0.0.1', port: 0, drainMs: 0 };
    const to = { clock: systemClock, log: silentLogger };
    const server = await startAgentServer({ configPath, databaseUrl: postgres.url, revisionId, ...address, ...to });
    try {
      await use((path, init) => fetch(`${server.url}${path}`, init));
    } finally {
      await server.close();
    }
  };
  const json = async (answer: Promise<Response>): Promise<unknown> => (await answer).json();
  const post = (body: object): RequestInit => ({ method: 'POST', body: JSON.stringify(body) });

  test(
    'outlives the run and the revision that wrote it',
    { meta: { claims: ['agent.store.persistent', 'agent.store.key-value'] } },
    async () => {
      const user = 'someone';
      const item = { namespace: [user, 'kept'], key: 'k', value: { for: 'the next one' } };
      const query = `/store/items?namespace=${user}.kept&key=k`;
      const says = { by: 'a run' };
      await revision('first', async (send) => {
        const put = await send('/store/items', { method: 'PUT', body: JSON.stringify(item) });
        expect(put.status).toBe(204);
        await json(send('/runs/wait', post({ assistant_id: 'remembers', input: { user, says } })));
      });
      await revision('second', async (send) => {
        expect(await json(send('/info'))).toMatchObject({ metadata: { revision_id: 'second' } });
        expect(await json(send(query))).toMatchObject(item);
        const heard = await json(send('/runs/wait', post({ assistant_id: 'remembers', input: { user } })));
        expect(heard).toMatchObject({ heard: { value: says } });
      });
    },
  );
});
