import { isUuid } from '../../../kit/uuid.ts';

/** The image registry of `--registry HOST[/PATH]`. */
export interface RegistryAddress {
  /** Host name with its port, in lower case, without the default port. */
  host: string;
  /** The prefix of this service's repositories; empty for none. */
  path: string;
  /** Plain http only for this machine. */
  protocol: 'https' | 'http';
}

/** This service's credentials at its registry: a secret. */
export type RegistryCredentials =
  { kind: 'password'; user: string; password: string } | { kind: 'token'; token: string };

const hostName = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(?::\d{1,5})?$/;
/** One part of a repository's name, as registries allow it. */
const component = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;

/** Parses `--registry`; undefined where it is invalid. */
export function readRegistryAddress(written: string): RegistryAddress | undefined {
  const [host = '', ...components] = written.replace(/\/$/, '').split('/');
  if (!hostName.test(host.toLowerCase()) || !components.every((part) => component.test(part))) return undefined;
  const protocol = isLoopback(host) ? 'http' : 'https';
  const place = placeOf(host, protocol);
  if (!place) return undefined;
  return { host: place.port === '' ? place.name : `${place.name}:${place.port}`, path: components.join('/'), protocol };
}

/** The repository for a deployment's images: only the deployment's own tokens reach it. */
export const repositoryOf = (
  { path }: Pick<RegistryAddress, 'path'>,
  { tenantId, deployment }: { tenantId: string; deployment: string },
): string => [path, tenantId, deployment].filter((part) => part !== '').join('/');

/** Rejects an `image_uri` in another tenant's part of the registry. Images outside of tenants' parts are open to all. */
export function foreignImageProblem(imageUri: string, registry: RegistryAddress, tenantId: string): string | undefined {
  const [host = '', ...components] = imageUri.split('/');
  if (!isSameHost(host, registry.host, registry.protocol)) return undefined;
  const ours = registry.path === '' ? [] : registry.path.split('/');
  if (!ours.every((part, at) => components[at] === part)) return undefined;
  const owner = components[ours.length] ?? '';
  if (!isUuid(owner) || owner.toLowerCase() === tenantId) return undefined;
  return 'source_revision_config.image_uri names an image of another tenant.';
}

/** This machine's names in addresses. */
const loopback =
  /^(?:(?:.+\.)?localhost\.?|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]+\])$/;

/** Normalizes a host: numbers in one spelling, and no default port. */
function placeOf(host: string, protocol: 'https' | 'http'): { name: string; port: string } | undefined {
  if (!URL.canParse(`${protocol}://${host}`)) return undefined;
  const { hostname, port } = new URL(`${protocol}://${host}`);
  return { name: hostname, port };
}

const isLoopback = (host: string): boolean => loopback.test(placeOf(host, 'http')?.name ?? '');

/** Whether two hosts are the same registry: all names of this machine are. */
function isSameHost(one: string, other: string, protocol: 'https' | 'http'): boolean {
  const [first, second] = [placeOf(one, protocol), placeOf(other, protocol)];
  if (!first || !second || first.port !== second.port) return false;
  return first.name === second.name || (loopback.test(first.name) && loopback.test(second.name));
}

type RegistryFrom =
  | { kind: 'registry'; address: RegistryAddress; credentials: RegistryCredentials }
  | { kind: 'problem'; problem: string };

/** Joins `--registry` with its credentials in the environment: a refresh token, or a user with a password. */
export function registryFrom(address: RegistryAddress, env: Readonly<NodeJS.ProcessEnv>): RegistryFrom {
  const token = env['LANDFALL_REGISTRY_TOKEN'];
  if (token) return { kind: 'registry', address, credentials: { kind: 'token', token } };
  const user = env['LANDFALL_REGISTRY_USER'];
  const password = env['LANDFALL_REGISTRY_PASSWORD'];
  if (user && password) return { kind: 'registry', address, credentials: { kind: 'password', user, password } };
  const problem =
    '--registry needs LANDFALL_REGISTRY_USER and LANDFALL_REGISTRY_PASSWORD, or LANDFALL_REGISTRY_TOKEN, in the environment.';
  return { kind: 'problem', problem };
}
