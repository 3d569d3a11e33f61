import * as z from 'zod';
import { freeObject } from '../../contract/agent/open-word.ts';
import type { Operation } from './operation.ts';
import { healthQuery, metricsQuery } from './queries.ts';

const tag = 'System';

/** The response of `GET /info`. */
export const info = z.looseObject({
  version: z.string(),
  context: z.literal('js'),
  flags: freeObject,
  metadata: freeObject,
});

/** The response of `GET /ok`. */
const health = z.object({ ok: z.literal(true) });

/** The server itself. */
export const systemOperations: readonly Operation[] = [
  {
    method: 'get',
    path: '/ok',
    id: 'health',
    summary: 'Check the health of the server',
    tag,
    query: healthQuery,
    answers: { 200: { description: 'The server is healthy.', schema: health } },
    errors: [422, 500],
  },
  {
    method: 'get',
    path: '/info',
    id: 'info',
    summary: 'Read the version and features of the server',
    tag,
    answers: { 200: { description: 'The version and features.', schema: info } },
  },
  {
    method: 'get',
    path: '/metrics',
    id: 'metrics',
    summary: 'Read the metrics of the server',
    tag,
    query: metricsQuery,
    answers: {
      200: { description: 'The metrics in the Prometheus format, or as JSON.', schema: freeObject, type: 'text/plain' },
    },
    errors: [422],
  },
  {
    method: 'get',
    path: '/openapi.json',
    id: 'openapi',
    summary: 'Read this OpenAPI document',
    tag,
    answers: { 200: { description: 'OpenAPI 3.1.', schema: freeObject } },
  },
  {
    method: 'get',
    path: '/docs',
    id: 'docs',
    summary: 'View this OpenAPI document as a page',
    tag,
    answers: { 200: { description: 'The page. It loads nothing from other hosts.', type: 'text/html' } },
  },
  {
    method: 'get',
    path: '/docs/{asset}',
    id: 'docs_asset',
    summary: 'Read a file of the page',
    tag,
    answers: { 200: { description: 'The file.', type: 'application/octet-stream' } },
    errors: [404],
  },
];
