import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import {
  readChallenge,
  type Challenge,
  createRegistry,
  type Registry,
} from '../../../../src/services/control/registry/registry.ts';
import type { RegistryCredentials } from '../../../../src/services/control/registry/registry-address.ts';
import {
  foreignImageProblem,
  readRegistryAddress,
  type RegistryAddress,
  registryFrom,
} from '../../../../src/services/control/registry/registry-address.ts';
import { fromImage, openServiceFixture, refusalOf, type ServiceFixture } from '../service-fixture.ts';
import { password, refreshToken, startRegistry, user, type RegistryStandIn } from './stand-in.ts';

const tenantId = '11111111-2222-4333-8444-555555555555';
const other = '99999999-2222-4333-8444-555555555555';
const byPassword: RegistryCredentials = { kind: 'password', user, password };

let standIn: RegistryStandIn;
beforeAll(async () => {
  standIn = await startRegistry();
});
afterAll(() => standIn.close());
afterEach(() => {
  standIn.challenge = undefined;
  standIn.failure = [];
});

function addressOf(host: string, path = 'agents'): RegistryAddress {
  const address = readRegistryAddress(`${host}/${path}`);
  if (!address) throw new Error(host);
  return address;
}

const registry = (credentials: RegistryCredentials = byPassword, withinMs = 5_000): Registry =>
  createRegistry({ address: addressOf(standIn.host), credentials, clock: systemClock, withinMs });
const requested = { tenantId, deployment: 'my-agent' };

describe.each<[string, RegistryCredentials]>([
  ['a user and a password', byPassword],
  ['a refresh token', { kind: 'token', token: refreshToken }],
])('with %s', (_, credentials) => {
  test('makes a token that pushes to and pulls from one repository', async () => {
    const end = await registry(credentials).pushToken(requested);
    const repository = `agents/${tenantId}/my-agent`;
    expect(end).toEqual({ kind: 'made', token: expect.any(String), repository: `${standIn.host}/${repository}` });
    const token = end.kind === 'made' ? end.token : '';
    expect(await standIn.allows(token, repository, 'push')).toBe(true);
    expect(await standIn.allows(token, repository, 'pull')).toBe(true);
    expect(await standIn.allows(token, `agents/${other}/my-agent`, 'push')).toBe(false);
    expect(await standIn.allows(token, 'agents', 'pull')).toBe(false);
    expect(standIn.scopes.at(-1)).toBe(`repository:${repository}:pull,push`);
    expect([password, refreshToken]).not.toContain(token);
  });
});

test.each<[string, () => void, RegistryCredentials, string, string]>([
  [
    'wrong credentials',
    () => {},
    { ...byPassword, password: 'wrong' },
    'refused',
    'its token endpoint answered 401. Check the user, password or token',
  ],
  [
    'a registry that supports only passwords',
    () => (standIn.challenge = 'Basic realm="here"'),
    byPassword,
    'refused',
    'has no token endpoint',
  ],
  [
    'a challenge without an address',
    () => (standIn.challenge = 'Bearer service="x"'),
    byPassword,
    'refused',
    'has no token endpoint',
  ],
  [
    'a token endpoint that fails',
    () => standIn.failure.push((response) => response.writeHead(503).end()),
    byPassword,
    'unreachable',
    'answered 503',
  ],
  [
    'a response that is not JSON',
    () => standIn.failure.push((response) => response.end('<html>')),
    byPassword,
    'unreachable',
    'answered without a token',
  ],
  [
    'a response without a token',
    () => standIn.failure.push((response) => response.end('{"token":""}')),
    byPassword,
    'unreachable',
    'answered without a token',
  ],
  [
    'an endless response',
    () => standIn.failure.push((response) => response.end(`"${'x'.repeat(300_000)}`)),
    byPassword,
    'unreachable',
    'answered without a token',
  ],
  [
    'a redirect, which is not followed',
    () => standIn.failure.push((response) => response.writeHead(302, { location: '/token' }).end()),
    byPassword,
    'refused',
    'answered 302',
  ],
  [
    'a connection reset',
    () => standIn.failure.push((response) => response.destroy()),
    byPassword,
    'unreachable',
    "can't be reached",
  ],
])('%s ends with a clear reason and no secret', async (_, prepare, credentials, kind, reported) => {
  prepare();
  const end = await registry(credentials).pushToken(requested);
  expect([end.kind, end.kind === 'made' ? '' : end.why]).toEqual([kind, expect.stringContaining(reported)]);
  expect(JSON.stringify(end)).not.toContain(password);
});

