import { createHash } from 'node:crypto';
import { createRemoteJWKSet, decodeJwt, errors, jwtVerify, type JWTVerifyGetKey } from 'jose';
import * as z from 'zod';
import type { Clock } from '../../../kit/clock.ts';
import { messageOf } from '../../../kit/errors.ts';
import { fromJson } from '../../../kit/json-text.ts';
import { readBounded } from '../../../kit/read-bounded.ts';
import type { Claims } from './match-policies.ts';

/** A verified token, or why it is refused. */
export type VerifiedToken =
  | { ok: true; claims: Claims; /** Of its signed content. */ digest: Buffer; expiresAt: Date }
  | { ok: false; status: 401 | 502; detail: string };

export interface VerifierDependencies {
  /** The issuers whose tokens are accepted at all: nothing is requested from any other address. */
  issuers: readonly string[];
  clock: Pick<Clock, 'now'>;
}

/** Only signatures that an issuer's public keys can check. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'ES256', 'ES384', 'EdDSA'];
/** How far the clocks of issuer and service may be apart (s). */
const skewSeconds = 30;
const maxAge = '1 hour';
/** The timeout of a request to an issuer, and how long nothing is requested again from one that failed (ms). */
const requestMs = 5_000;
const pauseMs = 10_000;
const maxConfigurationBytes = 64 * 1024;

const configuration = z.object({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });

/** Creates the check of OpenID Connect tokens. The keys of an issuer are read at its first token, and kept. */
export function createTokenVerifier({ issuers, clock }: VerifierDependencies) {
  const keySets = new Map<string, Promise<JWTVerifyGetKey>>();

  function keysOf(issuer: string): Promise<JWTVerifyGetKey> {
    const known = keySets.get(issuer);
    if (known) return known;
    const keys = discoverKeys(issuer);
    keySets.set(issuer, keys);
    // Whoever sends tokens can't make this service ask a failing issuer again and again.
    keys.catch(() => setTimeout(() => keySets.delete(issuer), pauseMs).unref());
    return keys;
  }

  return async function verify(token: string): Promise<VerifiedToken> {
    const refused = (detail: string): VerifiedToken => ({ ok: false, status: 401, detail });
    const issuer = issuerIn(token);
    if (issuer === undefined) return refused('The token is no JSON Web Token. Send the one that the issuer returned.');
    if (!issuers.includes(issuer)) {
      return refused(
        'Tokens of this issuer are not accepted. The operator names issuers with --oidc-issuer when the service starts.',
      );
    }
    let keys: JWTVerifyGetKey;
    try {
      keys = await keysOf(issuer);
    } catch (error) {
      return unreadable(issuer, error);
    }
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        algorithms,
        clockTolerance: skewSeconds,
        currentDate: new Date(clock.now()),
        maxTokenAge: maxAge,
        requiredClaims: ['sub', 'aud', 'exp', 'iat'],
      });
      const [, signedContent = ''] = token.split('.');
      const digest = createHash('sha256').update(signedContent).digest();
      return { ok: true, claims: payload, digest, expiresAt: new Date((payload.exp ?? 0) * 1_000) };
    } catch (error) {
      if (error instanceof errors.JWTExpired) {
        return refused('The token has expired. Request another one from the issuer, right before it is sent.');
      }
      if (isFaultOfToken(error)) return refused('The token is not valid. Request another one from the issuer.');
      return unreadable(issuer, error);
    }
  };
}
export type VerifyToken = ReturnType<typeof createTokenVerifier>;

function issuerIn(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

const isFaultOfToken = (error: unknown): boolean =>
  error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid);

const unreadable = (issuer: string, error: unknown): VerifiedToken => ({
  ok: false,
  status: 502,
  detail: `The keys of ${issuer} can't be read (${messageOf(error)}). Try again in some seconds.`,
});

/** Reads where an issuer publishes its keys (OpenID Connect Discovery). They are read again when an unknown one is used. */
async function discoverKeys(issuer: string): Promise<JWTVerifyGetKey> {
  const address = `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`;
  const response = await fetch(address, { redirect: 'error', signal: AbortSignal.timeout(requestMs) });
  const bytes = await readBounded(response.body ?? [], maxConfigurationBytes);
  if (!response.ok || !bytes) throw new Error(`its configuration answers ${response.status}`);
  const read = configuration.safeParse(fromJson(new TextDecoder().decode(bytes)));
  if (!read.success || read.data.issuer !== issuer) throw new Error('its configuration is of another issuer');
  return createRemoteJWKSet(new URL(read.data.jwks_uri), { timeoutDuration: requestMs });
}
