import { describe, expect, test } from 'vitest';
import { accessOf } from '../../../../src/services/agent/auth/access.ts';
import { recorded } from '../../../recorded.ts';

const id = '0e4ce2b1-1c1d-4f37-b6ff-1e5d4a7d9a01';

describe('the access that a request needs', () => {
  test.each<[string, string, object]>([
    ['POST', '/assistants', { does: 'create', kind: 'assistant' }],
    ['POST', '/assistants/count', { does: 'search', kind: 'assistant', counts: true }],
    ['GET', '/assistants/echo', { does: 'one', kind: 'assistant', id: 'echo', action: 'read' }],
    ['HEAD', '/assistants/echo', { does: 'one', kind: 'assistant', id: 'echo', action: 'read' }],
    ['GET', '/assistants/my%20graph/schemas', { does: 'one', id: 'my graph', action: 'read' }],
    ['GET', '/assistants/echo/subgraphs/a%7Cb', { does: 'one', id: 'echo', action: 'read' }],
    ['POST', `/assistants/${id}/latest`, { does: 'one', action: 'update', body: true, version: true }],
    ['DELETE', `/assistants/${id}`, { does: 'one', action: 'delete' }],
    ['POST', '/threads/search', { does: 'search', kind: 'thread', counts: false }],
    ['GET', `/threads/${id}/history`, { does: 'one', kind: 'thread', id, action: 'read' }],
    ['POST', `/threads/${id}/state/checkpoint`, { does: 'one', action: 'read' }],
    ['POST', `/threads/${id}/state`, { does: 'one', action: 'update' }],
    ['PATCH', `/threads/${id}/state`, { does: 'one', action: 'update', body: true }],
    ['POST', `/threads/${id}/copy`, { does: 'copy', id }],
    ['POST', '/threads/prune', { does: 'prune' }],
    ['POST', `/threads/${id}/runs/wait`, { does: 'run', threadId: id }],
    ['POST', `/thread/${id}/runs/stream`, { does: 'run', threadId: id }],
    ['POST', `/thread/${id}/runs/crons`, { does: 'cron', threadId: id }],
    ['GET', `/threads/${id}/runs/${id}/join`, { does: 'one', kind: 'thread', runId: id, action: 'read' }],
    ['POST', `/threads/${id}/runs/${id}/cancel`, { does: 'one', kind: 'thread', runId: id, action: 'update' }],
    ['GET', `/runs/${id}/stream`, { does: 'one', kind: 'run', id, action: 'read' }],
    ['POST', '/runs/batch', { does: 'batch' }],
    ['POST', '/runs/cancel', { does: 'cancel' }],
    ['PATCH', `/runs/crons/${id}`, { does: 'one', kind: 'cron', id, action: 'update', body: true }],
    ['GET', '/runs', { does: 'unfinished-runs' }],
    ['GET', '/webhooks/deliveries', { does: 'deliveries' }],
    ['POST', `/webhooks/deliveries/${id}/retry`, { does: 'one', kind: 'run', id, action: 'update' }],
    ['PUT', '/store/items', { does: 'store', action: 'put' }],
    ['POST', '/store/namespaces', { does: 'store', action: 'list_namespaces' }],
  ])('%s %s', (method, path, access) => {
    expect(accessOf(method, path)).toMatchObject(access);
  });

  test.each([
    ['GET', '/ok'],
    ['GET', '/info'],
    ['GET', '/openapi.json'],
    ['GET', '/docs/page.css'],
  ])('%s %s is open to everyone', (method, path) => {
    expect(accessOf(method, path)).toEqual({ does: 'open' });
  });

  test.each([
    ['POST', '/mcp/'],
    ['POST', '/a2a/echo'],
    ['GET', '/my/own/page'],
    ['POST', '/webhooks/of-the-agent'],
    ['POST', '/assistantship'],
  ])('%s %s has no access check of its own', (method, path) => {
    expect(accessOf(method, path)).toEqual({ does: 'nothing' });
  });

  test.each([
    ['POST', `/threads/${id}/fly`],
    ['PUT', `/threads/${id}`],
    ['POST', '/runs/everything'],
    ['GET', '/store/everything'],
  ])('%s %s is denied as unknown', (method, path) => {
    expect(accessOf(method, path)).toEqual({ does: 'unknown' });
  });

  test('covers every path of the public description', () => {
    const { paths } = Object(recorded('public-agent-server/openapi.json'));
    const unknown = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(Object(methods))
        .filter((method) => /^(?:get|post|put|patch|delete)$/.test(method))
        .filter((method) => accessOf(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, id)).does === 'unknown')
        .map((method) => `${method} ${path}`),
    );
    expect(Object.keys(paths).length).toBeGreaterThan(40);
    expect(unknown).toEqual([]);
  });
});
