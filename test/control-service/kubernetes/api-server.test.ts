/** What the compute's tests stand on: that the cluster they run against behaves as the real one's API does. */
import { KubeConfig, Watch } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isObject } from '../../../src/contract/json-object.ts';
import { startApiServer, type ApiServer } from './api-server.ts';
import { applied, fieldsOf, type Fields, type Json } from './apply.ts';
import { at } from './inputs.ts';

describe('server-side apply', () => {
  const container = (name: string, more: Json = {}): Json => ({ name, image: `${name}:1`, ...more });
  const pod = (...containers: Json[]): Json => ({ spec: { containers } });
  /** Applies one after the other and tells the object, or who stood in the way. */
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
    ['leaves what others own', after(['a', { x: 1 }], ['b', { y: 2 }], ['a', { x: 3 }]), { x: 3, y: 2 }],
    ['keeps what two own when one lets go', after(['a', { x: 1 }], ['b', { x: 1 }], ['a', {}]), { x: 1 }],
    ['refuses to change what another one owns', after(['a', { x: 1 }], ['b', { x: 2 }]), 'conflict with a: f:x'],
    [
      'takes over by force, and the former owner can no longer take it away',
      after(['a', { x: 1 }], ['b', { x: 2 }, true], ['a', {}]),
      { x: 2 },
    ],
    [
      'merges containers by their names',
      after(['a', pod(container('one'))], ['b', pod(container('two'))]),
      pod(container('two'), container('one')),
    ],
    [
      'takes away an entry that is no longer applied',
      after(['a', pod(container('one'), container('two'))], ['a', pod(container('one'))]),
      pod(container('one')),
    ],
    [
      'takes away a variable of a container',
      after(
        ['a', pod(container('one', { env: [{ name: 'A' }, { name: 'B' }] }))],
        ['a', pod(container('one', { env: [{ name: 'B' }] }))],
      ),
      pod(container('one', { env: [{ name: 'B' }] })),
    ],
    ['takes a plain list as one value', after(['a', { args: ['1', '2'] }], ['a', { args: ['3'] }]), { args: ['3'] }],
    [
      'knows the keys of labels that hold slashes',
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
    ['a stranger', () => ask('GET', path, undefined, 'nobody'), 401, 'Unauthorized'],
    ['what is not there', () => ask('GET', `${path}/none`), 404, 'services "none" not found'],
    [
      'a kind that is not known',
      () => ask('GET', '/api/v1/namespaces/default/secretz'),
      404,
      'could not find the requested resource',
    ],
    [
      'a namespace that is not there',
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
      'a field that is not known, where it is to be strict',
      () => apply({ ...service('a'), sepc: 1 }),
      400,
      'strict decoding error: unknown field "sepc"',
    ],
    ['a name that is none', () => apply(service('2nd')), 422, 'metadata.name: Invalid value: "2nd"'],
    [
      'a label that is none',
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

  test('lists by labels, without saying of what kind its entries are, and counts the generations of what is specified', async () => {
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

  test('tells a watch what changes, and one from too long ago that it has to list anew', async () => {
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
