import * as z from 'zod';
import { freeObject } from '../../../contract/agent/open-word.ts';
import { docsPage, pageAsset } from '../../../kit/http/docs-page.ts';
import type { Operation } from '../../../kit/http/operation.ts';
import { missing } from '../refusal.ts';
import { flag, readQuery } from './body.ts';
import { operation, type Env } from './operation.ts';

export const info = z.looseObject({
  version: z.string(),
  /** Where no graph is in Python. */
  context: z.literal('js').optional(),
  /** Where one is: the version of its engine. */
  langgraph_py_version: z.string().optional(),
  flags: freeObject,
  metadata: freeObject,
});

const health = z.object({ ok: z.literal(true) });

const healthQuery = z.looseObject({
  check_db: flag.meta({
    override: ({ jsonSchema }) => void Object.assign(jsonSchema, { type: 'integer', enum: [0, 1], default: 0 }),
  }),
});
const metricsQuery = z.looseObject({ format: z.enum(['prometheus', 'json']).default('prometheus') });

export const title = 'Landfall agent server';
const tag = 'System';

export const systemOperations: readonly Operation<Env>[] = [
  operation({
    method: 'get',
    path: '/ok',
    id: 'health',
    summary: 'Check the health of the server',
    description: 'For probes: says that the process serves. With `check_db`, the database is asked too.',
    tag,
    query: healthQuery,
    responses: { 200: { description: 'The server is healthy.', schema: health } },
    errors: [422, 500],
    async handle(c) {
      const { check_db } = readQuery(c, healthQuery);
      if (check_db) await c.var.parts.checkDatabase();
      return c.json({ ok: true });
    },
  }),
  operation({
    method: 'get',
    path: '/info',
    id: 'info',
    summary: 'Read the version and features of the server',
    description: 'Clients look here for the features that a server has before they use them.',
    tag,
    responses: { 200: { description: 'The version and features.', schema: info } },
    handle: (c) => c.json(c.var.parts.info),
  }),
  operation({
    method: 'get',
    path: '/metrics',
    id: 'metrics',
    summary: 'Read the metrics of the server',
    description: 'Requests, runs, the queue and the process, since the start of the server.',
    tag,
    query: metricsQuery,
    responses: {
      200: { description: 'The metrics in the Prometheus format, or as JSON.', schema: freeObject, type: 'text/plain' },
    },
    errors: [422],
    async handle(c) {
      const { metrics } = c.var.parts;
      const { format } = readQuery(c, metricsQuery);
      if (format === 'json') return c.json(await metrics.json());
      const { body, type } = await metrics.text();
      return c.body(body, 200, { 'content-type': type });
    },
  }),
  operation({
    method: 'get',
    path: '/openapi.json',
    id: 'openapi',
    summary: 'Read this OpenAPI document',
    description: 'OpenAPI 3.1, generated from the schemas that check requests.',
    tag,
    responses: { 200: { description: 'OpenAPI 3.1.', schema: freeObject } },
    handle: async (c) => c.json(await c.var.parts.describe()),
  }),
  operation({
    method: 'get',
    path: '/docs',
    id: 'docs',
    summary: 'View this OpenAPI document as a page',
    description: 'The page loads nothing from other hosts.',
    tag,
    responses: { 200: { description: 'The page. It loads nothing from other hosts.', type: 'text/html' } },
    handle: () => docsPage(title),
  }),
  operation({
    method: 'get',
    path: '/docs/:asset',
    id: 'docs_asset',
    summary: 'Read a file of the page',
    description: 'The scripts and styles of the page.',
    tag,
    responses: { 200: { description: 'The file.', type: 'application/octet-stream' } },
    errors: [404],
    async handle(c) {
      const asset = await pageAsset(c.req.param('asset'));
      if (!asset) throw missing(`The page has no file "${c.req.param('asset')}".`);
      return asset;
    },
  }),
];
