import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askAt } from '../ask.ts';
import type { Ask } from '../ask.ts';
import { ISO, UNKNOWN_ID } from '../promises/fixture.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { assistantOf, made, numbersOf, says, versionsOf } from './fixture.ts';

let serving: Serving;
beforeAll(async () => {
  serving = await serveAgent();
});
afterAll(() => serving.close());

describe('the versions of an assistant, over HTTP', () => {
  const ask: Ask = (...request) => askAt(serving.url)(...request);
  const patch = (id: string, body: object) => ask('PATCH', `/assistants/${id}`, body);
  const latest = (id: string, version: unknown) => ask('POST', `/assistants/${id}/latest`, { version });
  const read = (id: string) => assistantOf(ask('GET', `/assistants/${id}`));

  test(
    'are integers that count up from 1 without a gap',
    {
      meta: {
        claims: [
          'agent.assistants.numbered-versions',
          'agent.assistants.version-starts-at-one',
          'agent.versioning.version-numbers',
        ],
      },
    },
    async () => {
      const assistant = await made(ask);
      expect(assistant.version).toBe(1);
      expect(await numbersOf(ask, assistant.assistant_id)).toEqual([1]);
      for (const next of [2, 3, 4]) {
        const patched = await assistantOf(patch(assistant.assistant_id, { context: { greeting: `no. ${next}` } }));
        expect(patched.version).toBe(next);
      }
      expect(await numbersOf(ask, assistant.assistant_id)).toEqual([4, 3, 2, 1]);
    },
  );

  test(
    'an update creates the next version, activates it and returns it',
    {
      meta: {
        claims: [
          'agent.endpoints.assistants-patch',
          'agent.assistants.patch-makes-version',
          'agent.assistants.patch-activates',
          'agent.assistants.patch-context',
          'agent.assistants.patch-answers',
          'agent.versioning.update-activates',
        ],
      },
    },
    async () => {
      const assistant = await made(ask, { name: 'Greeter', context: { greeting: 'hi' }, metadata: { team: 'x' } });
      const patched = await assistantOf(patch(assistant.assistant_id, { context: { greeting: 'hey' } }));
      expect(patched).toEqual({
        ...assistant,
        version: 2,
        context: { greeting: 'hey' },
        config: { configurable: { greeting: 'hey' } },
        updated_at: expect.stringMatching(ISO),
      });
      expect(Date.parse(patched.updated_at)).toBeGreaterThanOrEqual(Date.parse(assistant.updated_at));
      expect(await read(assistant.assistant_id)).toEqual(patched);
    },
  );

  test(
    'later runs use only the new context',
    {
      meta: {
        claims: [
          'agent.assistants.patch-later-runs',
          'agent.assistants.runs-use-active-version',
          'agent.assistants.patch-no-merge',
        ],
      },
    },
    async () => {
      const { assistant_id } = await made(ask, { context: { greeting: 'good morning', extra: 1 } });
      expect(await says(ask, assistant_id)).toBe('good morning Ada');
      const night = await assistantOf(patch(assistant_id, { context: { greeting: 'good night' } }));
      expect(night.context).toEqual({ greeting: 'good night' });
      expect(await says(ask, assistant_id)).toBe('good night Ada');
      const bare = await assistantOf(patch(assistant_id, { context: { extra: 2 } }));
      expect(bare.context).toEqual({ extra: 2 });
      expect(await says(ask, assistant_id)).toBe('hello Ada');
    },
  );

  test(
    'a rollback restores a version, and later runs use it',
    {
      meta: {
        claims: [
          'agent.endpoints.assistants-latest',
          'agent.assistants.latest-activates',
          'agent.assistants.latest-version',
          'agent.assistants.latest-later-runs',
          'agent.versioning.latest-selects',
        ],
      },
    },
    async () => {
      const first = await made(ask, {
        name: 'Morning',
        description: 'the first',
        context: { greeting: 'good morning' },
        config: { recursion_limit: 7, tags: ['a'] },
        metadata: { team: 'north', shift: 1 },
      });
      const id = first.assistant_id;
      const second = await assistantOf(
        patch(id, {
          graph_id: 'chat',
          name: 'Night',
          description: 'the second',
          context: {},
          config: { tags: ['b'] },
          metadata: { shift: 2 },
        }),
      );
      expect(second).toMatchObject({
        graph_id: 'chat',
        config: { tags: ['b'] },
        metadata: { team: 'north', shift: 2 },
      });
      expect(await says(ask, id)).toBeUndefined();
      const back = await assistantOf(latest(id, 1));
      expect(back).toEqual({ ...first, updated_at: expect.stringMatching(ISO) });
      expect(await read(id)).toEqual(back);
      expect(await says(ask, id)).toBe('good morning Ada');
      expect(await assistantOf(ask('POST', `/assistants/${id}/latest?version=2`))).toEqual({
        ...second,
        updated_at: expect.stringMatching(ISO),
      });
      await latest(id, 1);
      // A rollback creates no version; the next update follows the newest one.
      expect(await numbersOf(ask, id)).toEqual([2, 1]);
      expect(await assistantOf(patch(id, { name: 'Noon' }))).toMatchObject({
        version: 3,
        graph_id: 'echo',
        context: { greeting: 'good morning' },
        metadata: { team: 'north', shift: 1 },
      });
    },
  );

  test.each([
    ['it does not exist', 7],
    ['its number is out of range', 2 ** 52],
  ])(
    'returns 404 for a version if %s, and changes nothing',
    { meta: { claims: ['agent.assistants.latest-missing-version'] } },
    async (_why, version) => {
      const { assistant_id } = await made(ask, { context: { greeting: 'one' } });
      const before = await assistantOf(patch(assistant_id, { context: { greeting: 'two' } }));
      const detail = `Assistant version not found. Assistant ${assistant_id} has no version ${version}: list its versions.`;
      expect(await latest(assistant_id, version)).toMatchObject({ status: 404, body: { detail } });
      expect(await read(assistant_id)).toEqual(before);
    },
  );

  test.each([
    ['a word', 'one'],
    ['a numeric string', '1'],
    ['not an integer', 1.5],
    ['below the first', 0],
    ['missing', undefined],
  ])(
    'rejects a version that is %s, and changes nothing',
    { meta: { claims: ['agent.assistants.latest-version'] } },
    async (_what, version) => {
      const { assistant_id } = await made(ask, { context: { greeting: 'one' } });
      const before = await assistantOf(patch(assistant_id, { context: { greeting: 'two' } }));
      const detail = [{ loc: ['body', 'version'] }];
      expect(await latest(assistant_id, version)).toMatchObject({ status: 422, body: { detail } });
      expect(await read(assistant_id)).toEqual(before);
    },
  );

  test('returns 404 for an unknown assistant', { meta: { claims: ['agent.assistants.patch-missing'] } }, async () => {
    for (const id of [UNKNOWN_ID, 'unknown']) {
      expect(await patch(id, { context: {} })).toMatchObject({ status: 404 });
      expect(await latest(id, 1)).toMatchObject({ status: 404 });
      expect(await ask('POST', `/assistants/${id}/versions`, {})).toMatchObject({ status: 404 });
    }
  });

  test(
    'exactly one is active, also after concurrent updates and rollbacks',
    { meta: { claims: ['agent.assistants.one-active-version', 'agent.versioning.version-numbers'] } },
    async () => {
      const { assistant_id } = await made(ask);
      await patch(assistant_id, { name: 'two' });
      const changes = Array.from({ length: 12 }, (_each, n) => [
        patch(assistant_id, { context: { greeting: `g${n}` }, metadata: { [`k${n}`]: n } }),
        latest(assistant_id, 1 + (n % 2)),
      ]);
      const answers = await Promise.all(changes.flat());
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      expect(await numbersOf(ask, assistant_id)).toEqual(Array.from({ length: 14 }, (_each, n) => 14 - n));
      const active = await read(assistant_id);
      const listed = (await versionsOf(ask, assistant_id, { limit: 20 })).filter(
        ({ version }) => version === active.version,
      );
      expect(listed).toHaveLength(1);
      const { context, metadata, name } = active;
      expect(listed[0]).toMatchObject({ context, metadata, name });
    },
  );

  test(
    'are deleted with their assistant',
    { meta: { claims: ['agent.assistants.delete-takes-versions'] } },
    async () => {
      const { assistant_id } = await made(ask);
      await patch(assistant_id, { name: 'two' });
      expect(await ask('DELETE', `/assistants/${assistant_id}`)).toMatchObject({ status: 204, body: undefined });
      expect(await ask('POST', `/assistants/${assistant_id}/versions`, {})).toMatchObject({ status: 404 });
      expect(await latest(assistant_id, 1)).toMatchObject({ status: 404 });
      expect(await made(ask, { assistant_id })).toMatchObject({ version: 1 });
      expect(await numbersOf(ask, assistant_id)).toEqual([1]);
    },
  );

  test("can't be deleted individually", { meta: { claims: ['agent.assistants.version-not-deletable'] } }, async () => {
    const { assistant_id } = await made(ask);
    await patch(assistant_id, { name: 'two' });
    for (const path of ['versions/1', 'versions/2', 'versions', 'latest', 'versions?version=1']) {
      expect(await ask('DELETE', `/assistants/${assistant_id}/${path}`)).toMatchObject({ status: 404 });
    }
    expect(await numbersOf(ask, assistant_id)).toEqual([2, 1]);
  });

  test('are listed newest first, by metadata and page by page', async () => {
    const { assistant_id, created_at } = await made(ask, { name: 'one', metadata: { a: 1 } });
    await patch(assistant_id, { name: 'two', metadata: { b: 2 } });
    await patch(assistant_id, { name: 'three', metadata: { a: 3 } });
    const names = async (request: object) => (await versionsOf(ask, assistant_id, request)).map(({ name }) => name);
    expect(await names({})).toEqual(['three', 'two', 'one']);
    expect(await names({ metadata: { a: 1 } })).toEqual(['two', 'one']);
    expect(await names({ limit: 1, offset: 1 })).toEqual(['two']);
    expect(await names({ offset: 3 })).toEqual([]);
    expect((await versionsOf(ask, assistant_id)).at(-1)).toEqual({
      assistant_id,
      graph_id: 'echo',
      version: 1,
      name: 'one',
      description: null,
      context: {},
      config: {},
      metadata: { a: 1 },
      created_at,
      updated_at: created_at,
    });
    expect(await ask('POST', `/assistants/${assistant_id}/versions`, { limit: 0 })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'limit'] }] },
    });
  });

  test('a run accepted before an update keeps its version', async () => {
    const { assistant_id } = await made(ask, { context: { greeting: 'early' } });
    const { thread_id } = Object((await ask('POST', '/threads', {})).body);
    const input = { input: 'Ada', sleep_ms: 200 };
    const run = Object((await ask('POST', `/threads/${thread_id}/runs`, { assistant_id, input })).body);
    await patch(assistant_id, { context: { greeting: 'late' } });
    const joined = await ask('GET', `/threads/${thread_id}/runs/${run.run_id}/join`);
    expect(joined.body).toMatchObject({ output: 'early Ada' });
  });
});

