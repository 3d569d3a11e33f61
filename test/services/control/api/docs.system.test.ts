import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApi } from '../../../kit/http/shape.ts';
import { openServiceFixture } from '../service-fixture.ts';
import type { ServiceFixture } from '../service-fixture.ts';

describe('over HTTP, below a base path', () => {
  let fixture: ServiceFixture;
  beforeAll(async () => {
    fixture = await openServiceFixture({ prefix: '/api-host' });
  });
  afterAll(() => fixture.close());
  const ask = (path: string, headers: Record<string, string> = {}) => fetch(`${fixture.baseUrl}${path}`, { headers });

  test(
    'the API is version 0.1.0, in OpenAPI 3.1',
    { meta: { claims: ['control.versioning.interface-version'] } },
    async () => {
      const answer = await ask('/openapi.json');
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        200,
        expect.stringMatching(/^application\/json/),
      ]);
      const document = openApi.parse(await answer.json());
      expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '0.1.0' }, servers: [{ url: '.' }] });
      expect(document.components['securitySchemes']).toMatchObject({
        ApiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
        TenantId: { type: 'apiKey', in: 'header', name: 'X-Tenant-Id' },
        BearerAuth: { type: 'http', scheme: 'bearer' },
      });
    },
  );

  test('is served in the requested spelling', async () => {
    const reported = await (await ask('/openapi.json', { 'X-Field-Names': 'public' })).text();
    expect(reported).toContain('"langgraph_config_path":');
  });

  test('the page loads only its own files, and all of them exist', async () => {
    const answer = await ask('/docs');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/html/)]);
    const html = await answer.text();
    const wanted = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address = '']) => address);
    expect(wanted).toHaveLength(4);
    expect(html.replaceAll(/<script src="[^"]*"><\/script>/g, '')).not.toMatch(/<script|<style|style=|onload/);
    for (const address of wanted) {
      const url = new URL(address, answer.url);
      expect(url.href).toMatch(`${fixture.baseUrl}/docs/`);
      const asset = await fetch(url);
      expect([asset.status, asset.headers.get('x-content-type-options')]).toEqual([200, 'nosniff']);
      expect((await asset.arrayBuffer()).byteLength).toBeGreaterThan(50);
    }
  });

  test('its script loads the description beside it, and nothing from other hosts', async () => {
    const start = await (await ask('/docs/start.js')).text();
    expect(start).toContain("url: 'openapi.json'");
    expect(start).toContain('validatorUrl: null');
    expect(start).not.toMatch(/https?:/);
    expect(new URL('openapi.json', `${fixture.baseUrl}/docs`).href).toBe(`${fixture.baseUrl}/openapi.json`);
  });

  test('a strict policy keeps it to its own origin', async () => {
    for (const path of ['/docs', '/docs/start.js', '/docs/swagger-ui-bundle.js']) {
      const policy = (await ask(path)).headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
    }
  });

  test.each(['index.html', 'package.json', '..%2fpackage.json', 'swagger-ui.js.map', 'valueOf', '__proto__'])(
    '%s, which the page does not need, is a 404',
    async (asset) => {
      const answer = await ask(`/docs/${asset}`);
      expect([answer.status, await answer.json()]).toEqual([404, { detail: expect.any(String) }]);
    },
  );
});
