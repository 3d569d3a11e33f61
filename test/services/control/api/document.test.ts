import { loggerTo } from '../../../logger.ts';
import { describe, expect, test } from 'vitest';
import { fieldAliases } from '../../../../src/contract/control/aliases.ts';
import { openApiDocument } from '../../../../src/services/control/api/document.ts';
import { operations } from '../../../../src/services/control/api/operations.ts';
import { createApp } from '../../../../src/services/control/api/app.ts';
import { createTracing } from '../../../../src/services/control/tracing-projects/tracing.ts';
import { openApi } from '../../../kit/http/shape.ts';

const unused = (): never => expect.unreachable();
const app = createApp({
  serviceFor: unused,
  findKey: unused,
  fieldNames: 'contract',
  log: loggerTo(unused),
  uploads: {
    handOut: unused,
    put: async () => ({ kind: 'unknown' }),
    sweep: async () => undefined,
    removeOld: async () => 0,
    largest: 1,
  },
  runs: {
    store: { agentRecord: unused, putTracedRuns: unused },
    tracing: createTracing(Buffer.alloc(32)),
  },
});
const document = openApi.parse(openApiDocument('contract'));
const text = JSON.stringify(openApiDocument('contract'));

/** A path without the names of its parameters. */
const shapeOf = (path: string): string => path.replaceAll(/:\w+/g, ':');

describe('the description of the interface', () => {
  test('describes every served route and nothing else, besides the console and the guide', () => {
    const served = app.routes
      .filter(({ method, path }) => method !== 'ALL' && path !== '/' && !/^\/(?:console|docs\/guide)\b/.test(path))
      .map(({ method, path }) => `${method} ${shapeOf(path)}`);
    const described = operations.map(({ method, path }) => `${method.toUpperCase()} ${shapeOf(path)}`);
    expect(described.toSorted()).toEqual([...new Set(served)].toSorted());
  });

  test('every reference resolves', () => {
    const named = [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name);
    expect(named.filter((name) => !(String(name) in document.components.schemas))).toEqual([]);
    expect(named.length).toBeGreaterThan(50);
  });

  test('uses every named schema', () => {
    const used = (name: string) => text.includes(`"#/components/schemas/${name}"`);
    expect(Object.keys(document.components.schemas).filter((name) => !used(name))).toEqual([]);
  });

  test('every operation has an id, its responses and its security', () => {
    const ids = operations.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const methods of Object.values(document.paths))
      for (const operation of Object.values(methods)) {
        expect(Object.keys(operation.responses).filter((status) => status.startsWith('2'))).not.toEqual([]);
        expect(operation['security']).toBeDefined();
      }
  });

  test('only public operations need no key', () => {
    const open = operations.filter((operation) => operation.open).map(({ path }) => path);
    expect(open).toEqual([
      '/uploads/:deployment_id/:object_name',
      // It takes the token of its project instead.
      '/v1/projects/:project_id/runs',
      // It takes the token of an issuer instead.
      '/v1/auth/oidc',
      '/v1/sessions',
      // It returns the session of the caller's own cookie, or null.
      '/v1/sessions/current',
      '/ok',
      '/info',
      '/openapi.json',
      '/docs',
      '/docs/:asset',
    ]);
  });

  test('describes what a creation requires, with its bounds', () => {
    const { schemas } = document.components;
    expect(schemas['DeploymentCreateRequest']?.required).toEqual([
      'name',
      'source',
      'source_config',
      'source_revision_config',
      'secrets',
    ]);
    expect(schemas['ResourceSpec']?.properties).toMatchObject({
      cpu: { anyOf: [{ type: 'number', minimum: 0.1, maximum: 8 }, { type: 'null' }] },
      cache_cpu_limit: { anyOf: [{ type: 'number', minimum: 0.1, maximum: 16 }, { type: 'null' }] },
    });
  });

  test('in the public spelling it has only the public names, examples included', () => {
    const spelled = JSON.stringify(openApiDocument('public'));
    for (const alias of fieldAliases) {
      expect(spelled).toContain(`"${alias.public}":`);
      expect(spelled).not.toContain(`"${alias.contract}":`);
      expect(text).not.toContain(`"${alias.public}":`);
    }
  });
});
