import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

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

const strict = {
  'Content-Security-Policy': policy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

// The page shows the document beside it and validates it nowhere.
const start = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#docs',
  validatorUrl: null,
  deepLinking: true,
  persistAuthorization: false,
});
`;

/**
 * The page of an OpenAPI document, without external requests. It is served as `docs` beside `openapi.json`, and its
 * files (`pageAsset`) below it.
 *
 * @param title plain words, nothing that HTML would read.
 */
export function docsPage(title: string): Response {
  const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
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
  return new Response(page, { headers: { ...strict, 'Content-Type': 'text/html; charset=UTF-8' } });
}

/** A file of the page; undefined where the page has none of that name. */
export async function pageAsset(name: string): Promise<Response | undefined> {
  if (name === 'start.js')
    return new Response(start, { headers: { ...strict, 'Content-Type': 'text/javascript; charset=utf-8' } });
  const type = packaged.get(name);
  if (type === undefined) return undefined;
  const bytes = await readFile(createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`));
  return new Response(new Uint8Array(bytes), {
    headers: { ...strict, 'Content-Type': type, 'Cache-Control': 'max-age=3600' },
  });
}
