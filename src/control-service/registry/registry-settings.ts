import type { RegistryAddress } from './registry-address.ts';
import type { RegistryCredentials } from './registry.ts';

/** A registry with this service's credentials, or what is missing. */
export type RegistryFrom =
  | { kind: 'registry'; address: RegistryAddress; credentials: RegistryCredentials }
  | { kind: 'problem'; problem: string };

/** Joins `--registry` with its credentials in the environment: a refresh token, or a user with a password. */
export function registryFrom(
  address: RegistryAddress,
  env: Readonly<Record<string, string | undefined>>,
): RegistryFrom {
  const token = env['LANDFALL_REGISTRY_TOKEN'];
  if (token) return { kind: 'registry', address, credentials: { kind: 'token', token } };
  const user = env['LANDFALL_REGISTRY_USER'];
  const password = env['LANDFALL_REGISTRY_PASSWORD'];
  if (user && password) return { kind: 'registry', address, credentials: { kind: 'password', user, password } };
  return {
    kind: 'problem',
    problem:
      '--registry needs LANDFALL_REGISTRY_USER and LANDFALL_REGISTRY_PASSWORD, or LANDFALL_REGISTRY_TOKEN, in the environment.',
  };
}
