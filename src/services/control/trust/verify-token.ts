import { createHash } from 'node:crypto';
import { createRemoteJWKSet, customFetch, decodeJwt, errors, jwtVerify, type JWTVerifyGetKey } from 'jose';
import * as z from 'zod';
import type { Clock } from '../../../kit/clock.ts';
import { messageOf } from '../../../kit/errors.ts';
import { readAddress } from '../../../kit/base-address.ts';
import { fromJson } from '../../../kit/json-text.ts';
import { readBounded } from '../../../kit/read-bounded.ts';
import { asOneLine, withoutTrailingSlashes } from '../../../kit/plain-text.ts';
import type { Claims } from './match-policies.ts';

/** A verified token, or why it is refused. */
export type VerifiedToken =
  | { ok: true; claims: Claims; /** Of its signed content. */ digest: Buffer; expiresAt: Date }
  | { ok: false; status: 401 | 403 | 502; detail: string };

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
const maxAnswerBytes = 256 * 1024;
/** The longest time for which a token may be good (ms): that it was used is remembered as long. */
const maxLifetimeMs = 24 * 60 * 60_000;

const configuration = z.object({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });

/** Creates the check of OpenID Connect tokens. The keys of an issuer are read at its first token, and kept. */
export function createTokenVerifier({ issuers, clock }: VerifierDependencies) {
  const keySets = new Map<string, Promise<JWTVerifyGetKey>>();
  const pausedUntil = new Map<string, number>();

  function keysOf(issuer: string): Promise<JWTVerifyGetKey> {
    const keys = keySets.get(issuer) ?? discoverKeys(issuer, (address) => readFrom(issuer, address));
    keySets.set(issuer, keys);
    keys.catch(() => keySets.delete(issuer));
    return keys;
  }

  /** Reads JSON of an issuer. Whoever sends tokens can't make this service ask a failing one again and again. */
  async function readFrom(issuer: string, address: string): Promise<string> {
    if (clock.now() < (pausedUntil.get(issuer) ?? 0)) throw new IssuerError(issuer, 'it failed some seconds ago');
    try {
      return await readJsonText(address);
    } catch (error) {
      pausedUntil.set(issuer, clock.now() + pauseMs);
      throw new IssuerError(issuer, messageOf(error));
    }
  }

  return async function verify(token: string): Promise<VerifiedToken> {
    const refused = (detail: string): VerifiedToken => ({ ok: false, status: 401, detail });
    const issuer = issuerIn(token);
    if (issuer === undefined) return refused('The token is no JSON Web Token. Send the one that the issuer returned.');
    if (!issuers.includes(issuer)) {
      const named = asOneLine(issuer, 200);
      const detail = `Tokens of the issuer ${named} are not accepted. The operator names issuers with --oidc-issuer when the service starts.`;
      return { ok: false, status: 403, detail };
    }
    try {
      const { payload } = await jwtVerify(token, await keysOf(issuer), {
        issuer,
        algorithms,
        clockTolerance: skewSeconds,
        currentDate: new Date(clock.now()),
        maxTokenAge: maxAge,
        requiredClaims: ['sub', 'aud', 'exp', 'iat'],
      });
      const expiresAt = (payload.exp ?? 0) * 1_000;
      const audiences: unknown[] = [payload.aud].flat();
      const isOrdinary = expiresAt < clock.now() + maxLifetimeMs && audiences.every((each) => typeof each === 'string');
      if (!isOrdinary) return refused(invalidToken);
      const [, signedContent = ''] = token.split('.');
      const digest = createHash('sha256').update(signedContent).digest();
      return { ok: true, claims: payload, digest, expiresAt: new Date(expiresAt) };
    } catch (error) {
      if (error instanceof errors.JWTExpired) {
        return refused('The token has expired. Request another one from the issuer, right before it is sent.');
      }
      if (error instanceof IssuerError) return { ok: false, status: 502, detail: error.message };
      // A key that can't be used for the token's algorithm is a TypeError.
      if (error instanceof errors.JOSEError || error instanceof TypeError) return refused(invalidToken);
      throw error;
    }
  };
}
export type VerifyToken = ReturnType<typeof createTokenVerifier>;

function issuerIn(token: string): string | undefined {
  try {
    const { iss }: { iss?: unknown } = decodeJwt(token);
    return typeof iss === 'string' ? iss : undefined;
  } catch {
    return undefined;
  }
}

const invalidToken = 'The token is not valid. Request another one from the issuer.';

/** An issuer whose keys can't be read now. */
class IssuerError extends Error {
  override readonly name = 'IssuerError';

  constructor(issuer: string, why: string) {
    super(`The keys of ${issuer} can't be read (${why}). Try again in some seconds.`);
  }
}

/** Reads where an issuer publishes its keys (OpenID Connect Discovery). They are read again when an unknown one is used. */
async function discoverKeys(issuer: string, read: (address: string) => Promise<string>): Promise<JWTVerifyGetKey> {
  const address = `${withoutTrailingSlashes(issuer)}/.well-known/openid-configuration`;
  const found = configuration.safeParse(fromJson(await read(address)));
  if (!found.success || found.data.issuer !== issuer) {
    throw new IssuerError(issuer, 'its configuration is of another issuer');
  }
  const { jwks_uri: keys } = found.data;
  const checked = readAddress(keys);
  if (!checked.ok) throw new IssuerError(issuer, `its keys are at ${checked.shown}: ${checked.problem}`);
  return createRemoteJWKSet(new URL(keys), { [customFetch]: async (url: string) => new Response(await read(url)) });
}

/** Reads a bounded JSON text, without following it elsewhere. */
async function readJsonText(address: string): Promise<string> {
  const response = await fetch(address, { redirect: 'error', signal: AbortSignal.timeout(requestMs) });
  const bytes = await readBounded(response.body ?? [], maxAnswerBytes);
  if (!response.ok || !bytes) throw new Error(`it answers ${response.status}${bytes ? '' : ' with too much'}`);
  const text = new TextDecoder().decode(bytes);
  if (fromJson(text) === undefined) throw new Error('its answer is no JSON');
  return text;
}
