import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey } from 'jose';

/** What a runner authenticates its requests for tokens with. */
const runCredential = 'credential-of-the-run';

interface SigningKey {
  kid: string;
  privateKey: CryptoKey;
  publicKey: CryptoKey;
}

interface IssuerState {
  status: number;
  issuer: string;
  /** The claims of the tokens that jobs request. */
  claimsOfRun: object;
  /** What the address of the keys answers in their place. */
  keysAnswer?: { status: number; body: string } | undefined;
  keys: SigningKey[];
}

/** An issuer of OpenID Connect tokens at loopback, like GitHub's for workflow runs. Its keys and answers can change. */
export async function startIssuer() {
  const requested: string[] = [];
  const state: IssuerState = {
    status: 200,
    issuer: '',
    claimsOfRun: {},
    keys: [await makeKey('first')],
  };
  async function answerTo({ url = '', headers }: IncomingMessage): Promise<unknown> {
    const { pathname, searchParams } = new URL(url, origin);
    if (pathname === '/id-token') {
      const isOfRun = headers.authorization === `Bearer ${runCredential}`;
      return isOfRun ? { value: await sign({ ...state.claimsOfRun, aud: searchParams.get('audience') }) } : {};
    }
    if (pathname !== '/keys') return { issuer: state.issuer, jwks_uri: `${origin}/keys` };
    const published = state.keys.map(async ({ kid, publicKey }) => ({ ...(await exportJWK(publicKey)), kid }));
    return { keys: await Promise.all(published) };
  }
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requested.push(request.url ?? '');
    const { status, body } = (request.url === '/keys' && state.keysAnswer) || {
      status: state.status,
      body: JSON.stringify(await answerTo(request)),
    };
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  }
  const server = createServer((request, response) => void respond(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The issuer listens at no port.');
  const origin = `http://127.0.0.1:${address.port}`;
  state.issuer = origin;
  let made = 0;
  /** A token like those of workflow runs, unlike all before it. */
  async function sign(
    claims: Record<string, unknown> = {},
    { at = Date.now(), key = state.keys[0] }: { at?: number; key?: SigningKey | undefined } = {},
  ) {
    if (!key) throw new Error('the issuer has no key');
    const now = Math.floor(at / 1_000);
    made += 1;
    return new SignJWT({
      iss: origin,
      aud: 'https://control.test',
      sub: 'repo:acme/support',
      iat: now,
      exp: now + 300,
      jti: `${made}`,
      ...claims,
    })
      .setProtectedHeader({ alg: 'RS256', kid: key.kid })
      .sign(key.privateKey);
  }
  return {
    url: origin,
    requested,
    state,
    /** Exchanges the keys for a new one. */
    rotate: async (): Promise<void> => {
      state.keys = [await makeKey(`key-${state.keys.length}-${requested.length}`)];
    },
    sign,
    /** The variables of a job that may request tokens, as runners set them. */
    jobEnvironment: {
      ACTIONS_ID_TOKEN_REQUEST_URL: `${origin}/id-token?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: runCredential,
    },
    async stop(): Promise<void> {
      server.closeAllConnections();
      await server[Symbol.asyncDispose]();
    },
  };
}
export type Issuer = Awaited<ReturnType<typeof startIssuer>>;

export const makeKey = async (kid: string): Promise<SigningKey> => ({
  kid,
  ...(await generateKeyPair('RS256', { extractable: true })),
});
