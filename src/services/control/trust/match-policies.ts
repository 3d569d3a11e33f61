import { apiKeyScopes, type ApiKeyScope } from '../../../contract/control/api-key-scopes.ts';
import { githubIssuer, type ClaimRule } from '../../../contract/control/trust-policy.ts';

/** The claims of a verified token. */
export type Claims = Readonly<Record<string, unknown>>;

/** What a policy demands and gives. */
export interface TrustPolicyRules {
  issuer: string;
  audience: string;
  claims: Readonly<Record<string, ClaimRule>>;
  scopes: readonly ApiKeyScope[];
  key_minutes: number;
}

/** Whether a verified token satisfies a policy: issuer, audience and every claim that it names. */
export function satisfies(claims: Claims, { issuer, audience, claims: rules }: TrustPolicyRules): boolean {
  const audiences: unknown[] = Array.isArray(claims['aud']) ? claims['aud'] : [claims['aud']];
  return (
    claims['iss'] === issuer &&
    audiences.includes(audience) &&
    Object.entries(rules).every(([name, rule]) => Object.hasOwn(claims, name) && fits(claims[name], rule))
  );
}

/** Compares strings, booleans and integers only: objects and lists never match. */
function fits(value: unknown, rule: ClaimRule): boolean {
  const isPlain = typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value);
  if (!isPlain) return false;
  const text = String(value);
  if (typeof rule === 'string') return text === rule;
  return Array.isArray(rule) ? rule.includes(text) : isLike(text, rule.like);
}

/** The longest text that is compared with a pattern: the work grows with its length and that of the pattern. */
const maxMatchedLength = 1_000;

/**
 * Whether a text fits a pattern, in which `*` matches one or more characters other than `/` and `:`, so that it reaches
 * no other owner and no other ref. Follows all positions at once: backtracking, as in a regular expression, can take
 * exponential time.
 */
export function isLike(text: string, like: string): boolean {
  if (text.length > maxMatchedLength) return false;
  const [first = '', ...others] = like.split(/\*+/);
  let ends = text.startsWith(first) ? new Set([first.length]) : new Set<number>();
  for (const part of others) {
    const next = new Set<number>();
    let isReached = false;
    for (let at = 1; at <= text.length; at += 1) {
      const isSeparator = text[at - 1] === '/' || text[at - 1] === ':';
      isReached = !isSeparator && (isReached || ends.has(at - 1));
      if (isReached && text.startsWith(part, at)) next.add(at + part.length);
    }
    ends = next;
  }
  return ends.has(text.length);
}

/** What all matching policies give together: every scope of any of them, for the shortest time. */
export function grantOf(policies: readonly TrustPolicyRules[]): { scopes: ApiKeyScope[]; minutes: number } {
  return {
    scopes: apiKeyScopes.filter((scope) => policies.some(({ scopes }) => scopes.includes(scope))),
    minutes: Math.min(...policies.map(({ key_minutes }) => key_minutes)),
  };
}

/** Ids of a repository and its owner: another repository may have a name later, but never an id. */
const githubIdClaims = ['repository_id', 'repository_owner_id'] as const;

const isExact = (rule: ClaimRule | undefined): rule is string | string[] =>
  typeof rule === 'string' || Array.isArray(rule);

/** Why claims are too weak for a policy; undefined where they are not. */
export function claimRulesProblem({ issuer, claims }: Pick<TrustPolicyRules, 'issuer' | 'claims'>): string | undefined {
  if (issuer !== githubIssuer && !issuer.startsWith(`${githubIssuer}/`)) {
    const isBound = Object.entries(claims).some(
      ([name, rule]) => (name === 'sub' || name.endsWith('_id')) && isExact(rule),
    );
    return isBound
      ? undefined
      : 'Name the subject of the tokens in claims.sub, or their project by a claim such as project_id, and without a pattern: else tokens of others would be accepted.';
  }
  const isId = (rule: ClaimRule | undefined): boolean => isExact(rule) && [rule].flat().every((id) => /^\d+$/.test(id));
  return githubIdClaims.every((name) => isId(claims[name]))
    ? undefined
    : 'Name the repository and its owner by their ids in claims.repository_id and claims.repository_owner_id: a name can pass to another repository. `gh api repos/OWNER/NAME --jq .id,.owner.id` prints them.';
}
