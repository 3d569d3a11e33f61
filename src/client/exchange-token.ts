import * as z from 'zod';
import { exchangedKey, type ExchangedKey } from '../contract/control/token-exchange.ts';
import { isTransient, ServiceError } from '../contract/service-error.ts';
import { withoutTrailingSlashes } from '../kit/plain-text.ts';
import { call, query } from './call.ts';
import { connection, type ConnectionSettings } from './connection.ts';
import { readJson } from './response-readers.ts';

/** How the control service is reached, without a key. */
export type KeylessSettings = Pick<ConnectionSettings, 'tenantId' | 'allowHttp' | 'userAgent' | 'env'> & {
  baseUrl: string;
};

/**
 * Exchanges a token of an issuer, such as a CI system, for a key of the control service that expires by itself.
 *
 * @throws ServiceError where the service trusts no such token, or exchanges none (missing)
 */
export async function exchangeToken(token: string, { tenantId, ...settings }: KeylessSettings): Promise<ExchangedKey> {
  const link = connection(settings.baseUrl, settings);
  try {
    const body = { token, ...(tenantId?.trim() ? { tenant_id: tenantId.trim() } : {}) };
    const operation = {
      name: 'exchange token',
      method: 'POST',
      path: '/v1/auth/oidc',
      body,
      secrets: [token],
    } as const;
    return await call(link, operation, readJson(exchangedKey));
  } finally {
    await link.close();
  }
}

/** What a job of GitHub Actions gets with `id-token: write`: where its token is requested, and by which credential. */
export interface IdTokenRequest {
  url: string;
  bearer: string;
}

/** The token of a workflow run, whose audience is the address of the control service. */
export async function requestIdToken(
  { url, bearer }: IdTokenRequest,
  { baseUrl, userAgent, env }: KeylessSettings,
): Promise<string> {
  const { origin, pathname, searchParams } = new URL(url);
  const link = connection(origin, { bearer, userAgent, env });
  try {
    const parameters = { ...Object.fromEntries(searchParams), audience: withoutTrailingSlashes(baseUrl.trim()) };
    const operation = { name: 'request id token', method: 'GET', path: pathname, query: query(parameters) } as const;
    const { value } = await call(link, operation, readJson(z.object({ value: z.string() })));
    return value;
  } finally {
    await link.close();
  }
}

/** How far the clocks of this machine and of the service may be apart (ms). */
const skewMs = 60_000;

/** Why a key does not last for a run; undefined where it does. A deploy may need its time again, for a rollback. */
export function expiryProblem(
  { expires_at }: ExchangedKey,
  { mode, timeoutMs }: { mode: string; timeoutMs: number },
): string | undefined {
  const neededMs = mode === 'deploy' ? 2 * timeoutMs : timeoutMs;
  return Date.parse(expires_at) + skewMs < Date.now() + neededMs
    ? `the key for this token ends at ${expires_at}, and this run may need ${Math.ceil(neededMs / 60_000)} minutes (timeout-minutes${mode === 'deploy' ? ', and as long again for a rollback' : ''})`
    : undefined;
}

/** What to do about that. */
export const expiryAdvice = 'Raise key_minutes of the trust policy, or lower timeout-minutes';

/** Why a run with a key of its own keeps no journal: it would be sealed with that key. */
export const noJournalWithoutKey = 'no journal is kept: it needs an api-key that the next run has as well';

/** What to do where there is no key for a token. */
export function keylessAdvice(error: unknown): string {
  if (!(error instanceof ServiceError) || isTransient(error)) return 'Check base-url, and try again';
  if (error.kind === 'missing') return 'This service exchanges no tokens: give it a key';
  return error.status === 401
    ? 'Request another token right before this command'
    : 'Have the service accept the issuer of this token (--oidc-issuer) and trust its claims by a policy, or give it a key';
}
