import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiVersion } from '../../../../src/services/agent/version.ts';
import { openApi } from '../../../kit/http/shape.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';

describe('the documentation page, over HTTP', () => {
  let serving: Serving;
  beforeAll(async () => {
    serving = await serveAgent();
  });
  afterAll(() => serving.close());
  const ask = (path: string) => fetch(`${serving.url}${path}`);

  test('serves OpenAPI 3.1 with the version from /info', async () => {
    const answer = await ask('/openapi.json');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      expect.stringMatching(/^application\/json/),
    ]);
    const document = openApi.parse(await answer.json());
    expect(document).toMatchObject({ openapi: '3.1.0', info: { version: apiVersion }, servers: [{ url: '.' }] });
    expect(await (await ask('/info')).json()).toMatchObject({ version: apiVersion });
    expect(document.components['securitySchemes']).toMatchObject({ ApiKey: { in: 'header', name: 'X-Api-Key' } });
  });

  test(
    '/docs uses only its own files, and all of them exist',
    { meta: { claims: ['agent.server.docs'] } },
    async () => {
      const answer = await ask('/docs');
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/html/)]);
      const html = await answer.text();
      const wanted = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address = '']) => address);
      expect(wanted).toHaveLength(4);
      for (const address of wanted) {
        // As a browser does with the page below a deployment's address.
        const below = new URL(address, 'http://service.test/agents/one/docs');
        expect(below.href).toMatch('http://service.test/agents/one/docs/');
        const asset = await ask(new URL(address, answer.url).pathname);
        expect([asset.status, asset.headers.get('x-content-type-options')]).toEqual([200, 'nosniff']);
        expect((await asset.arrayBuffer()).byteLength).toBeGreaterThan(50);
      }
      const start = await (await ask('/docs/start.js')).text();
      expect(start).toContain("url: 'openapi.json'");
      expect(start).not.toMatch(/https?:/);
    },
  );

  test('a strict content security policy limits it to its own origin', async () => {
    for (const path of ['/docs', '/docs/start.js', '/docs/swagger-ui-bundle.js']) {
      const policy = (await ask(path)).headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
    }
  });

  test.each(['index.html', 'package.json', '..%2fpackage.json', 'swagger-ui.js.map', 'valueOf', '__proto__'])(
    '%s is not served',
    async (asset) => {
      const answer = await ask(`/docs/${asset}`);
      expect([answer.status, await answer.json()]).toEqual([404, { detail: expect.any(String) }]);
    },
  );
});
