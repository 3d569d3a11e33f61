import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import type { AgentAuth, AuthUser } from '../../../../src/services/agent/auth/agent-auth.ts';
import { Refusal } from '../../../../src/services/agent/refusal.ts';
import { threadDeletion } from '../../../../src/services/agent/api/operation.ts';

const ada: AuthUser = { identity: 'ada', display_name: 'Ada', is_authenticated: true, permissions: [] };
const threads = [
  { thread_id: 'one', metadata: { owner: 'ada' } },
  { thread_id: 'two', metadata: { owner: 'ben' } },
  { thread_id: 'three', metadata: { owner: 'ada' } },
];

/** The threads deleted for a caller of an agent with these rules, and the response status. */
async function deletedFor(decide: AgentAuth['decide'] | undefined, user: AuthUser | undefined) {
  const deleted: string[] = [];
  const deleter = { delete: async (id: string) => deleted.push(id) > 0 };
  const auth = decide && { authenticate: async () => ada, decide, trustsStudio: false };
  const deleteThreads = threadDeletion(auth, deleter);
  const app = new Hono();
  app.onError((error) => (error instanceof Refusal ? error.toResponse() : new Response(null, { status: 500 })));
  app.delete('/', async (c) => {
    if (user) c.set('authUser', user);
    await deleteThreads(c, threads);
    return c.body(null, 204);
  });
  return { status: (await app.request('/', { method: 'DELETE' })).status, deleted };
}

describe('deleting threads along with another resource', () => {
  test.each<[string, AgentAuth['decide'] | undefined, AuthUser | undefined, number, string[]]>([
    ['deletes all when the agent has no rules', undefined, undefined, 204, ['one', 'two', 'three']],
    ['deletes all when the rules have no filter', async () => undefined, ada, 204, ['one', 'two', 'three']],
    ['skips another user’s threads', async ({ user }) => ({ owner: user.identity }), ada, 204, ['one', 'three']],
    ['deletes none for an unauthenticated caller', async () => undefined, undefined, 401, []],
  ])('%s', async (_, decide, user, status, deleted) => {
    expect(await deletedFor(decide, user)).toEqual({ status, deleted });
  });

  test('deletes none if the rules deny one of them, and checks each', async () => {
    const requested: unknown[] = [];
    const outcome = await deletedFor(async ({ resource, action, value }) => {
      requested.push([resource, action, value]);
      if (value['thread_id'] === 'three') throw new Refusal(403, 'Forbidden');
      return undefined;
    }, ada);
    expect(outcome).toEqual({ status: 403, deleted: [] });
    expect(requested).toEqual(threads.map(({ thread_id }) => ['threads', 'delete', { thread_id }]));
  });
});
