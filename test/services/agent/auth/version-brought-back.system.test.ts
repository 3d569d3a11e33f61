import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { temporaryAgent } from '../temporary-agent.ts';
import { files } from './agent.ts';

const agent = temporaryAgent({
  ...files,
  'auth.ts': `
    import { Auth } from '@langchain/langgraph-sdk/auth';
    export const auth = new Auth()
      .authenticate(async (request) => ({ identity: request.headers.get('x-user') ?? 'anonymous', permissions: [] }))
      .on('*', ({ user }: any) => user.identity === 'keeper' || { owner: user.identity });`,
});
let serving: Serving;
beforeAll(async () => {
  serving = await serveAgent({ configPath: agent.configPath });
});
afterAll(async () => {
  await serving.close();
  agent.remove();
});

async function ask(user: string, method: string, path: string, body: object) {
  const init = { method, headers: { 'x-user': user }, body: JSON.stringify(body) };
  const answer = await serving.fetch(new Request(`http://agent.test${path}`, init));
  return { status: answer.status, body: Object(await answer.json()) };
}

test('a restricted user can’t restore a version from another owner’s time', async () => {
  const { body: made } = await ask('keeper', 'POST', '/assistants', { graph_id: 'who', metadata: { owner: 'ada' } });
  const path = `/assistants/${made.assistant_id}`;
  await ask('keeper', 'PATCH', path, { metadata: { owner: 'bob' } });
  await ask('bob', 'PATCH', path, { name: 'his' });
  const hidden = {
    status: 404,
    body: {
      detail: `Assistant version not found. Assistant ${made.assistant_id} has no version 1: list its versions.`,
    },
  };
  expect(await ask('bob', 'POST', `${path}/latest`, { version: 1 })).toEqual(hidden);
  expect(await ask('bob', 'POST', `${path}/latest?version=1`, {})).toEqual(hidden);
  expect(await ask('bob', 'POST', `${path}/latest`, { version: 9 })).toMatchObject({ status: 404 });
  expect(await ask('bob', 'POST', `${path}/latest`, { version: 2 })).toMatchObject({
    status: 200,
    body: { version: 2 },
  });
  expect(await ask('keeper', 'POST', `${path}/latest`, { version: 1 })).toMatchObject({ body: { version: 1 } });
});
