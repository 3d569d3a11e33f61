import * as z from 'zod';
import { exchangedKey } from '../contract/control/token-exchange.ts';
import { ServiceError } from '../contract/service-error.ts';
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
export async function exchangeToken(token: string, { tenantId, ...settings }: KeylessSettings): Promise<string> {
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
    return (await call(link, operation, readJson(exchangedKey))).key;
  } finally {
    await link.close();
  }
}

/** What a job of GitHub Actions gets with `id-token: write`: where its run's token is requested, and by which credential. */
export interface IdTokenRequest {
  url: string;
  bearer: string;
}

/** The key for a workflow run: its token, whose audience is the service's address, is exchanged. */
export async function keyOfRun({ url, bearer }: IdTokenRequest, settings: KeylessSettings): Promise<string> {
  const { userAgent, env } = settings;
  const { origin, pathname, searchParams } = new URL(url);
  const link = connection(origin, { bearer, userAgent, env });
  try {
    const parameters = {
      ...Object.fromEntries(searchParams),
      audience: withoutTrailingSlashes(settings.baseUrl.trim()),
    };
    const operation = { name: 'request id token', method: 'GET', path: pathname, query: query(parameters) } as const;
    const { value } = await call(link, operation, readJson(z.object({ value: z.string() })));
    return await exchangeToken(value, settings);
  } finally {
    await link.close();
  }
}

/** What to do where there is no key for a token. */
export const keylessAdvice = (error: unknown): string =>
  error instanceof ServiceError && error.kind === 'missing'
    ? 'This service exchanges no tokens: give it a key'
    : 'Compare the trust policies of the service with this token, or give it a key';
