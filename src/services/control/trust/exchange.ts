import { exchangedKey, tokenExchangeRequest, type ExchangedKey } from '../../../contract/control/token-exchange.ts';
import type { Clock } from '../../../kit/clock.ts';
import type { Logger } from '../../../kit/logger.ts';
import { hashApiKey, makeApiKey } from '../api-keys/api-key.ts';
import { Call } from '../service/call.ts';
import type { ControlStore } from '../store/store.ts';
import { grantOf, satisfies, type Claims } from './match-policies.ts';
import { asOneLine } from '../../../kit/plain-text.ts';
import { createRefusalLog } from './refusal-log.ts';
import type { VerifyToken } from './verify-token.ts';

interface ExchangeDependencies {
  store: Pick<ControlStore, 'once' | 'listTenants'>;
  verify: VerifyToken;
  clock: Pick<Clock, 'now' | 'steadyNow'>;
  /** Receives a line about refused tokens. */
  log: Pick<Logger, 'warn'>;
}

/** A key, or why there is none. */
export type ExchangeResult =
  { kind: 'key'; key: ExchangedKey } | { kind: 'refused'; status: 401 | 403 | 502; detail: string };

/** Exchanges a token of an issuer for a key that expires by itself, where a trust policy allows it. Each token once. */
export function createTokenExchange({ store, verify, clock, log }: ExchangeDependencies) {
  const noteRefusal = createRefusalLog({ log, clock });
  const refused = (status: 401 | 403, detail: string): ExchangeResult => ({ kind: 'refused', status, detail });
  async function exchange(body: unknown): Promise<ExchangeResult> {
    const call = new Call('exchange token', 'POST', '/v1/auth/oidc');
    const request = call.body(tokenExchangeRequest, body);
    const verified = await verify(request.token);
    if (!verified.ok) return { kind: 'refused', status: verified.status, detail: verified.detail };
    const { claims, digest, expiresAt } = verified;
    const tenantId = request.tenant_id ?? (await onlyTenant(store));
    // A tenant could trust the repositories of others, and get their deployments with their secrets.
    if (tenantId === undefined) return refused(403, 'This service has several tenants. Name yours as tenant_id.');
    const key = makeApiKey();
    const name = asOneLine(`token of ${String(claims['sub'])}`, 100);
    const by = { kind: 'key' as const, keyId: key.id, keyName: name };
    const end = await store.once({ tenantId, by, operation: call.operation }, async (within, record) => {
      const trusted = await within.trustPoliciesFor(String(claims['iss']), tenantId);
      const policies = trusted.filter((policy) => satisfies(claims, policy));
      if (policies.length === 0) return 'no-policy';
      if (!(await within.useToken(digest, expiresAt))) return 'used';
      const { scopes, minutes } = grantOf(policies);
      const expires_at = new Date(clock.now() + minutes * 60_000);
      await within.addKey({ id: key.id, tenant_id: tenantId, hash: hashApiKey(key), name, scopes, expires_at });
      const ids = policies.map(({ id }) => id);
      await within.notePolicyUse(ids);
      await record({ api_key_id: key.id, trust_policy_id: ids.join(' '), ...provenance(claims) });
      return { key: key.text, tenant_id: tenantId, scopes, expires_at: expires_at.toISOString() };
    });
    const answer = end.kind === 'done' ? end.answer : 'used';
    if (answer === 'no-policy') return refused(403, noPolicy(claims));
    if (answer === 'used') return refused(401, usedToken);
    return { kind: 'key', key: exchangedKey.parse(answer) };
  }

  return async (body: unknown): Promise<ExchangeResult> => {
    const result = await exchange(body);
    if (result.kind === 'refused') noteRefusal(result);
    return result;
  };
}
export type ExchangeToken = ReturnType<typeof createTokenExchange>;

/** The tenant of a service that has one only. */
async function onlyTenant(store: Pick<ControlStore, 'listTenants'>): Promise<string | undefined> {
  const [first, ...others] = await store.listTenants();
  return others.length === 0 ? first?.id : undefined;
}

const usedToken = 'The token was exchanged before. Request another one from the issuer: each is good for one key.';

/** The claims that say where a token comes from, for the audit log and for whoever has to write a policy. */
const recordedClaims = [
  'sub',
  'repository_id',
  'repository_owner_id',
  'ref',
  'environment',
  'event_name',
  'workflow_ref',
  'job_workflow_ref',
  'run_id',
  'actor',
];

const provenance = (claims: Claims): Record<string, string> =>
  Object.fromEntries(
    recordedClaims.flatMap((name) => {
      const value = claims[name];
      return typeof value === 'string' ? [[name, asOneLine(value, 200)]] : [];
    }),
  );

const noPolicy = (claims: Claims): string => {
  const audience = asOneLine([claims['aud']].flat().join(' '), 200);
  const facts = Object.entries(provenance(claims)).map(([name, value]) => `${name} ${value}`);
  return `No trust policy matches this token (audience ${audience}, ${facts.join(', ')}). Add one with these claims, or correct the audience.`;
};
