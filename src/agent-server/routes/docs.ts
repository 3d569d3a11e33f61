import { Hono } from 'hono';
import { docsPage, pageAsset } from '../../openapi/page.ts';
import type { OpenApiDocument } from '../../openapi/document.ts';
import { missing } from '../refusal.ts';

/**
 * The OpenAPI document, and a page of it without external resources (agent-server.md, introduction).
 *
 * @param asServed adapts the document to the configuration.
 */
export function docsRoutes(asServed: (document: OpenApiDocument) => OpenApiDocument): Hono {
  const routes = new Hono();
  let described: Promise<OpenApiDocument> | undefined;

  routes.get('/openapi.json', async (c) => {
    // Loaded on first use: most processes never need it and start faster.
    described ??= import('../openapi/document.ts').then(({ openApiDocument }) => asServed(openApiDocument()));
    return c.json(await described);
  });

  routes.get('/docs', () => docsPage('Landfall agent server'));

  routes.get('/docs/:asset', async (c) => {
    const asset = await pageAsset(c.req.param('asset'));
    if (!asset) throw missing(`The page has no file "${c.req.param('asset')}".`);
    return asset;
  });

  return routes;
}
