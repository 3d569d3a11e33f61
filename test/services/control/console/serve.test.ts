import { gunzipSync, gzipSync } from 'node:zlib';
import { Hono } from 'hono';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Env } from '../../../../src/services/control/api/operation.ts';
import { mountConsole, type ConsoleAddress } from '../../../../src/services/control/console/serve.ts';

const served = (address: ConsoleAddress): Hono<Env> => {
  const app = new Hono<Env>();
  mountConsole(app, address);
  return app;
};
const app = served({});
const html = { accept: 'text/html,application/xhtml+xml' };
const linked = (page: string): string[] =>
  [...page.matchAll(/(?:src|href)="(?!\/)([^"]+)"/g)].map(([, path = '']) => path);

let page: Response;
let text: string;
beforeAll(async () => {
  page = await app.request('/console', { headers: html });
  text = await page.text();
});

describe('the page of the console', () => {
  test('loads only its own origin, runs no inline script and cannot be framed', () => {
    expect(page.status).toBe(200);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    // Images of other servers are shown after a click; nothing else of them is ever loaded.
    expect(policy).toContain("img-src 'self' data: https:;");
    expect(policy.replace(/img-src [^;]*;/, '')).not.toMatch(/unsafe|https?:|\*/);
    expect(page.headers.get('x-frame-options')).toBe('DENY');
    expect(page.headers.get('cache-control')).toBe('no-cache');
    expect(text.replaceAll(/<script type="module" blocking="render" src="[^"]+"><\/script>/g, '')).not.toMatch(
      /<script|<style|style=| on\w+=/,
    );
  });

  test.each<[host: string, address: ConsoleAddress, sources: string]>([
    ['127.0.0.1:8420', {}, '127.0.0.1:8420/console/assets/'],
    ['localhost', { basePath: '/api-host' }, 'localhost/api-host/console/assets/'],
    ['a.test', { publicUrl: 'https://a.test/b', basePath: '/c' }, 'a.test/b/console/assets/'],
    ['127.0.0.1:8420', { publicUrl: 'https://a.test' }, '127.0.0.1:8420/console/assets/ a.test/console/assets/'],
    ['[::1]:8420', {}, "'self'"],
    ["evil.test 'unsafe-inline'", {}, "'self'"],
  ])('at %s with the address %j runs scripts of %s only', async (host, address, sources) => {
    const policy = (await served(address).request('/console', { headers: { host } })).headers.get(
      'content-security-policy',
    );
    expect(policy).toContain(`; script-src ${sources}; style-src ${sources}; `);
  });

  test.each<[host: string, address: ConsoleAddress, sources: string]>([
    ['127.0.0.1:8420', { basePath: '/b' }, "'self' http://agents.localhost:8420/b/"],
    ['a.test', { publicUrl: 'https://a.test', agentsUrl: 'https://agents.test' }, "'self' https://agents.test/"],
    ['a.test', { publicUrl: 'https://a.test' }, "'self'"],
    ["evil.test 'unsafe-inline'", {}, "'self'"],
  ])('at %s with the address %j sends requests to %s only', async (host, address, sources) => {
    const { headers } = await served(address).request('/console', { headers: { host } });
    expect(headers.get('content-security-policy')).toContain(`; connect-src ${sources}; `);
  });

  test('links to files that exist and may be cached for ever', async () => {
    expect(linked(text)).toHaveLength(3);
    for (const path of linked(text)) {
      const file = await app.request(`/console/${path}`);
      const headers = ['x-content-type-options', 'cache-control'].map((name) => file.headers.get(name));
      const caching = path.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
      expect([path, file.status, ...headers]).toEqual([path, 200, 'nosniff', caching]);
    }
  });

  test('is the response to the paths of all its routes', async () => {
    const route = await app.request('/console/deployments/x/revisions/y');
    expect([route.status, await route.text()]).toEqual([200, text]);
  });

  test.each(['/console/assets/missing.js', '/console/assets/../../package.json', '/console/assets/%2e%2e/index.html'])(
    'has no file at %s',
    async (path) => {
      const response = await app.request(path);
      // A path that leaves the assets is a route of the page.
      expect(response.status === 404 || (await response.text()) === text).toBe(true);
    },
  );

  test('is compressed for browsers that accept it', async () => {
    const packed = await app.request('/console', { headers: { 'accept-encoding': 'gzip, br' } });
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(gunzipSync(Buffer.from(await packed.arrayBuffer())).toString()).toBe(text);
  });

  test('has a first view of at most 120 kB', async () => {
    const first = linked(text).filter((path) => path.startsWith('assets/'));
    const loaded = new Map<string, string>();
    for (let path = first.shift(); path !== undefined; path = first.shift()) {
      const code = await (await app.request(`/console/${path}`)).text();
      loaded.set(path, code);
      // What is imported statically is loaded with it.
      for (const [, name = ''] of code.matchAll(/(?:from|^import|;import)\s*"\.\/([^"]+)"/g)) {
        if (!loaded.has(`assets/${name}`)) first.push(`assets/${name}`);
      }
    }
    const bytes = [text, ...loaded.values()].map((part) => gzipSync(part).length);
    expect(loaded.size).toBeGreaterThan(1);
    expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(120_000);
  });
});

describe('the address of the service', () => {
  test('sends browsers to the console', async () => {
    const response = await app.request('/', { headers: html });
    expect([response.status, response.headers.get('location')]).toEqual([302, '/console']);
  });

  test('has nothing for other clients', async () => {
    expect((await app.request('/')).status).toBe(404);
  });

  test('may have a path, below which the page finds its files', async () => {
    const below = served({ basePath: '/api-host' });
    const response = await below.request('/', { headers: html });
    expect(response.headers.get('location')).toBe('/api-host/console');
    expect(await (await below.request('/console')).text()).toContain('<base href="/api-host/console/" />');
  });
});
