import * as z from 'zod';
import { fromJson } from '../../../kit/json-text.ts';
import { withTimeout, type Clock } from '../../../kit/clock.ts';
import { repositoryOf, type RegistryAddress, type RegistryCredentials } from './registry-address.ts';

export interface RegistryDependencies {
  address: RegistryAddress;
  credentials: RegistryCredentials;
  clock: Clock;
  /** The timeout of a request in milliseconds; 10 s when absent. */
  withinMs?: number;
}

type PushTokenEnd =
  /** `repository` is the target of `docker push`: host and path. `token` is a secret. */
  | { kind: 'made'; token: string; repository: string }
  /** It issues no tokens, or none for us; the reason is for a person. */
  | { kind: 'refused'; why: string }
  | { kind: 'unreachable'; why: string };

export interface Registry {
  address: RegistryAddress;
  /** A token of the registry that allows pulling from and pushing to one deployment's repository. */
  pushToken(of: { tenantId: string; deployment: string }): Promise<PushTokenEnd>;
}

const maxAnswerLength = 100_000;

const tokenAnswer = z.object({ token: z.string().min(1).optional(), access_token: z.string().min(1).optional() });

/**
 * A client of the token protocol of container registries. A registry without a token endpoint gets no push tokens: this
 * service's own credentials would open every repository to the token's owner.
 */
export function createRegistry({ address, credentials, clock, withinMs = 10_000 }: RegistryDependencies): Registry {
  const name = `The image registry ${address.host}`;

  /** Sends a request with the timeout; follows no redirects, since they would get the credentials. */
  const ask = (url: string, init: RequestInit = {}): Promise<{ status: number; headers: Headers; text: string }> =>
    withTimeout(clock, withinMs, async (signal) => {
      const response = await fetch(url, { ...init, redirect: 'manual', signal });
      return { status: response.status, headers: response.headers, text: await beginOf(response) };
    });

  function request(realm: string, service: string | undefined, scope: string): [url: string, init: RequestInit] {
    if (credentials.kind === 'password') {
      const url = new URL(realm);
      if (service !== undefined) url.searchParams.set('service', service);
      url.searchParams.set('scope', scope);
      url.searchParams.set('account', credentials.user);
      const basic = Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64');
      return [url.href, { headers: { authorization: `Basic ${basic}` } }];
    }
    const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: credentials.token });
    form.set('service', service ?? '');
    form.set('client_id', 'landfall');
    form.set('scope', scope);
    return [realm, { method: 'POST', body: form }];
  }

  async function make(repository: string): Promise<PushTokenEnd> {
    const started = await ask(`${address.protocol}://${address.host}/v2/`);
    const challenge = readChallenge(started.headers.get('www-authenticate'));
    if (started.status !== 401 || challenge.kind === 'no-tokens') {
      const why = `${name} has no token endpoint, so that no token for one repository can be made. Push with a user and a password that it gave you.`;
      return { kind: 'refused', why };
    }
    if (new URL(challenge.realm).protocol !== 'https:' && address.protocol === 'https') {
      return { kind: 'refused', why: `${name} names a token endpoint that is not https. Nothing was sent there.` };
    }
    const scope = `repository:${repository}:pull,push`;
    const { status, text } = await ask(...request(challenge.realm, challenge.service, scope));
    if (status >= 500) return { kind: 'unreachable', why: `Its token endpoint answered ${status}.` };
    if (status !== 200) {
      const why = `${name} made no token for ${repository}: its token endpoint answered ${status}. Check the user, password or token that this service was started with.`;
      return { kind: 'refused', why };
    }
    const token = tokenIn(text);
    if (token === undefined) return { kind: 'unreachable', why: 'Its token endpoint answered without a token.' };
    return { kind: 'made', token, repository: `${address.host}/${repository}` };
  }

  return {
    address,
    async pushToken(of) {
      try {
        const end = await make(repositoryOf(address, of));
        return end.kind === 'unreachable' ? { ...end, why: `${name} can't be used at the moment. ${end.why}` } : end;
      } catch (error) {
        // fetch throws where the registry was not reached, or not in time.
        const how = error instanceof Error && error.name !== 'TimeoutError' ? reasonOf(error) : 'no answer in time';
        return { kind: 'unreachable', why: `${name} can't be reached (${how}). Try again.` };
      }
    },
  };
}

const reasonOf = (error: Error): string => (error.cause instanceof Error ? error.cause.message : error.message);

function tokenIn(text: string): string | undefined {
  // The text of invalid JSON is untrusted and not reported.
  const read = tokenAnswer.safeParse(fromJson(text)).data;
  return read?.token ?? read?.access_token;
}

async function beginOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > maxAnswerLength) break;
  }
  return text;
}

/** `no-tokens`: the registry authenticates its callers by user and password in every request, or not at all. */
export type Challenge = { kind: 'token'; realm: string; service: string | undefined } | { kind: 'no-tokens' };

/** Parses `WWW-Authenticate` of a registry's `GET /v2/`: the first challenge with a token endpoint. */
export function readChallenge(header: string | null): Challenge {
  const bearer = /(?:^|, ?)Bearer ([^\r\n]*)/i.exec(header ?? '')?.[1];
  if (bearer === undefined) return { kind: 'no-tokens' };
  const fields = new Map<string, string>();
  // The fields end at the next challenge: a word without an equals sign.
  const field = /\s*([a-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))\s*(?:,|$)/iy;
  for (let read = field.exec(bearer); read; read = field.exec(bearer)) {
    const [, name = '', quoted, plain] = read;
    fields.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '');
  }
  const realm = fields.get('realm');
  if (realm === undefined || !URL.canParse(realm)) return { kind: 'no-tokens' };
  return { kind: 'token', realm, service: fields.get('service') };
}
