import { randomBytes, timingSafeEqual } from 'node:crypto';
import { Hono } from 'hono';
import * as z from 'zod';
import { fromJson } from '../../src/kit/json-text.ts';
import { type Manifest, manifestOf, webOf } from './manifest.ts';
import { writeFile } from 'node:fs/promises';
import { hasCode } from '../../src/kit/errors.ts';

export interface SetupOptions {
  /** The address of this page in the browser. */
  origin: () => string;
  /** The address at which GitHub will reach the App, without a trailing slash. */
  publicUrl: string;
  /** The address of GitHub's API, without a trailing slash. */
  apiUrl: string;
  /** The organisation that will own the App; by default a person's own account. */
  organisation?: string | undefined;
  /** The name that GitHub proposes. */
  name: string;
  /** The file that the settings are written to; it must not exist. */
  envFile: string;
  /** Called when the App is created and its settings are written. */
  done: (app: Pick<CreatedApp, 'id' | 'name' | 'html_url'>) => void;
}

/** GitHub's response about the created App. The key and the secret must never be shown. */
const createdApp = z.looseObject({
  id: z.int(),
  slug: z.string(),
  name: z.string(),
  html_url: z.string(),
  pem: z.string(),
  webhook_secret: z.string().min(1),
});
type CreatedApp = z.infer<typeof createdApp>;

/** Timeout of a request to GitHub (ms). */
const timeoutMs = 30_000;

/**
 * The setup page: posts a manifest to GitHub, receives the code, and writes the App's settings to a file. A code
 * without our own state is refused.
 */
export function setupApp(options: SetupOptions): Hono {
  const { origin, publicUrl, apiUrl, organisation, name, envFile, done } = options;
  const state = randomBytes(32).toString('hex');
  const account =
    organisation === undefined ? 'settings' : `organizations/${encodeURIComponent(organisation)}/settings`;
  const action = `${webOf(apiUrl)}/${account}/apps/new?state=${state}`;
  const app = new Hono();
  app.use(async (context, next) => {
    await next();
    context.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
    context.header('cache-control', 'no-store');
    context.header('referrer-policy', 'no-referrer');
  });
  app.get('/', (context) => context.html(startPage(manifestOf(name, publicUrl, `${origin()}/created`), action)));
  app.get('/created', async (context) => {
    const { code, state: given } = context.req.query();
    if (!given || !isSame(given, state)) {
      return context.html(problemPage('This did not come from the page that is open here, so it was not used.'), 403);
    }
    if (!code || !/^[\w-]{1,200}$/.test(code)) {
      return context.html(problemPage('GitHub sent no code. Press the button again.'), 400);
    }
    const exchange = await exchangeCode(apiUrl, code);
    if (!exchange.ok) return context.html(problemPage(exchange.problem), 502);
    const api = apiUrl === 'https://api.github.com' ? undefined : apiUrl;
    if (!(await writeNew(envFile, envLines(exchange.app, publicUrl, api)))) {
      const problem = `${exchange.app.name} is made, but ${envFile} is there already and was left alone. Move it away, make a new private key and webhook secret on the App's page, and write them down yourself.`;
      return context.html(problemPage(problem), 409);
    }
    done(exchange.app);
    return context.html(donePage(exchange.app.name, envFile, `${exchange.app.html_url}/installations/new`));
  });
  return app;
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

type ExchangeResult = { ok: true; app: CreatedApp } | { ok: false; problem: string };

/** Exchanges the code for the App's id, key and secret: POST /app-manifests/{code}/conversions. */
async function exchangeCode(apiUrl: string, code: string): Promise<ExchangeResult> {
  const where = `${apiUrl}/app-manifests/.../conversions`;
  const response = await fetch(`${apiUrl}/app-manifests/${code}/conversions`, {
    method: 'POST',
    headers: { accept: 'application/vnd.github+json', 'user-agent': 'landfall' },
    signal: AbortSignal.timeout(timeoutMs),
  })
    .then(async (response) => ({ status: response.status, body: await response.text() }))
    .catch((error: unknown) => reasonOf(error));
  if (typeof response === 'string') {
    const again = 'The App is at GitHub already. Reload this page to try again: its code works once, within an hour.';
    return { ok: false, problem: `POST ${where} had no answer: ${response}. ${again}` };
  }
  if (response.status !== 201) {
    return { ok: false, problem: `POST ${where} answered ${response.status}. A code works once, and for an hour.` };
  }
  const read = createdApp.safeParse(fromJson(response.body));
  return read.success
    ? { ok: true, app: read.data }
    : { ok: false, problem: `What POST ${where} answered can't be read.` };
}

/** The cause of a failed request. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message ? error.cause.message : error.message;
}

/** The lines of `.env` for an App that was made. */
export const envLines = (app: CreatedApp, publicUrl: string, apiUrl: string | undefined): string =>
  [
    `# ${app.name.replace(/[^\w .-]/g, '')}, made by npm run setup`,
    `APP_ID=${app.id}`,
    `PRIVATE_KEY=${Buffer.from(app.pem).toString('base64')}`,
    `WEBHOOK_SECRET=${app.webhook_secret}`,
    `PUBLIC_URL=${publicUrl}`,
    ...(apiUrl === undefined ? [] : [`GITHUB_API_URL=${apiUrl}`]),
    '',
  ].join('\n');

/** Creates a file that only this user can read. False if it exists: nothing is overwritten. */
async function writeNew(file: string, text: string): Promise<boolean> {
  try {
    await writeFile(file, text, { flag: 'wx', mode: 0o600, flush: true });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** Text inside HTML and its attributes. */
const html = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`);

const page = (title: string, body: readonly string[]): string =>
  [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${html(title)}</title>`,
    '<style>body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem}code{background:#eee;padding:0 .2em}button{font:inherit;padding:.4em 1em}</style>',
    '</head>',
    '<body>',
    `<h1>${html(title)}</h1>`,
    ...body,
    '</body>',
    '</html>',
    '',
  ].join('\n');

/** The page with the button that posts the manifest to GitHub. It needs no script. */
function startPage(manifest: Manifest, action: string): string {
  const requested = Object.entries(manifest.default_permissions).map(([name, level]) => `${name}: ${level}`);
  return page('Create the GitHub App', [
    `<p>GitHub shows the requested permissions, and creates the App under the name that you choose there. GitHub sends its events to <code>${html(manifest.hook_attributes.url)}</code>.</p>`,
    `<p>Permissions: <code>${html(requested.join(', '))}</code>.</p>`,
    `<p>Events: <code>${html(manifest.default_events.join(', '))}</code>.</p>`,
    `<form action="${html(action)}" method="post">`,
    `<input type="hidden" name="manifest" value="${html(JSON.stringify(manifest))}">`,
    '<button type="submit">Create it on GitHub</button>',
    '</form>',
  ]);
}

/** The page after the App was made and its settings were written. */
const donePage = (name: string, file: string, installUrl: string): string =>
  page(`${name} is made`, [
    `<p>Its id, key and webhook secret are in <code>${html(file)}</code>, which only you can read.</p>`,
    `<p>Next: <a href="${html(installUrl)}">install it</a> on the repositories that deploy agents, add the settings of your control service to the same file, and run <code>npm start</code>.</p>`,
  ]);

/** The error page. */
const problemPage = (problem: string): string =>
  page('That did not work', [`<p>${html(problem)}</p>`, '<p><a href="/">Start again</a></p>']);
