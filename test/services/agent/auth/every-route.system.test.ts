import { expect, test } from 'vitest';
import { accessOf } from '../../../../src/services/agent/auth/access.ts';
import { serveAgent } from '../serving.ts';

const id = '0e4ce2b1-1c1d-4f37-b6ff-1e5d4a7d9a01';

test('the access rules cover every route of the server', async () => {
  const serving = await serveAgent();
  const routes = serving.routes().filter(({ path }) => !path.endsWith('*'));
  await serving.close();
  expect(routes.length).toBeGreaterThan(60);
  const by = (does: string) => {
    const such = routes.filter(({ method, path }) => {
      const requested = path.replaceAll(/:\w+(?:\{[^/]*\})?\??/g, id);
      return accessOf(method === 'ALL' ? 'GET' : method, requested).does === does;
    });
    return [...new Set(such.map(({ method, path }) => `${method} ${path}`))].toSorted();
  };
  // Denied to everyone.
  expect(by('unknown')).toEqual([]);
  // Open to everyone.
  expect(by('open')).toEqual([
    'GET /docs',
    'GET /docs/:asset',
    'GET /info',
    'GET /metrics',
    'GET /ok',
    'GET /openapi.json',
    'GET /ui/:ui/entrypoint.css',
    'GET /ui/:ui/entrypoint.js',
  ]);
  // Open to authenticated users: the protocols call the other routes on their behalf, and a UI has no data.
  expect(by('nothing').filter((route) => !/ \/(?:mcp|a2a|\.well-known)\b/.test(route))).toEqual([
    'GET /threads/:thread_id/stream/events',
    'POST /threads/:thread_id/commands',
    'POST /threads/:thread_id/stream/events',
    'POST /ui/:ui',
  ]);
});
