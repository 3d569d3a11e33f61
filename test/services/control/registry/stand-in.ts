import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { randomBytes } from 'node:crypto';

/** The state of a fake registry: what it issued and received. */
export interface RegistryStandIn {
  /** Host and port. */
  host: string;
  /** The requested scopes, in order. */
  scopes: string[];
  /** The next responses of the token endpoint; it works normally when empty. */
  failure: ((response: ServerResponse) => void)[];
  /** The challenge for requests without a token; points to its token endpoint when absent. */
  challenge: string | undefined;
  /** Whether a token permits an action on a repository, as a registry would decide. */
  allows: (token: string, repository: string, action: 'push' | 'pull') => Promise<boolean>;
  close(): Promise<void>;
}

export const user = 'landfall';
export const password = 'a password, with: colons';
export const refreshToken = 'refresh-me';

/**
 * The token protocol of a container registry: `/v2/` challenges, `/token` makes tokens for one scope from a user with a
 * password (GET) or from a refresh token (POST), and `/v2/<repository>/blobs/uploads/` starts a push for requests with
 * the right scope.
 */
export async function startRegistry(): Promise<RegistryStandIn> {
  const tokens = new Map<string, string>();
  const standIn: RegistryStandIn = {
    host: '',
    scopes: [],
    failure: [],
    challenge: undefined,
    allows: async (token, repository, action) => {
      const path = action === 'push' ? 'blobs/uploads/' : 'tags/list';
      const answer = await fetch(`http://${standIn.host}/v2/${repository}/${path}`, {
        method: action === 'push' ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${token}` },
      });
      await answer.body?.cancel();
      return answer.ok;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  const challenged = (response: ServerResponse): void => {
    const usual = `Bearer realm="http://${standIn.host}/token",service="registry.test",scope="registry:catalog:*"`;
    response.writeHead(401, { 'www-authenticate': standIn.challenge ?? usual });
    response.end('{"errors":[{"code":"UNAUTHORIZED"}]}');
  };

  const makeToken = (scope: string, field: 'token' | 'access_token', response: ServerResponse): void => {
    standIn.scopes.push(scope);
    const token = randomBytes(12).toString('hex');
    tokens.set(token, scope);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ [field]: token, expires_in: 300 }));
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://x');
    if (url.pathname === '/token') {
      const failure = standIn.failure.shift();
      if (failure) return failure(response);
      const requested = request.method === 'POST' ? new URLSearchParams(await textOf(request)) : url.searchParams;
      if (requested.get('service') !== 'registry.test') return void response.writeHead(400).end();
      const basic = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
      const isKnown =
        request.method === 'POST'
          ? requested.get('grant_type') === 'refresh_token' && requested.get('refresh_token') === refreshToken
          : request.headers.authorization === basic && requested.get('account') === user;
      if (!isKnown) return void response.writeHead(401).end();
      return makeToken(requested.get('scope') ?? '', request.method === 'POST' ? 'access_token' : 'token', response);
    }
    const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    const scope = bearer === undefined ? undefined : tokens.get(bearer);
    const wanted = /^\/v2\/(.+)\/(blobs\/uploads|tags)\//.exec(url.pathname);
    if (scope === undefined || !wanted) return challenged(response);
    const [, repository, actions = ''] = /^repository:([^:]+):(.+)$/.exec(scope) ?? [];
    const action = request.method === 'POST' ? 'push' : 'pull';
    const isAllowed = repository === wanted[1] && actions.split(',').includes(action);
    response.writeHead(isAllowed ? (action === 'push' ? 202 : 200) : 401).end();
  }

  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the registry has no port');
  standIn.host = `127.0.0.1:${address.port}`;
  return standIn;
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