test('gives up on a token endpoint that never responds', async () => {
  standIn.failure.push(() => {});
  expect(await registry(byPassword, 50).pushToken(requested)).toEqual({
    kind: 'unreachable',
    why: `The image registry ${standIn.host} can't be reached (no answer in time). Try again.`,
  });
});

test.each<[string, string | null, Challenge]>([
  [
    'a token endpoint',
    'Bearer realm="https://auth.test/token",service="r"',
    { kind: 'token', realm: 'https://auth.test/token', service: 'r' },
  ],
  [
    'without a service',
    'bearer realm="https://auth.test/token"',
    { kind: 'token', realm: 'https://auth.test/token', service: undefined },
  ],
  [
    'with blanks and unquoted words',
    'Bearer service=r , realm = "https://auth.test/t"',
    { kind: 'token', realm: 'https://auth.test/t', service: 'r' },
  ],
  [
    'behind another challenge',
    'Basic realm="x", Bearer realm="https://auth.test/t"',
    { kind: 'token', realm: 'https://auth.test/t', service: undefined },
  ],
  [
    'with a quote in it',
    'Bearer realm="https://auth.test/t",service="a\\"b"',
    { kind: 'token', realm: 'https://auth.test/t', service: 'a"b' },
  ],
  ['an invalid realm', 'Bearer realm="here"', { kind: 'no-tokens' }],
  ['passwords', 'Basic realm="https://auth.test/t"', { kind: 'no-tokens' }],
  ['no challenge', null, { kind: 'no-tokens' }],
])('a challenge: %s', (_, header, challenge) => expect(readChallenge(header)).toEqual(challenge));

test.each<[string, RegistryAddress | undefined]>([
  ['registry.example.com', { host: 'registry.example.com', path: '', protocol: 'https' }],
  ['Registry.example.com:443/team/agents/', { host: 'registry.example.com', path: 'team/agents', protocol: 'https' }],
  ['localhost:5000', { host: 'localhost:5000', path: '', protocol: 'http' }],
  ['[::1]:5000/x', { host: '[::1]:5000', path: 'x', protocol: 'http' }],
  ['localhost:05000', { host: 'localhost:5000', path: '', protocol: 'http' }],
  ['registry.example.com:70000', undefined],
  ['https://registry.example.com', undefined],
  ['registry.example.com/Team', undefined],
  ['registry.example.com//x', undefined],
  ['user@registry.example.com', undefined],
  ['', undefined],
])('--registry %s', (written, address) => expect(readRegistryAddress(written)).toEqual(address));

test.each([
  ["a tenant's own image", `registry.test/agents/${tenantId}/a:1`, false],
  ["another tenant's", `registry.test/agents/${other}/a:1`, true],
  ['another tenant’s, with the default port', `Registry.test:443/agents/${other}/a:1`, true],
  ["another tenant's, in upper case", `registry.test/agents/${other.toUpperCase()}/a:1`, true],
  ['a path of no tenant', 'registry.test/agents/shared/a:1', false],
  ['another path of the registry', `registry.test/else/${other}/a:1`, false],
  ['another registry', `registry.other/agents/${other}/a:1`, false],
])('%s', (_, image, isForeign) => {
  const problem = foreignImageProblem(image, addressOf('registry.test'), tenantId);
  expect(problem === undefined).toBe(!isForeign);
});

