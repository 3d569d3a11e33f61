import { Hono } from 'hono';
import { docsPage, pageAsset } from '../../openapi/page.ts';
import type { OpenApiDocument } from '../../openapi/document.ts';
import { missing } from '../refusal.ts';

/**
 * The description of the interface, and a page of it that works without a network (agent-server.md, beginning).
 *
 * @param asServed the description as the configuration leaves it.
 */
export function docsRoutes(asServed: (document: OpenApiDocument) => OpenApiDocument): Hono {
  const routes = new Hono();
  let described: Promise<OpenApiDocument> | undefined;

  routes.get('/openapi.json', async (c) => {
    // Loaded when somebody asks: most processes never do, and begin faster without it.
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
