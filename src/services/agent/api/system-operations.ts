import * as z from 'zod';
import { freeObject } from '../../../contract/agent/open-word.ts';
import { docsPage, pageAsset } from '../../../kit/http/docs-page.ts';
import type { Operation } from '../../../kit/http/operation.ts';
import { missing } from '../refusal.ts';
import { flag, readQuery } from './body.ts';
import { operationsOf, type Env } from './operation.ts';

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
const define = operationsOf('System');

export const systemOperations: readonly Operation<Env>[] = [
  define.get('/ok', 'health', {
    summary: 'Check the health of the server',
    description: 'For probes: says that the process serves. With `check_db`, the database is asked too.',
    query: healthQuery,
    responses: { 200: { description: 'The server is healthy.', schema: health } },
    also: [500],
    async handle(c) {
      const { check_db } = readQuery(c, healthQuery);
      if (check_db) await c.var.dependencies.checkDatabase();
      return c.json({ ok: true });
    },
  }),
  define.get('/info', 'info', {
    summary: 'Read the version and features of the server',
    description: 'Clients look here for the features that a server has before they use them.',
    responses: { 200: { description: 'The version and features.', schema: info } },
    handle: (c) => c.json(c.var.dependencies.info),
  }),
  define.get('/metrics', 'metrics', {
    summary: 'Read the metrics of the server',
    description: 'Requests, runs, the queue and the process, since the start of the server.',
    query: metricsQuery,
    responses: {
      200: { description: 'The metrics in the Prometheus format, or as JSON.', schema: freeObject, type: 'text/plain' },
    },
    async handle(c) {
      const { metrics } = c.var.dependencies;
      const { format } = readQuery(c, metricsQuery);
      if (format === 'json') return c.json(await metrics.json());
      const { body, type } = await metrics.text();
      return c.body(body, 200, { 'content-type': type });
    },
  }),
  define.get('/openapi.json', 'openapi', {
    summary: 'Read this OpenAPI document',
    description: 'OpenAPI 3.1, generated from the schemas that check requests.',
    responses: { 200: { description: 'OpenAPI 3.1.', schema: freeObject } },
    handle: async (c) => c.json(await c.var.dependencies.describe()),
  }),
  define.get('/docs', 'docs', {
    summary: 'View this OpenAPI document as a page',
    description: 'The page loads nothing from other hosts.',
    responses: { 200: { description: 'The page. It loads nothing from other hosts.', type: 'text/html' } },
    handle: () => docsPage(title),
  }),
  define.get('/docs/:asset', 'docs_asset', {
    summary: 'Read a file of the page',
    description: 'The scripts and styles of the page.',
    responses: { 200: { description: 'The file.', type: 'application/octet-stream' } },
    async handle(c) {
      const asset = await pageAsset(c.req.param('asset'));
      if (!asset) throw missing(`The page has no file "${c.req.param('asset')}".`);
      return asset;
    },
  }),
];
