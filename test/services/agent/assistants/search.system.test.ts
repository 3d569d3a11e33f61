import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { assistantFields, assistantSortFields, assistantSchema } from '../../../../src/contract/agent/assistant.ts';
import { askAt } from '../ask.ts';
import type { Ask } from '../ask.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { made } from './fixture.ts';

let serving: Serving;
beforeAll(async () => {
  serving = await serveAgent();
});
afterAll(() => serving.close());

describe('searching assistants, over HTTP', () => {
  const ask: Ask = (...request) => askAt(serving.url)(...request);
  const mark = crypto.randomUUID();
  const search = async (request: object) => {
    const answer = await ask('POST', '/assistants/search', { metadata: { mark }, ...request });
    return { ...answer, found: z.array(assistantSchema).parse(answer.body) };
  };
  const names = async (request: object) => (await search(request)).found.map(({ name }) => name);

  beforeAll(async () => {
    for (const [name, graph_id, shift] of [
      ['Zoë', 'chat', 'night'],
      ['anna B.', 'echo', 'day'],
      ['Anna C.', 'interrupts', 'day'],
      ['100% sure_thing', 'echo', 'night'],
    ]) {
      await made(ask, { name, graph_id, metadata: { mark, shift, deep: { of: name } } });
    }
  });

  test.each([
    ['a part of their name, ignoring case', { name: 'ANNA' }, ['Anna C.', 'anna B.']],
    ['a part of their name with SQL wildcards', { name: '% sure_' }, ['100% sure_thing']],
    ['their graph', { graph_id: 'echo' }, ['100% sure_thing', 'anna B.']],
    ['an unknown graph', { graph_id: 'nope' }, []],
    ['their metadata', { metadata: { shift: 'day' } }, ['Anna C.', 'anna B.']],
    ['nested metadata', { metadata: { deep: { of: 'Zoë' } } }, ['Zoë']],
    ['all of these at once', { name: 'a', graph_id: 'echo', metadata: { shift: 'day' } }, ['anna B.']],
    ['an empty filter', {}, ['100% sure_thing', 'Anna C.', 'anna B.', 'Zoë']],
  ])('finds and counts them by %s', async (_by, request, expected) => {
    const requested = { ...request, metadata: { mark, ...('metadata' in request ? request.metadata : {}) } };
    expect(await names(requested)).toEqual(expected);
    expect(await ask('POST', '/assistants/count', requested)).toMatchObject({ status: 200, body: expected.length });
  });

  test.each(assistantSortFields)('sorts them by %s, in both directions', async (sort_by) => {
    const sorted = async (sort_order: 'asc' | 'desc') =>
      (await search({ sort_by, sort_order })).found.map((assistant) => String(assistant[sort_by]).toLowerCase());
    const up = await sorted('asc');
    expect(up).toHaveLength(4);
    expect(up).toEqual(up.toSorted());
    expect(await sorted('desc')).toEqual(up.toReversed());
  });

  test('returns only the selected fields', async () => {
    expect(
      (await ask('POST', '/assistants/search', { metadata: { mark }, name: 'zo', select: ['name', 'version'] })).body,
    ).toEqual([{ name: 'Zoë', version: 1 }]);
    for (const field of assistantFields) {
      const { body } = await ask('POST', '/assistants/search', { metadata: { mark }, limit: 1, select: [field] });
      expect(body).toEqual([{ [field]: expect.toSatisfy((value) => value !== undefined) }]);
    }
  });

  test('returns the total and the next offset with each page', async () => {
    const reported = async (request: object) => {
      const { found, headers } = await search(request);
      return [found.length, headers.get('x-pagination-total'), headers.get('x-pagination-next')];
    };
    expect(await reported({ limit: 3 })).toEqual([3, '4', '3']);
    expect(await reported({ limit: 1, offset: 1 })).toEqual([1, '4', '2']);
    expect(await reported({ limit: 3, offset: 3 })).toEqual([1, '4', null]);
    expect(await reported({ limit: 4 })).toEqual([4, '4', null]);
    expect(await reported({ offset: 9 })).toEqual([0, '4', null]);
  });

  test.each([
    ['a limit of zero', { limit: 0 }, 'limit'],
    ['a limit above 1000', { limit: 1001 }, 'limit'],
    ['a limit that is not a number', { limit: 'x' }, 'limit'],
    ['a negative offset', { offset: -1 }, 'offset'],
    ['a field that does not support sorting', { sort_by: 'context' }, 'sort_by'],
    ['an unknown sort order', { sort_order: 'up' }, 'sort_order'],
    ['an unknown field', { select: ['secrets'] }, 'select'],
    ['metadata that is not an object', { metadata: 'x' }, 'metadata'],
  ])('rejects %s', async (_what, request, field) => {
    expect(await ask('POST', '/assistants/search', request)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: expect.arrayContaining(['body', field]) }] },
    });
  });
});

describe('deleting an assistant, over HTTP', () => {
  const ask: Ask = (...request) => askAt(serving.url)(...request);
  const ran = async (assistant_id: string) => {
    const { thread_id } = Object((await ask('POST', '/threads', {})).body);
    await ask('POST', `/threads/${thread_id}/runs/wait`, { assistant_id, input: { input: 'x' } });
    return String(thread_id);
  };
  const isThere = async (thread: string) => (await ask('GET', `/threads/${thread}`)).status === 200;

  test.each([
    ['keeps its threads by default', '', true],
    ['keeps its threads with delete_threads=false', '?delete_threads=false', true],
    ['deletes its threads with delete_threads=true', '?delete_threads=true', false],
  ])('%s', async (_what, query, kept) => {
    const [assistant, other] = [await made(ask), await made(ask)];
    const threads = [await ran(assistant.assistant_id), await ran(assistant.assistant_id)];
    const { body } = await ask('POST', `/threads/${threads[1]}/runs`, {
      assistant_id: assistant.assistant_id,
      input: { input: 'x', sleep_ms: 60_000 },
    });
    const others = await ran(other.assistant_id);
    expect((await ask('DELETE', `/assistants/${assistant.assistant_id}${query}`)).status).toBe(204);
    expect(await Promise.all([...threads, others].map(isThere))).toEqual([kept, kept, true]);
    await ask('POST', `/threads/${threads[1]}/runs/${Object(body)['run_id']}/cancel`);
  });

  test('rejects an invalid delete_threads', async () => {
    const { assistant_id } = await made(ask);
    expect(await ask('DELETE', `/assistants/${assistant_id}?delete_threads=maybe`)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['query', 'delete_threads'] }] },
    });
    expect((await ask('GET', `/assistants/${assistant_id}`)).status).toBe(200);
  });
});
