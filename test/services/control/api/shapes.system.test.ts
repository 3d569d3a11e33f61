import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { OperationDescription } from '../../../../src/kit/http/operation.ts';
import { operations } from '../../../../src/services/control/api/operations.ts';
import { pathParameters } from '../../../../src/services/control/api/parameters.ts';
import { maxBodyBytes } from '../../../../src/services/control/api/request.ts';
import { fromGit, unknownId, openServiceFixture } from '../service-fixture.ts';
import type { ServiceFixture } from '../service-fixture.ts';

const sentence = z.strictObject({ detail: z.string().regex(/^[A-Z].*\.$|^Not Found$/s) });
const entries = z.strictObject({
  detail: z
    .array(
      z.strictObject({
        loc: z.array(z.union([z.string(), z.int()])).min(1),
        msg: z.string().min(1),
        type: z.string().min(1),
      }),
    )
    .min(1),
});

/** A minimal valid body for each operation. */
const bodies: Readonly<Record<string, unknown>> = {
  create_deployment: fromGit(),
  create_listener: { compute_type: 'k8s', compute_id: 'cluster', compute_config: {} },
  create_api_key: { name: 'a key' },
  claim_work: { holder: 'holder-1' },
  report_verdict: { kind: 'passed', reporter: 'cli', tests: [] },
  keep_baseline: { answers: [{ answer: 'right', first_event_ms: null, total_ms: 900, nodes: [] }] },
  report_work: { status: 'DEPLOYING' },
};

const idsIn = ({ path }: OperationDescription): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
const isUuid = (name: string): boolean => pathParameters[name] instanceof z.ZodUUID;
const named = (operation: OperationDescription) =>
  [`${operation.method.toUpperCase()} ${operation.path}`, operation] as const;
const closed = operations.filter(({ open }) => !open);
const withUuids = closed.filter((operation) => idsIn(operation).some(isUuid));
const withJson = closed.filter(({ body }) => body && 'schema' in body);

describe('every error response has one of two shapes', () => {
  let fixture: ServiceFixture;
  beforeAll(async () => {
    fixture = await openServiceFixture();
    fixture.rollouts.fate = 'held';
  });
  afterAll(() => fixture.close());

  /** The path, with unknown ids unless given. */
  const fill = (path: string, ids: Record<string, string> = {}): string =>
    path.replaceAll(
      /:(\w+)/g,
      (_, name: string) => ids[name] ?? (name === 'test_hash' ? 'a1'.repeat(32) : unknownId()),
    );
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(`${fixture.baseUrl}${path}`, {
      method,
      headers: { 'x-api-key': fixture.apiKey, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const ask = (operation: OperationDescription, ids?: Record<string, string>) =>
    send(operation.method.toUpperCase(), fill(operation.path, ids), bodyOf(operation));
  const bodyOf = ({ id, body }: OperationDescription): unknown => (body ? (bodies[id] ?? {}) : undefined);

  test.each(closed.map(named))('%s requires a key', async (_, operation) => {
    const answer = await send(operation.method.toUpperCase(), fill(operation.path), bodyOf(operation), {
      'x-api-key': 'none',
    });
    expect(answer.status).toBe(401);
    sentence.parse(await answer.json());
  });

  test.each(withUuids.map(named))('%s reports which id of its path is invalid', async (_, operation) => {
    for (const name of idsIn(operation).filter(isUuid)) {
      const answer = await ask(operation, { [name]: 'alpha' });
      expect(answer.status).toBe(422);
      expect(entries.parse(await answer.json()).detail[0]?.loc).toEqual(['path', name]);
    }
  });

  test.each(closed.filter((operation) => idsIn(operation).length > 0).map(named))(
    '%s is a 404 for unknown ids',
    async (_, operation) => {
      const answer = await ask(operation);
      expect(answer.status).toBe(404);
      sentence.parse(await answer.json());
    },
  );

  test.each(operations.map(({ path }) => path).filter((path, at, all) => all.indexOf(path) === at))(
    '%s lists its methods',
    async (path) => {
      const known = operations.filter((operation) => operation.path === path).map(({ method }) => method.toUpperCase());
      const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((method) => !known.includes(method));
      for (const method of others) {
        const answer = await send(method, fill(path));
        expect([method, answer.status, answer.headers.get('allow')?.split(', ').toSorted()]).toEqual([
          method,
          405,
          known.toSorted(),
        ]);
        sentence.parse(await answer.json());
      }
    },
  );

  test.each(withJson.map(named))('%s requires JSON of a limited size', async (_, operation) => {
    const [method, path] = [operation.method.toUpperCase(), fill(operation.path)];
    const other = await send(method, path, '{}', { 'content-type': 'text/plain' });
    expect(other.status).toBe(415);
    sentence.parse(await other.json());
    const broken = await send(method, path, '{"a": "secret-value');
    expect(broken.status).toBe(422);
    const text = await broken.text();
    expect(entries.parse(JSON.parse(text)).detail[0]?.loc).toEqual(['body']);
    expect(text).not.toContain('secret-value');
    const large = await send(method, path, JSON.stringify({ a: 'x'.repeat(maxBodyBytes) }));
    expect(large.status).toBe(413);
    sentence.parse(await large.json());
  });

  test.each(withJson.map(named))('%s rejects a body that is not an object', async (_, operation) => {
    for (const body of ['[]', '7', '"text"', 'null']) {
      const answer = await send(operation.method.toUpperCase(), fill(operation.path), body);
      const read: unknown = await answer.json();
      // Where a body is optional, null counts as absent.
      const mayBeMissing = body === 'null' && operation.body?.required === false;
      expect([body, answer.status]).toEqual([body, mayBeMissing ? 404 : 422]);
      (mayBeMissing ? sentence : entries).parse(read);
    }
  });

  test.each(closed.filter(({ query }) => query && 'limit' in query.shape).map(named))(
    '%s enforces the bounds of a page',
    async (_, { method, path }) => {
      for (const query of ['limit=0', 'limit=many', 'limit=1e3', 'limit=-1']) {
        const answer = await send(method.toUpperCase(), `${fill(path)}?deployment_id=${unknownId()}&${query}`);
        expect([query, answer.status]).toEqual([query, 422]);
        expect(entries.parse(await answer.json()).detail[0]?.loc).toEqual(['query', 'limit']);
      }
    },
  );

  test.each(['/', '/v2', '/v2/', '/v2/deployments/', '/v1/nothing', '/agents', '//v2/deployments', '/v2/%zz'])(
    '%s is a 404',
    async (path) => {
      const answer = await send('GET', path);
      expect(answer.status).toBe(404);
      sentence.parse(await answer.json());
    },
  );

  test('a 404 for another tenant has this shape too', async () => {
    const answer = await send('GET', '/v2/deployments', undefined, { 'x-tenant-id': unknownId() });
    expect(answer.status).toBe(403);
    sentence.parse(await answer.json());
  });
});
