/** Checks that the fake API server of the compute tests behaves like the real one. */
import { KubeConfig, Watch } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isObject } from '../../../../src/kit/json-object.ts';
import { startApiServer, type ApiServer } from './api-server.ts';
import { applied, fieldsOf, type Fields, type Json } from './apply.ts';
import { at } from './inputs.ts';

describe('server-side apply', () => {
  const container = (name: string, more: Json = {}): Json => ({ name, image: `${name}:1`, ...more });
  const pod = (...containers: Json[]): Json => ({ spec: { containers } });
  /** Applies the configurations in order; returns the object, or the manager that owns a conflicting field. */
  const after = (...applies: [manager: string, configuration: Json, force?: boolean][]): unknown => {
    let live: Json = {};
    let managers: ReadonlyMap<string, Fields> = new Map();
    for (const [manager, configuration, force = false] of applies) {
      const end = applied(live, managers, configuration, manager, force);
      if (end.kind === 'conflict') return `conflict with ${end.with}: ${end.fields.join(', ')}`;
      live = isObject(end.object) ? end.object : {};
      managers = end.managers;
    }
    return live;
  };

  test.each<[string, unknown, unknown]>([
    ['takes away what the same manager no longer applies', after(['a', { x: 1, y: 2 }], ['a', { x: 1 }]), { x: 1 }],
    ['leaves fields of other managers', after(['a', { x: 1 }], ['b', { y: 2 }], ['a', { x: 3 }]), { x: 3, y: 2 }],
    ['keeps a field of two managers when one drops it', after(['a', { x: 1 }], ['b', { x: 1 }], ['a', {}]), { x: 1 }],
    ['refuses to change a field of another manager', after(['a', { x: 1 }], ['b', { x: 2 }]), 'conflict with a: f:x'],
    [
      'takes ownership by force; the former owner can no longer remove the field',
      after(['a', { x: 1 }], ['b', { x: 2 }, true], ['a', {}]),
      { x: 2 },
    ],
    [
      'merges containers by their names',
      after(['a', pod(container('one'))], ['b', pod(container('two'))]),
      pod(container('two'), container('one')),
    ],
    [
      'removes an entry that is no longer applied',
      after(['a', pod(container('one'), container('two'))], ['a', pod(container('one'))]),
      pod(container('one')),
    ],
    [
      'removes a container variable that is no longer applied',
      after(
        ['a', pod(container('one', { env: [{ name: 'A' }, { name: 'B' }] }))],
        ['a', pod(container('one', { env: [{ name: 'B' }] }))],
      ),
      pod(container('one', { env: [{ name: 'B' }] })),
    ],
    ['treats a plain list as one value', after(['a', { args: ['1', '2'] }], ['a', { args: ['3'] }]), { args: ['3'] }],
    [
      'understands label keys with slashes',
      after(['a', { labels: { 'x/y': '1' } }], ['a', { labels: { z: '1' } }]),
      { labels: { z: '1' } },
    ],
  ])('%s', (_, end, expected) => expect(end).toEqual(expected));

  test('refuses two entries with the same key', () => {
    expect(() => fieldsOf(pod(container('one'), container('one')))).toThrow('duplicate entries');
  });
});

describe('the API server of the tests', () => {
  let api: ApiServer;
  beforeAll(async () => {
    api = await startApiServer(['default']);
  });
  afterAll(() => api.close());

  const ask = async (
    method: string,
    path: string,
    body?: Json,
    token = api.token,
  ): Promise<{ code: number; body: unknown }> => {
    const answer = await fetch(`${api.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/apply-patch+yaml' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { code: answer.status, body: await answer.json() };
  };
  const path = '/api/v1/namespaces/default/services';
  const service = (name: string, more: Json = {}): Json => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default', labels: { app: name }, ...more },
    spec: { ports: [{ port: 80, protocol: 'TCP' }] },
  });
  const apply = (body: Json, query = 'fieldManager=test&fieldValidation=Strict') =>
    ask('PATCH', `${path}/${String(at(body, 'metadata.name'))}?${query}`, body);

  test.each<[string, () => Promise<{ code: number; body: unknown }>, number, string]>([
    ['a request with an unknown token', () => ask('GET', path, undefined, 'unknown-token'), 401, 'Unauthorized'],
    ['an object that does not exist', () => ask('GET', `${path}/none`), 404, 'services "none" not found'],
    [
      'an unknown kind',
      () => ask('GET', '/api/v1/namespaces/default/secretz'),
      404,
      'could not find the requested resource',
    ],
    [
      'a namespace that does not exist',
      () =>
        ask('PATCH', '/api/v1/namespaces/else/services/a?fieldManager=t', {
          ...service('a'),
          metadata: { name: 'a', namespace: 'else' },
        }),
      404,
      'namespaces "else" not found',
    ],
    ['an apply without a manager', () => apply(service('a'), ''), 400, 'fieldManager is required'],
    [
      'an unknown field under strict validation',
      () => apply({ ...service('a'), sepc: 1 }),
      400,
      'strict decoding error: unknown field "sepc"',
    ],
    ['an invalid name', () => apply(service('2nd')), 422, 'metadata.name: Invalid value: "2nd"'],
    [
      'an invalid label',
      () => apply(service('a', { labels: { app: 'no blanks' } })),
      422,
      'metadata.labels: Invalid value: "no blanks"',
    ],
  ])('refuses %s', async (_, call, code, message) => {
    const answer = await call();
    expect(answer).toMatchObject({
      code,
      body: { kind: 'Status', status: 'Failure', code, message: expect.stringContaining(message) },
    });
  });

  test('lists by labels without kinds of items, and counts generations of the spec', async () => {
    expect((await apply(service('one'))).code).toBe(201);
    await apply(service('two'));
    expect((await apply(service('one', { annotations: { seen: 'yes' } }))).body).toMatchObject({
      metadata: { generation: 1 },
    });
    const { body } = await ask('GET', `${path}?labelSelector=app%3Done`);
    expect(body).toMatchObject({
      kind: 'ServiceList',
      items: [{ metadata: { name: 'one', uid: expect.any(String) } }],
    });
    expect(at(body, 'items.0.kind')).toBeUndefined();
    await ask('DELETE', `${path}/one`);
    expect((await ask('DELETE', `${path}/one`)).code).toBe(404);
  });

  test('reports changes to a watch, and makes one that is too old list again', async () => {
    const config = new KubeConfig();
    config.loadFromFile(api.kubeconfig);
    const follow = async (resourceVersion: string) => {
      const reported: string[] = [];
      const stop = await new Watch(config).watch(
        path,
        { resourceVersion },
        (phase, object: unknown) =>
          reported.push(`${phase} ${String(at(object, 'metadata.name') ?? at(object, 'code'))}`),
        () => undefined,
      );
      return { reported, stop: () => stop.abort() };
    };
    const old = String(api.state.version());
    const { reported, stop } = await follow(old);
    await apply(service('three'));
    await ask('DELETE', `${path}/three`);
    await expect.poll(() => reported).toEqual(['ADDED three', 'DELETED three']);
    stop();
    api.forget();
    const late = await follow(old);
    await expect.poll(() => late.reported).toEqual(['ERROR 410']);
    late.stop();
  });
});
