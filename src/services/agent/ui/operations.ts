import type { Context, MiddlewareHandler } from 'hono';
import * as z from 'zod';
import type { Operation } from '../../../kit/http/operation.ts';
import { readBody } from '../api/body.ts';
import { operationsOf, type Env } from '../api/operation.ts';
import { publicBase } from '../api/public-base.ts';
import { decodedSegment } from '../auth/access.ts';
import { missing, Refusal } from '../refusal.ts';
import { globalNameOf, type UiBundle } from './ui-bundles.ts';

const componentRequest = z.object({ name: z.string().min(1) });
const define = operationsOf('UI');

const files = [
  { file: 'entrypoint.js', id: 'ui_script', summary: 'Read the script of a UI', type: 'text/javascript' },
  { file: 'entrypoint.css', id: 'ui_styles', summary: 'Read the style sheet of a UI', type: 'text/css' },
] as const;

/** The components of the agent's user interfaces. Without any, the paths belong to the agent's own application. */
export const uiOperations: readonly Operation<Env>[] = [
  define.post('/ui/:ui', 'load_ui_component', {
    summary: 'Load a component of a UI into a page',
    description: 'For `LoadExternalComponent` of the official client, which inserts the tags into a page.',
    body: { schema: componentRequest, required: true },
    responses: { 200: { description: 'The tags of the style sheet and the script, in HTML.', type: 'text/html' } },
    async handle(c) {
      if (c.var.dependencies.ui.size === 0) return c.notFound();
      const name = c.req.param('ui');
      const bundle = requireBundle(c, name);
      const { name: component } = await readBody(c, componentRequest);
      const address = `${filesAddress(c)}ui/${encodeURIComponent(name)}`;
      return c.html(tagsOf(bundle, address, { name, component }));
    },
  }),
  ...files.map(({ file, id, summary, type }) =>
    define.get(`/ui/:ui/${file}`, id, {
      summary,
      description: 'For pages that load a component of the UI.',
      responses: { 200: { description: 'The file.', type } },
      open: true,
      handle: (c) => (c.var.dependencies.ui.size === 0 ? c.notFound() : fileOf(c, c.req.param('ui'), { file, type })),
    }),
  ),
];

/** The header by which a proxy says that it passes on a request whose caller has shown no key. */
const withoutKeyHeader = 'x-landfall-without-key';

/** Lets requests without a key read the files of UIs, and reach nothing else, such as the agent's own application. */
export const uiFilesWithoutKey: MiddlewareHandler<Env> = async (c, next) => {
  if (c.req.header(withoutKeyHeader) === undefined) return next();
  const [, name, requested] = /^\/ui\/([^/]+)\/([^/]+)$/.exec(c.req.path) ?? [];
  const file = files.find((each) => each.file === requested);
  if (name === undefined || !file) throw new Refusal(401, 'Send a key of the service in the header X-Api-Key.');
  return fileOf(c, decodedSegment(name), file);
};

function fileOf(c: Context<Env>, name: string, { file, type }: Pick<(typeof files)[number], 'file' | 'type'>) {
  const text = requireBundle(c, name)[file];
  if (text === undefined) throw missing(`The UI "${name}" has no style sheet.`);
  return c.body(text, 200, { 'content-type': `${type}; charset=utf-8`, 'x-content-type-options': 'nosniff' });
}

function requireBundle(c: Context<Env>, name: string): UiBundle {
  const { ui } = c.var.dependencies;
  const bundle = ui.get(name);
  if (bundle) return bundle;
  // Names are not for callers without a key.
  if (c.req.header(withoutKeyHeader) !== undefined) throw missing(`There is no UI "${name}".`);
  const known = [...ui.keys()].map((one) => `"${one}"`).join(', ');
  throw missing(`There is no UI "${name}". The graph configuration has ${known || 'none'}.`);
}

/** The public address of the server, with the page's own scheme where a proxy may use another one than this server. */
function filesAddress(c: Context<Env>): string {
  const { href, protocol, hostname } = publicBase(c.req.url, c.req.raw.headers, c.var.dependencies.mountPrefix ?? '');
  const isKnown = c.req.header('x-forwarded-proto') !== undefined || ['localhost', '127.0.0.1'].includes(hostname);
  return isKnown ? href : href.slice(protocol.length);
}

/** The client replaces `{{shadowRootId}}` by the element that the component is rendered in. */
function tagsOf(bundle: UiBundle, address: string, { name, component }: { name: string; component: string }): string {
  const render = `${globalNameOf(name)}.render(${JSON.stringify(component)}, "{{shadowRootId}}")`;
  const script = `<script src="${escape(`${address}/entrypoint.js`)}" onload='${escapeIn(render)}'></script>`;
  if (bundle['entrypoint.css'] === undefined) return script;
  return `<link rel="stylesheet" href="${escape(`${address}/entrypoint.css`)}" />\n${script}`;
}

/** Escapes the value of an attribute in single quotes, as the public server writes calls. */
const escapeIn = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll("'", '&#39;').replaceAll('<', '&lt;');

const escape = (text: string): string => escapeIn(text).replaceAll('"', '&quot;');
