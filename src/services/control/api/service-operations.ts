import * as z from 'zod';
import { docsPage, pageAsset } from '../../../kit/http/docs-page.ts';
import { operationsOf } from './define-operation.ts';
import { fieldNames } from './parameters.ts';
import { spellingOf } from './response.ts';

const define = operationsOf('Service');

/** The version of the served interface (docs/design/contract.md#versions). */
export const interfaceVersion = '0.1.0';

export const info = z.object({
  service: z.string(),
  version: z.string(),
  idempotency_keys: z.boolean(),
  /** Whether it takes verdicts of smoke tests. */
  verdicts: z.boolean(),
  /** Whether it keeps what smoke tests measured. */
  baselines: z.boolean(),
  /** Whether it can hold revisions before traffic. */
  holds: z.boolean(),
  /** Whether it builds the commit that a change names. */
  pins_commits: z.boolean(),
  /** Whether it deploys the build of another deployment's revision. */
  copies_builds: z.boolean(),
  /** Whether it scales idle agents to zero. */
  scales_to_zero: z.boolean(),
  /** The public address of the console, where the service has a public address. */
  console_url: z.string().optional(),
});

/** The service itself: its health, its version and its description. */
export const serviceOperations = [
  define.get('/ok', 'health', {
    summary: 'Check the health of the service',
    description: 'For probes: says that the process serves. It needs no key.',
    responses: { 200: { description: 'It does.', schema: z.object({ ok: z.literal(true) }) } },
    open: true,
    handle: (c) => c.json({ ok: true }),
  }),
  define.get('/info', 'info', {
    summary: 'Read the version and the features of the service',
    description: 'Clients look here for the features that a server has before they use them.',
    responses: { 200: { description: 'The service.', schema: info } },
    open: true,
    handle: (c) => {
      const { consoleUrl, holds = false } = c.var.settings;
      return c.json({
        service: 'landfall control service',
        version: interfaceVersion,
        idempotency_keys: true,
        verdicts: true,
        baselines: true,
        holds,
        pins_commits: true,
        copies_builds: true,
        scales_to_zero: true,
        ...(consoleUrl === undefined ? {} : { console_url: consoleUrl }),
      });
    },
  }),
  define.get('/openapi.json', 'openapi', {
    summary: 'Read this description',
    description: 'OpenAPI 3.1, generated from the schemas that check requests.',
    headers: [fieldNames],
    responses: { 200: { description: 'OpenAPI 3.1.', schema: z.record(z.string(), z.unknown()) } },
    open: true,
    handle: (c) => c.json(c.var.settings.describe(spellingOf(c))),
  }),
  define.get('/docs', 'docs', {
    summary: 'Show this description as a page',
    description: 'The page loads nothing from other hosts.',
    responses: { 200: { description: 'The page, without external resources.', type: 'text/html' } },
    open: true,
    handle: () => docsPage('Landfall control service'),
  }),
  define.get('/docs/:asset', 'docs_asset', {
    summary: 'Read a file of the page',
    description: 'The scripts and styles of the page.',
    responses: { 200: { description: 'The file.', type: 'application/octet-stream' } },
    errors: [404],
    open: true,
    handle: async (c) => (await pageAsset(c.req.param('asset'))) ?? c.notFound(),
  }),
];
