import { describe, expect, onTestFinished, test } from 'vitest';
import { serveAgent } from '../serving.ts';
import { temporaryAgent } from '../temporary-agent.ts';
import { files } from './agent.ts';

const scheme = { 'x-auth-scheme': 'langsmith' };

/** Serves the agent with this `auth` configuration. Returns a function that sends requests. */
async function serving(auth: object, token: string | undefined) {
  const agent = temporaryAgent({ ...files, 'langgraph.json': { ...files['langgraph.json'], auth } });
  const server = await serveAgent({ configPath: agent.configPath, token });
  onTestFinished(async () => {
    await server.close();
    agent.remove();
  });
  return async (method: string, path: string, headers: Record<string, string>) => {
    const response = await server.fetch(
      new Request(`http://agent.test${path}`, {
        method,
        headers: { ...headers, ...(token === undefined ? {} : { 'x-landfall-agent-token': token }) },
        ...(method === 'GET' ? {} : { body: '{}' }),
      }),
    );
    return { status: response.status, body: Object(await response.json()) };
  };
}

describe('the Studio', () => {
  const path = './auth.ts:auth';

  test.each<[string, object]>([
    ['by default', { path }],
    ['when disabled', { path, disable_studio_auth: true }],
  ])('is rejected %s: its header does not skip `authenticate`', async (_, auth) => {
    const ask = await serving(auth, 'front');
    const { body: thread } = await ask('POST', '/threads', { 'x-user': 'ada' });
    for (const [method, at] of [
      ['GET', `/threads/${thread.thread_id}`],
      ['POST', '/threads/search'],
      ['POST', '/runs'],
      ['POST', '/mcp'],
    ] as const) {
      expect(await ask(method, at, scheme)).toMatchObject({ status: 401, body: { detail: 'Who are you?' } });
    }
    // With a name, the request comes from that user.
    expect(await ask('GET', `/threads/${thread.thread_id}`, { ...scheme, 'x-user': 'bob' })).toMatchObject({
      status: 404,
    });
  });

  test('is a user of its own if enabled', async () => {
    const ask = await serving({ path, disable_studio_auth: false }, 'front');
    const { body: thread } = await ask('POST', '/threads', { 'x-user': 'ada' });
    expect(await ask('GET', `/threads/${thread.thread_id}`, scheme)).toMatchObject({ status: 200 });
  });

  test('is rejected without a token in front', async () => {
    const ask = await serving({ path, disable_studio_auth: false }, undefined);
    expect(await ask('POST', '/threads/search', scheme)).toMatchObject({ status: 401 });
  });
});
