import { Hono } from 'hono';
import { fieldSpellings } from '../../contract/control/aliases.ts';
import type { FieldSpelling } from '../../contract/control/aliases.ts';
import type { OpenApiDocument } from '../../openapi/document.ts';
import { docsPage, pageAsset } from '../../openapi/page.ts';
import { openApiDocument } from '../openapi/document.ts';
import { spellingHeader } from './send-response.ts';
import type { Env } from './env.ts';
import { onlyMethods } from './refusing.ts';

/** The OpenAPI description, and a page of it that works offline: both need no key. */
export function docsRoutes(fieldNames: FieldSpelling): Hono<Env> {
  const routes = new Hono<Env>();
  const described = new Map<FieldSpelling, OpenApiDocument>();
  routes.get('/openapi.json', (c) => {
    const requested = c.req.header(spellingHeader)?.trim().toLowerCase();
    const spelling = fieldSpellings.find((word) => word === requested) ?? fieldNames;
    const document = described.get(spelling) ?? openApiDocument(spelling);
    described.set(spelling, document);
    return c.json(document);
  });
  routes.all('/openapi.json', onlyMethods('GET'));

  routes.get('/docs', () => docsPage('Landfall control service'));
  routes.all('/docs', onlyMethods('GET'));
  routes.get(
    '/docs/:asset',
    async (c) => (await pageAsset(c.req.param('asset'))) ?? c.json({ detail: 'Not Found' }, 404),
  );
  routes.all('/docs/:asset', onlyMethods('GET'));
  return routes;
}
