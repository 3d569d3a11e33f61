import * as z from 'zod';
import { lineOfText } from './api-key.ts';
import { apiKeyScopes } from './api-key-scopes.ts';

/** GitHub's issuer of the tokens of workflow runs. */
export const githubIssuer = 'https://token.actions.githubusercontent.com';

const claimText = z.string().min(1).max(500);

/** What a claim has to be: this text, one of these, or a pattern in which `*` is one or more characters but `/` and `:`. */
export const claimRule = z.union([
  claimText,
  z.array(claimText).min(1).max(20),
  z.strictObject({
    like: claimText
      .regex(/[^*]/, 'must have more than wildcards')
      .refine((like) => like.split('*').length <= 9, 'must have at most 8 wildcards'),
  }),
]);
export type ClaimRule = z.infer<typeof claimRule>;

/** The body of POST /v1/trust-policies (our addition): whose tokens are exchanged for keys, and what these may do. */
export const trustPolicyCreateRequest = z.strictObject({
  name: lineOfText(60),
  issuer: z.url().max(500),
  /** Whom the tokens are for; the address of the service when absent. */
  audience: claimText.optional(),
  /** What the claims of a token have to be, all of them. */
  claims: z
    .record(z.string().regex(/^(?!__)[\w.:/-]{1,100}$/, 'must be the name of a claim'), claimRule)
    .refine((claims) => Object.keys(claims).length <= 20, 'must name at most 20 claims'),
  scopes: z.array(z.enum(apiKeyScopes)).min(1),
  /** For how long a key is good; 90 when absent. */
  key_minutes: z.int().min(5).max(360).optional(),
});

/** A trust policy in a response. */
export const trustPolicy = z.looseObject({
  id: z.string(),
  name: z.string(),
  issuer: z.string(),
  audience: z.string(),
  claims: z.record(z.string(), claimRule),
  scopes: z.array(z.enum(apiKeyScopes)),
  key_minutes: z.int(),
  created_at: z.string(),
  last_used_at: z.string().nullable(),
});
export type TrustPolicy = z.infer<typeof trustPolicy>;

/** A page of policies, newest first; a page shorter than `limit` is the last. */
export const trustPoliciesList = z.looseObject({ resources: z.array(trustPolicy), offset: z.int() });
export type TrustPoliciesList = z.infer<typeof trustPoliciesList>;
