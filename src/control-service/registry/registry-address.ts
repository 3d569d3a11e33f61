/** An image registry as it was named with `--registry HOST[/PATH]`. */
export interface RegistryAddress {
  /** Host name with its port, in lower case, without the port that its protocol has anyway. */
  host: string;
  /** What every repository of this service begins with; empty for none. */
  path: string;
  /** Plain http is spoken to this machine only. */
  protocol: 'https' | 'http';
}

const hostName = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(?::\d{1,5})?$/;
/** One part of a repository's name, as registries take it. */
const component = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;

/** Reads what `--registry` was given; undefined where it is no registry. */
export function readRegistryAddress(written: string): RegistryAddress | undefined {
  const [host = '', ...components] = written.replace(/\/$/, '').split('/');
  if (!hostName.test(host.toLowerCase()) || !components.every((part) => component.test(part))) return undefined;
  const protocol = isLoopback(host) ? 'http' : 'https';
  return { host: plainHost(host, protocol), path: components.join('/'), protocol };
}

/** The repository that a deployment's images are pushed to: nobody else's token reaches it. */
export const repositoryOf = (
  { path }: Pick<RegistryAddress, 'path'>,
  { tenantId, deployment }: { tenantId: string; deployment: string },
): string => [path, tenantId, deployment].filter((part) => part !== '').join('/');

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The sentence against an `image_uri` that lies in another tenant's part of the registry. What is in nobody's part is
 * everybody's.
 */
export function foreignImageProblem(imageUri: string, registry: RegistryAddress, tenantId: string): string | undefined {
  const [host = '', ...components] = imageUri.split('/');
  if (plainHost(host, registry.protocol) !== registry.host) return undefined;
  const ours = registry.path === '' ? [] : registry.path.split('/');
  if (!ours.every((part, at) => components[at] === part)) return undefined;
  const owner = components[ours.length] ?? '';
  if (!uuid.test(owner) || owner.toLowerCase() === tenantId) return undefined;
  return 'source_revision_config.image_uri names an image of another tenant.';
}

const isLoopback = (host: string): boolean => /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i.test(host);

const plainHost = (host: string, protocol: 'https' | 'http'): string =>
  host.toLowerCase().replace(protocol === 'https' ? /:443$/ : /:80$/, '');
