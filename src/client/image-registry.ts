import { createHash } from 'node:crypto';
import * as z from 'zod';
import { isLoopback } from '../kit/base-address.ts';
import type { CallOptions } from '../contract/call-options.ts';
import type { ImageLookup } from '../contract/control/container.ts';
import { fromJson } from '../kit/json-text.ts';
import { connection, type ConnectionSettings } from './connection.ts';
import { header, send, type HttpReply } from './http.ts';

/** The timeout of one response of a registry (ms). */
const timeoutMs = 10_000;
const maxManifestBytes = 4 * 1024 * 1024;

const manifestTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

type Settings = Pick<ConnectionSettings, 'userAgent' | 'env'>;

/**
 * Finds the digest of a tag by the OCI distribution API, without credentials or with the anonymous token that a
 * registry issues for public images. Failures of a registry result in `unknown`.
 *
 * @see https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pulling-manifests
 */
export async function lookUpImage(reference: string, settings: Settings, options: CallOptions): Promise<ImageLookup> {
  const image = readReference(reference);
  if (!image) return { kind: 'unknown', why: 'it names no registry' };
  const { host, path, tag, name } = image;
  const manifest = { base: baseOf(host), path: `/v2/${path}/manifests/${tag}` };
  try {
    let reply = await get(manifest, { accept: manifestTypes }, settings, options);
    const challenge = reply?.status === 401 ? readChallenge(header(reply.headers, 'www-authenticate')) : undefined;
    const isAllowed = challenge !== undefined && mayGiveTokens(challenge, new URL(manifest.base));
    const token = isAllowed ? await anonymousToken(challenge, settings, options) : undefined;
    if (token !== undefined) {
      reply = await get(manifest, { accept: manifestTypes, authorization: `Bearer ${token}` }, settings, options);
    }
    if (reply?.status !== 200) {
      const problem = reply ? `does not show it without credentials (HTTP ${reply.status})` : 'did not answer';
      return { kind: 'unknown', why: `the registry ${host} ${problem}` };
    }
    // The digest of a manifest is by definition that of its bytes.
    return { kind: 'pinned', uri: `${name}@sha256:${createHash('sha256').update(reply.body).digest('hex')}` };
  } catch (error) {
    if (options.signal?.aborted) throw error;
    return { kind: 'unknown', why: `the registry ${host} could not be asked` };
  }
}

/** Parses `[HOST[:PORT]/]PATH[:TAG]`. A name without a slash is ignored: it may be a local image. */
function readReference(reference: string): { host: string; path: string; tag: string; name: string } | undefined {
  const match = /^((?:[^/]+\/)+[^/:@]+)(?::([\w][\w.-]{0,127}))?$/.exec(reference);
  const [, name = '', tag = 'latest'] = match ?? [];
  const [first = '', ...rest] = name.split('/');
  const isHost = /[.:]/.test(first) || first === 'localhost';
  if (!match) return undefined;
  const path = isHost ? rest.join('/') : name;
  if (!/^[a-z0-9]+(?:[._/-]+[a-z0-9]+)*$/.test(path)) return undefined;
  return { host: isHost ? first : 'docker.io', path, tag, name };
}

/** The base URL of a registry. As in Docker, a local one uses plain http. */
function baseOf(host: string): string {
  if (host === 'docker.io' || host === 'index.docker.io') return 'https://registry-1.docker.io';
  return `${/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/.test(host) ? 'http' : 'https'}://${host}`;
}

/** Gets a response of any status; undefined if there is none. */
async function get(
  { base, path }: { base: string; path: string },
  headers: Record<string, string>,
  settings: Settings,
  { signal }: CallOptions,
): Promise<HttpReply | undefined> {
  const link = connection(base, settings);
  try {
    if (link.refusal !== undefined || !link.dispatcher) return undefined;
    const request = { origin: link.origin, method: 'GET', path, headers: { ...link.headers, ...headers } } as const;
    const result = await send(link.dispatcher, request, { timeoutMs, maxBodyBytes: maxManifestBytes, signal });
    return result.kind === 'reply' ? result : undefined;
  } finally {
    await link.close();
  }
}

/** Reads the address of the token service from a challenge: `Bearer realm="…",service="…",scope="…"`. */
function readChallenge(headerValue: string | undefined): URL | undefined {
  if (!headerValue || !/^bearer /i.test(headerValue)) return undefined;
  const fields = new Map(
    [...headerValue.matchAll(/\b(realm|service|scope)="([^"]{0,1000})"/g)].map(([, key = '', value = '']) => [
      key,
      value,
    ]),
  );
  const url = URL.parse(fields.get('realm') ?? '');
  for (const key of ['service', 'scope']) {
    const value = fields.get(key);
    if (url && value !== undefined) url.searchParams.set(key, value);
  }
  return url ?? undefined;
}

/**
 * Whether a registry may use this address for its tokens. A registry must not direct requests into a network that it
 * can't reach itself, so another host must have a public name and use https, which proves that name.
 */
export function mayGiveTokens(realm: URL, registry: URL): boolean {
  const host = hostOf(realm);
  const registryHost = hostOf(registry);
  if (isLoopback(host) && isLoopback(registryHost)) return true;
  if (realm.protocol !== 'https:') return false;
  if (host === registryHost) return true;
  const isAddress = host.startsWith('[') || /^[\d.]+$/.test(host);
  return !isAddress && host.includes('.') && !/\.(?:localhost|local|internal|home\.arpa)$/.test(host);
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/\.$/, '');

const tokenReply = z.looseObject({ token: z.string().optional(), access_token: z.string().optional() });

async function anonymousToken(challenge: URL, settings: Settings, options: CallOptions): Promise<string | undefined> {
  const { origin, pathname, search } = challenge;
  const reply = await get({ base: origin, path: `${pathname}${search}` }, {}, settings, options);
  const parsed = reply?.status === 200 ? tokenReply.safeParse(fromJson(reply.body.toString('utf8'))) : undefined;
  return parsed?.data?.token ?? parsed?.data?.access_token;
}
