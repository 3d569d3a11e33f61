import { exchangedKey, tokenExchangeRequest, type ExchangedKey } from '../../../contract/control/token-exchange.ts';
import type { Clock } from '../../../kit/clock.ts';
import { hashApiKey, makeApiKey } from '../api-keys/api-key.ts';
import { valueOrThrow } from '../service/refuse.ts';
import type { ControlStore } from '../store/store.ts';
import { readBody } from '../validation/shape.ts';
import { grantOf, satisfies, type Claims } from './match-policies.ts';
import type { VerifyToken } from './verify-token.ts';

interface ExchangeDependencies {
  store: Pick<ControlStore, 'once' | 'trustPoliciesFor'>;
  verify: VerifyToken;
  clock: Pick<Clock, 'now'>;
}

/** A key, or why there is none. */
export type ExchangeResult =
  { kind: 'key'; key: ExchangedKey } | { kind: 'refused'; status: 401 | 403 | 502; detail: string };

/** Exchanges a token of an issuer for a key that expires by itself, where a trust policy allows it. Each token once. */
export function createTokenExchange({ store, verify, clock }: ExchangeDependencies) {
  const refused = (status: 401 | 403, detail: string): ExchangeResult => ({ kind: 'refused', status, detail });
  return async function exchange(body: unknown): Promise<ExchangeResult> {
    const call = { operation: 'exchange token', method: 'POST', path: '/v1/auth/oidc' };
    const request = valueOrThrow(call, readBody(tokenExchangeRequest, body));
    const verified = await verify(request.token);
    if (!verified.ok) return { kind: 'refused', status: verified.status, detail: verified.detail };
    const { claims, digest, expiresAt } = verified;
    const candidates = await store.trustPoliciesFor(String(claims['iss']), request.tenant_id);
    const policies = candidates.filter((policy) => satisfies(claims, policy));
    const [tenantId, another] = new Set(policies.map(({ tenant_id }) => tenant_id));
    if (tenantId === undefined) return refused(403, noPolicy(claims));
    if (another !== undefined) {
      return refused(403, 'Trust policies of several tenants match this token. Name one of them as tenant_id.');
    }
    const { scopes, minutes } = grantOf(policies);
    const key = makeApiKey();
    const expires_at = new Date(clock.now() + minutes * 60_000);
    const name = oneLine(`${policies[0]?.name ?? ''}: ${String(claims['sub'])}`, 100);
    const by = { kind: 'key' as const, keyId: key.id, keyName: name };
    const end = await store.once({ tenantId, by, operation: call.operation }, async (within, record) => {
      if (!(await within.useToken(digest, expiresAt))) return false;
      await within.addKey({ id: key.id, tenant_id: tenantId, hash: hashApiKey(key), name, scopes, expires_at });
      await within.notePolicyUse(policies.map(({ id }) => id));
      await record({ api_key_id: key.id, ...provenance(claims) });
      return true;
    });
    if (end.kind !== 'done' || !end.answer) {
      return refused(
        401,
        'The token was exchanged before. Request another one from the issuer: each is good for one key.',
      );
    }
    const reply = { key: key.text, tenant_id: tenantId, scopes, expires_at: expires_at.toISOString() };
    return { kind: 'key', key: exchangedKey.parse(reply) };
  };
}
export type ExchangeToken = ReturnType<typeof createTokenExchange>;

/** The claims that say where a token comes from, for the audit log and for whoever has to write a policy. */
const telling = [
  'sub',
  'repository_id',
  'repository_owner_id',
  'ref',
  'environment',
  'workflow_ref',
  'run_id',
  'actor',
];

const provenance = (claims: Claims): Record<string, string> =>
  Object.fromEntries(
    telling.flatMap((name) => {
      const value = claims[name];
      return typeof value === 'string' ? [[name, oneLine(value, 200)]] : [];
    }),
  );

const noPolicy = (claims: Claims): string => {
  const audience = oneLine(String(claims['aud']), 200);
  const facts = Object.entries(provenance(claims)).map(([name, value]) => `${name} ${value}`);
  return `No trust policy matches this token (audience ${audience}, ${facts.join(', ')}). Add one with these claims, or correct the audience.`;
};

const oneLine = (text: string, length: number): string => text.replace(/\p{Cc}/gu, ' ').slice(0, length);
