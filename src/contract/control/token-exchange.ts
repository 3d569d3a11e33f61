import * as z from 'zod';
import { apiKeyScopes } from './api-key-scopes.ts';

/** The body of POST /v1/auth/oidc (our addition): a token that an issuer made for this service. */
export const tokenExchangeRequest = z.strictObject({
  token: z.string().min(1).max(20_000),
  /** Needed where the service has several tenants. */
  tenant_id: z.uuid().optional(),
});

/** A key for a token: a secret, returned only once. */
export const exchangedKey = z.looseObject({
  key: z.string(),
  tenant_id: z.string(),
  scopes: z.array(z.enum(apiKeyScopes)),
  expires_at: z.string(),
});
export type ExchangedKey = z.infer<typeof exchangedKey>;