describe('a change of an assistant, over HTTP', () => {
  const ask: Ask = (...request) => askAt(serving.url)(...request);
  const patch = (id: string, body: object) => ask('PATCH', `/assistants/${id}`, body);

  test('is validated against the schema of the new graph', async () => {
    const toned = await made(ask, { graph_id: 'toned', context: { tone: 'warm' } });
    expect(await patch(toned.assistant_id, { context: { tone: 'loud' } })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'context', 'tone'] }] },
    });
    // Runs may supply missing fields, as with a new assistant.
    expect(await patch(toned.assistant_id, { context: {} })).toMatchObject({ status: 200 });
    const other = await made(ask, { context: { tone: 'loud' } });
    expect(await patch(other.assistant_id, { graph_id: 'toned' })).toMatchObject({ status: 422 });
    expect(await patch(other.assistant_id, { graph_id: 'toned', context: { tone: 'cold' } })).toMatchObject({
      status: 200,
      body: { graph_id: 'toned', version: 2 },
    });
    const missing = await patch(other.assistant_id, { graph_id: 'nope' });
    expect(missing).toMatchObject({ status: 404, body: { detail: expect.stringContaining('"echo"') } });
    expect(await numbersOf(ask, other.assistant_id)).toEqual([2, 1]);
  });

  test.each([
    ['a context that is a list', { context: [] }, 'context'],
    ['a name that is a number', { name: 5 }, 'name'],
    ['an empty graph id', { graph_id: '' }, 'graph_id'],
    ['a recursion limit below 1', { config: { recursion_limit: 0 } }, 'config'],
  ])('rejects %s, and creates no version', async (_what, body, field) => {
    const { assistant_id } = await made(ask);
    expect(await patch(assistant_id, body)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: expect.arrayContaining(['body', field]) }] },
    });
    expect(await numbersOf(ask, assistant_id)).toEqual([1]);
  });

  test('a default assistant’s update applies to its graph’s runs and is removed with it', async () => {
    const patched = await assistantOf(
      patch('echo', { context: { greeting: 'servus' }, metadata: { created_by: 'me' } }),
    );
    expect(await says(ask, 'echo')).toBe('servus Ada');
    expect(await patch('echo', { graph_id: 'chat' })).toMatchObject({ status: 409 });
    expect(await ask('DELETE', '/assistants/echo')).toMatchObject({ status: 409 });
    expect(await ask('DELETE', `/assistants/${patched.assistant_id}`)).toMatchObject({ status: 409 });
    await ask('POST', '/assistants/echo/latest', { version: 1 });
    expect(await says(ask, 'echo')).toBe('hello Ada');
  });

  test('may set created_by to system, and can still be deleted', async () => {
    const { assistant_id } = await made(ask, { metadata: { created_by: 'system' } });
    expect(await ask('DELETE', `/assistants/${assistant_id}`)).toMatchObject({ status: 204 });
  });
});