test.each([
  ['registry.test', 'registry.test:0443', true],
  ['registry.test:8443', 'REGISTRY.test:08443', true],
  ['registry.test:8443', 'registry.test', false],
  ['localhost:5000', '127.0.0.1:5000', true],
  ['localhost:5000', '127.1:05000', true],
  ['127.0.0.1:5000', 'LocalHost:5000', true],
  ['[::1]:5000', 'localhost:5000', true],
  ['localhost:5000', '[0:0:0:0:0:0:0:1]:5000', true],
  ['localhost:5000', '[::ffff:127.0.0.1]:5000', true],
  ['localhost', '127.0.0.1:80', true],
  ['localhost:5000', '0.0.0.0:5000', true],
  ['localhost:5000', '127.0.0.1:5001', false],
  ['localhost:5000', '128.0.0.1:5000', false],
  ['registry.test', 'registry.test:99999', false],
])("of the registry %s another tenant's image is also the one at %s: %s", (host, named, isForeign) => {
  const address = addressOf(host);
  const problem = foreignImageProblem(`${named}/agents/${other}/a:1`, address, tenantId);
  expect(problem !== undefined).toBe(isForeign);
  expect(foreignImageProblem(`${named}/agents/${tenantId}/a:1`, address, tenantId)).toBeUndefined();
});

test.each([
  [{ LANDFALL_REGISTRY_TOKEN: 't' }, { kind: 'token', token: 't' }],
  [
    { LANDFALL_REGISTRY_USER: 'u', LANDFALL_REGISTRY_PASSWORD: 'p' },
    { kind: 'password', user: 'u', password: 'p' },
  ],
  [{ LANDFALL_REGISTRY_USER: 'u' }, undefined],
  [{}, undefined],
])('credentials from %o', (env, credentials) => {
  const from = registryFrom(addressOf('registry.test'), env);
  expect(from.kind === 'registry' ? from.credentials : undefined).toEqual(credentials);
});

describe('over HTTP', () => {
  let fixture: ServiceFixture;
  let without: ServiceFixture;
  beforeAll(async () => {
    fixture = await openServiceFixture({ registry: registry() });
    without = await openServiceFixture();
  });
  afterAll(async () => {
    await fixture.close();
    await without.close();
  });
  const request = (name: string, image?: string) => ({
    name,
    source: 'internal_docker' as const,
    source_config: {},
    source_revision_config: image === undefined ? {} : { image_uri: image },
    secrets: [],
  });

  test('a deployment gets the token of its own repository, and its image is taken', async () => {
    const { id } = await fixture.control.createDeployment(request('pushed'));
    const { token, registry_url } = await fixture.control.requestPushToken(id);
    expect(registry_url).toBe(`${standIn.host}/agents/${fixture.tenantId}/pushed`);
    expect(await standIn.allows(token, `agents/${fixture.tenantId}/pushed`, 'push')).toBe(true);
    const named = { source_revision_config: { image_uri: `${registry_url}:1` } };
    expect((await fixture.control.patchDeployment(id, named)).source_revision_config.image_uri).toBe(
      `${registry_url}:1`,
    );
    await fixture.rollouts.settled();
  });

  test('another tenant’s image is refused at a creation and in a change', async () => {
    const foreign = `${standIn.host}/agents/${other}/theirs:1`;
    const reported = { status: 400, detail: 'source_revision_config.image_uri names an image of another tenant.' };
    expect(await refusalOf(fixture.control.createDeployment(request('foreign', foreign)))).toMatchObject(reported);
    const external = fromImage({ source_revision_config: { image_uri: foreign } });
    expect(await refusalOf(fixture.control.createDeployment(external))).toMatchObject(reported);
    const { id } = await fixture.control.createDeployment(request('later'));
    const change = { source_revision_config: { image_uri: foreign } };
    expect(await refusalOf(fixture.control.patchDeployment(id, change))).toMatchObject(reported);
  });

  test('a registry error is a 400 if it refuses, a 502 if it does not respond', async () => {
    const { id } = await fixture.control.createDeployment(request('failing'));
    standIn.failure.push((response) => response.writeHead(403).end());
    expect(await refusalOf(fixture.control.requestPushToken(id))).toMatchObject({ status: 400 });
    standIn.failure.push((response) => response.destroy());
    const refusal = await refusalOf(fixture.control.requestPushToken(id));
    expect(refusal.status).toBe(502);
    expect(refusal.detail).not.toContain(password);
  });

  test('returns no token without a registry, or for a deployment of another tenant', async () => {
    const { id } = await without.control.createDeployment(request('alone'));
    expect(await refusalOf(without.control.requestPushToken(id))).toMatchObject({
      status: 400,
      detail: expect.stringContaining('This service has no image registry: it was started without --registry.'),
    });
    expect((await refusalOf(without.stranger.requestPushToken(id))).status).toBe(404);
  });
});
