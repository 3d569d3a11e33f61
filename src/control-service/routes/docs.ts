import { createRequire } from 'node:module';
import { readFile } from 'node:fs/promises';
import { Hono } from 'hono';
import { fieldSpellings } from '../../contract/control/aliases.ts';
import type { FieldSpelling } from '../../contract/control/aliases.ts';
import { openApiDocument } from '../openapi/document.ts';
import type { OpenApiDocument } from '../openapi/document.ts';
import { spellingHeader } from './answer.ts';
import type { Env } from './env.ts';
import { onlyMethods } from './refusing.ts';

/** The files of the page that the package has, and what they are. */
const packaged: ReadonlyMap<string, string> = new Map([
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['favicon-32x32.png', 'image/png'],
]);

/** The page loads from its own origin and nowhere else, whatever the description may hold; nothing may frame it. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Landfall control service</title>
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <link rel="icon" href="docs/favicon-32x32.png">
  </head>
  <body>
    <div id="docs"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

// The page shows the description that lies beside it, and asks nobody elsewhere whether that is a good one.
const start = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#docs',
  validatorUrl: null,
  deepLinking: true,
  persistAuthorization: false,
});
`;

/** The description of the interface, and a page of it that works without a network: both are open to all. */
export function docsRoutes(fieldNames: FieldSpelling): Hono<Env> {
  const routes = new Hono<Env>();
  const described = new Map<FieldSpelling, OpenApiDocument>();
  routes.get('/openapi.json', (c) => {
    const asked = c.req.header(spellingHeader)?.trim().toLowerCase();
    const spelling = fieldSpellings.find((word) => word === asked) ?? fieldNames;
    const document = described.get(spelling) ?? openApiDocument(spelling);
    described.set(spelling, document);
    return c.json(document);
  });
  routes.all('/openapi.json', onlyMethods('GET'));

  routes.get('/docs', (c) => c.html(page, 200, strict));
  routes.all('/docs', onlyMethods('GET'));
  routes.get('/docs/:asset', async (c) => {
    const asset = c.req.param('asset');
    if (asset === 'start.js')
      return c.body(start, 200, { ...strict, 'Content-Type': 'text/javascript; charset=utf-8' });
    const type = packaged.get(asset);
    if (type === undefined) return c.json({ detail: 'Not Found' }, 404);
    const bytes = await readFile(createRequire(import.meta.url).resolve(`swagger-ui-dist/${asset}`));
    return c.body(new Uint8Array(bytes), 200, { ...strict, 'Content-Type': type, 'Cache-Control': 'max-age=3600' });
  });
  routes.all('/docs/:asset', onlyMethods('GET'));
  return routes;
}

const strict = {
  'Content-Security-Policy': policy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};
