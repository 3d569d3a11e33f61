import * as z from 'zod';
import {
  trustPolicy,
  trustPolicyCreateRequest,
  type TrustPoliciesList,
  type TrustPolicy,
} from '../../../contract/control/trust-policy.ts';
import { pageQuery } from '../../../contract/control/pages.ts';
import type { WriteOptions } from '../../../contract/control/service.ts';
import { isObject } from '../../../kit/json-object.ts';
import { Call, createIdempotentWrite } from '../service/call.ts';
import type { ServiceDependencies } from '../service/settings.ts';
import { accepted, againstRules } from '../validation/refusal.ts';
import { claimRulesProblem } from './match-policies.ts';
import type { StoredPolicy } from './repository.ts';

/** A tenant's trust policies: whose tokens are exchanged for keys of it. */
export function trustOperations(settings: ServiceDependencies) {
  const { store, tenantId, baseUrl, oidcIssuers = [] } = settings;
  const once = createIdempotentWrite(settings);
  return {
    async listTrustPolicies(query: unknown): Promise<TrustPoliciesList> {
      const call = new Call('list trust policies', 'GET', '/v1/trust-policies');
      const { limit = 20, offset = 0 } = call.query(pageQuery, query);
      const policies = await store.listTrustPolicies(tenantId, { limit, offset });
      return { resources: policies.map(toResponse), offset: offset + policies.length };
    },

    async createTrustPolicy(body: unknown, { idempotencyKey }: WriteOptions = {}): Promise<TrustPolicy> {
      const call = new Call('create trust policy', 'POST', '/v1/trust-policies');
      const request = call.body(trustPolicyCreateRequest, body, { isStrict: true });
      const { name, issuer, audience = baseUrl(), claims, scopes, key_minutes = 90 } = request;
      const problems = [
        oidcIssuers.includes(issuer) ? undefined : foreignIssuer(issuer, oidcIssuers),
        claimRulesProblem({ issuer, claims }),
        // The schema reads objects without it, and a rule that is not kept would trust more than was written.
        isObject(body) && isObject(body['claims']) && Object.hasOwn(body['claims'], '__proto__')
          ? 'Leave out the claim __proto__: no issuer has one.'
          : undefined,
      ].filter((problem) => problem !== undefined);
      call.value(problems.length > 0 ? againstRules(problems) : accepted(true));
      return once(call, { idempotencyKey, body: request, shape: trustPolicy }, async (within, record) => {
        const { length } = await within.listTrustPolicies(tenantId, { limit: maxPolicies, offset: 0 });
        if (length >= maxPolicies) throw call.refusal(tooManyPolicies);
        const terms = { name, issuer, audience, claims: JSON.stringify(claims), scopes, key_minutes };
        const policy = await within.addTrustPolicy({ ...terms, tenant_id: tenantId });
        await record({ trust_policy_id: policy.id, trust_policy_name: name });
        return toResponse(policy);
      });
    },

    /** DELETE /v1/trust-policies/{id}: keys that were made by it stay valid until they expire. */
    async deleteTrustPolicy(id: string, { idempotencyKey }: WriteOptions = {}): Promise<void> {
      const call = new Call('delete trust policy', 'DELETE', `/v1/trust-policies/${id}`);
      call.id('trust_policy_id', id);
      await once(call, { idempotencyKey, shape: z.null() }, async (within, record) => {
        const name = call.found('Trust policy', id, await within.deleteTrustPolicy(tenantId, id));
        await record({ trust_policy_id: id, trust_policy_name: name });
        return null;
      });
    },
  };
}

/** How many policies a tenant may have. */
const maxPolicies = 100;
const tooManyPolicies = {
  status: 409,
  detail: `There are ${maxPolicies} trust policies, which is the most. Delete one first.`,
} as const;

const foreignIssuer = (issuer: string, issuers: readonly string[]): string =>
  `This service accepts no tokens of ${issuer}, but of ${issuers.join(' and ')}. Start it with --oidc-issuer ${issuer}.`;

function toResponse({ created_at, last_used_at, ...policy }: StoredPolicy): TrustPolicy {
  return { ...policy, created_at: created_at.toISOString(), last_used_at: last_used_at?.toISOString() ?? null };
}
