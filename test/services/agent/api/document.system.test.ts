import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApiDocument } from '../../../../src/services/agent/api/document.ts';
import { operations } from '../../../../src/services/agent/api/operations.ts';
import { openApi } from '../../../kit/http/shape.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';

const document = openApi.parse(openApiDocument());
const text = JSON.stringify(openApiDocument());

/** What to do about an undescribed route. */
const advice =
  'Describe it in the operations.ts of its group (assistants, threads, runs, crons, store, protocols, ui, webhooks) in ' +
  'src/services/agent, or in system-operations.ts of api: method, path, id, summary, tag, query, body, responses and ' +
  'errors. A schema that should have a name gets it in api/named-schemas.ts; a new part of a path, or field of a query, ' +
  'is explained in api/parameters.ts.';

/** A path without parameter names; both spellings of a thread are the same. */
const shapeOf = (path: string): string => path.replaceAll(/\{\w+\}|:\w+/g, '{}').replace(/^\/thread\//, '/threads/');

describe('the OpenAPI description', () => {
  let serving: Serving;
  beforeAll(async () => {
    serving = await serveAgent();
  });
  afterAll(() => serving.close());

  const served = () => serving.routes().filter(({ method }) => method !== 'ALL');
  const described = operations.flatMap(({ method, path, aliases = [] }) =>
    [path, ...aliases].map((each) => `${method.toUpperCase()} ${shapeOf(each)}`),
  );

  test('contains every served route', () => {
    const lacking = served().filter(({ method, path }) => !described.includes(`${method} ${shapeOf(path)}`));
    expect(lacking.map(({ method, path }) => `${method} ${path} is not described. ${advice}`)).toEqual([]);
  });

  test('contains nothing else', () => {
    const routes = served().map(({ method, path }) => `${method} ${shapeOf(path)}`);
    expect(described.filter((route) => !routes.includes(route))).toEqual([]);
  });

  test('has no dangling references', () => {
    const named = [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name);
    expect(named.filter((name) => !(String(name) in document.components.schemas))).toEqual([]);
    expect(named.length).toBeGreaterThan(50);
  });

  test('uses every named schema', () => {
    const used = (name: string) => text.includes(`"#/components/schemas/${name}"`);
    expect(Object.keys(document.components.schemas).filter((name) => !used(name))).toEqual([]);
  });

  test('each operation has a unique id, its responses and its security', () => {
    const ids = operations.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const silent = Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .filter(({ responses, security }) => Object.keys(responses).length === 0 || security === undefined);
    expect(silent).toEqual([]);
  });

  test('contains the run fields with their values and bounds', () => {
    const { schemas } = document.components;
    expect(schemas['RunCreateStateful']?.required).toEqual(['assistant_id']);
    expect(schemas['RunCreateStateful']?.properties).toMatchObject({
      webhook: { type: 'string', minLength: 1, maxLength: 65_536 },
      multitask_strategy: { enum: ['reject', 'enqueue', 'interrupt', 'rollback'] },
      after_seconds: { type: 'number', minimum: 0 },
    });
    expect(schemas['RunCreateStateless']?.properties).not.toHaveProperty('multitask_strategy');
  });
});
