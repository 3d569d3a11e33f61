import type { Hono } from 'hono';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Env } from '../api/operation.ts';
import { withoutTrailingSlashes } from '../../../kit/plain-text.ts';
import { agentsUrlFor } from '../gateway/agents-origin.ts';
import { loadConsole, typeOf, type ConsoleFiles } from './bundle.ts';

/**
 * The console loads from its own origin only, runs no inline script and none of an agent, and can't be framed. @param
 * assets where its scripts and styles are. @param agentsUrl the agents' own origin, where there is one.
 */
const policyOf = (assets: string, agentsUrl: string | undefined): string =>
  [
    "default-src 'none'",
    `script-src ${assets}`,
    `style-src ${assets}`,
    // A page shows images of others only after a click.
    "img-src 'self' data: https:",
    ["connect-src 'self'", ...(agentsUrl === undefined ? [] : [`${agentsUrl}/`])].join(' '),
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');

/**
 * The assets as a policy names them: without a scheme, which is the page's. A web server in front may pass on another
 * `Host`, so that the public host counts too. Policies can't name every host, such as an IPv6 address.
 */
function assetSources(host: string | undefined, publicUrl: string | undefined, publicPath: string): string {
  const hosts = [host, publicUrl === undefined ? undefined : new URL(publicUrl).host].filter(
    (each) => each !== undefined,
  );
  const isNamed = hosts.length > 0 && hosts.every((each) => /^[a-z\d.-]+(?::\d+)?$/i.test(each));
  return isNamed ? [...new Set(hosts)].map((each) => `${each}${publicPath}/console/assets/`).join(' ') : "'self'";
}

const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

interface ServedFile {
  plain: Uint8Array<ArrayBuffer>;
  gzipped: Uint8Array<ArrayBuffer>;
}

/** The address of the service as browsers see it. */
export interface ConsoleAddress {
  publicUrl?: string | undefined;
  /** The path of the service where there is no `publicUrl`: `/api-host`, or empty. */
  basePath?: string | undefined;
  /** The agents' own origin, where it has a public address. */
  agentsUrl?: string | undefined;
}

/** Serves the console at `/console`, and sends browsers there from `/`. Paths without a file get the page itself. */
export function mountConsole(app: Hono<Env>, { publicUrl, basePath = '', agentsUrl }: ConsoleAddress = {}): void {
  const publicPath = publicUrl === undefined ? basePath : withoutTrailingSlashes(new URL(publicUrl).pathname);
  let loading: Promise<ReadonlyMap<string, ServedFile>> | undefined;
  const files = (): Promise<ReadonlyMap<string, ServedFile>> => {
    loading ??= loadConsole().then((loaded) => compress(loaded, publicPath));
    // The next request tries again.
    loading.catch(() => (loading = undefined));
    return loading;
  };

  app.get('/', (context, next) =>
    context.req.header('accept')?.includes('text/html') ? context.redirect(`${publicPath}/console`) : next(),
  );
  app.on('GET', ['/console', '/console/*'], async (context) => {
    const host = context.req.header('host');
    const path = context.req.path.slice('/console/'.length);
    const served = await files();
    const isAsset = path.startsWith('assets/');
    const name = isAsset || served.has(path) ? path : 'index.html';
    const file = served.get(name);
    if (!file) return context.notFound();
    const acceptsGzip = context.req.header('accept-encoding')?.includes('gzip') === true;
    return context.body(acceptsGzip ? file.gzipped : file.plain, 200, {
      ...headers,
      'Content-Security-Policy': policyOf(
        assetSources(host, publicUrl, publicPath),
        agentsUrlFor(host, { agentsUrl, publicUrl, basePath }),
      ),
      'Content-Type': typeOf(name),
      // The name of an asset changes with its content.
      'Cache-Control': isAsset ? 'public, max-age=31536000, immutable' : 'no-cache',
      Vary: 'Accept-Encoding',
      ...(acceptsGzip ? { 'Content-Encoding': 'gzip' } : {}),
    });
  });
}

async function compress(files: ConsoleFiles, publicPath: string): Promise<ReadonlyMap<string, ServedFile>> {
  const served = new Map<string, ServedFile>();
  for (const [name, bytes] of files) {
    const plain = name === 'index.html' ? withBase(bytes, publicPath) : new Uint8Array(bytes);
    served.set(name, { plain, gzipped: new Uint8Array(await promisify(gzip)(plain)) });
  }
  return served;
}

/** The page with the address that its relative links start from. */
const withBase = (page: Uint8Array, publicPath: string): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(
    new TextDecoder().decode(page).replace('<base href="/console/" />', `<base href="${publicPath}/console/" />`),
  );
