import { exchangedKey, tokenExchangeRequest } from '../../../contract/control/token-exchange.ts';
import { trustPoliciesList, trustPolicy, trustPolicyCreateRequest } from '../../../contract/control/trust-policy.ts';
import { pageQuery } from '../../../contract/control/pages.ts';
import { operationsOf } from '../api/define-operation.ts';
import { idempotencyKey } from '../api/parameters.ts';
import { readJson } from '../api/request.ts';

const define = operationsOf('Keys', { scope: 'admin' });

/** Keys for the tokens of others, such as GitHub's for workflow runs, and the policies that say for whose. */
export const trustOperations = [
  define.post('/v1/auth/oidc', 'exchange_token', {
    summary: 'Exchange a token for a key',
    description:
      'For an OpenID Connect token whose audience is this service. The key is returned only here, and expires by itself. Each token is good for one key.',
    body: { schema: tokenExchangeRequest, required: true },
    responses: { 201: { description: 'The key.', schema: exchangedKey } },
    errors: [401, 403, 413, 415, 422, 502],
    open: true,
    handle: async (c) => {
      const { exchangeToken } = c.var.settings;
      if (!exchangeToken) return c.notFound();
      const result = await exchangeToken(await readJson(c));
      return result.kind === 'key' ? c.json(result.key, 201) : c.json({ detail: result.detail }, result.status);
    },
  }),
  define.get('/v1/trust-policies', 'list_trust_policies', {
    summary: 'List the trust policies',
    description: 'Whose tokens are exchanged for keys of the tenant, and when each policy was last used.',
    query: pageQuery,
    responses: { 200: { description: 'A page of policies, newest first.', schema: trustPoliciesList } },
    call: (service, { query }) => service.listTrustPolicies(query),
  }),
  define.post('/v1/trust-policies', 'create_trust_policy', {
    summary: 'Create a trust policy',
    description:
      'Tokens of the issuer for the audience, whose claims are all as named, are exchanged for keys with the scopes. `{"like": "refs/heads/release-*"}` is a pattern, in which `*` is any text without `/` and `:`; all other text is compared as it is. A policy for GitHub names the repository and its owner by id.',
    headers: [idempotencyKey],
    body: { schema: trustPolicyCreateRequest, required: true },
    responses: { 201: { description: 'The policy.', schema: trustPolicy } },
    errors: [400, 409],
    call: (service, { body, conditions }) => service.createTrustPolicy(body, conditions),
  }),
  define.delete('/v1/trust-policies/:trust_policy_id', 'delete_trust_policy', {
    summary: 'Delete a trust policy',
    description: 'No token is exchanged by it from then on. Keys that exist stay valid until they expire.',
    headers: [idempotencyKey],
    responses: { 204: { description: 'It is gone.' } },
    errors: [400],
    call: (service, { param, conditions }) => service.deleteTrustPolicy(param('trust_policy_id'), conditions),
  }),
];
