import { createHmac, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import type { Clock } from '../../../kit/clock.ts';
import { agentAccessMs } from '../../../contract/control/session.ts';
import type { StoredKey } from '../api-keys/repository.ts';
import type { SessionStore, StoredSession } from './repository.ts';

const tokenSchema = z.tuple([z.string(), z.string(), z.number()]);

interface AccessDependencies {
  /** The secret that signs the tokens. */
  secret: string | Buffer;
  store: Pick<SessionStore, 'findSession' | 'noteSessionUse'> & {
    findKey: (id: string) => Promise<StoredKey | undefined>;
  };
  clock: Pick<Clock, 'now'>;
}

/**
 * Creates and checks tokens with which a page of the console reaches one agent at the agents' own origin, where the
 * session's cookie is not sent. Tokens are signed, not stored. Each request looks up the session, so they end with it.
 */
export function createAgentAccess({ secret, store, clock }: AccessDependencies) {
  const key = createHmac('sha256', secret).update('agent access').digest();
  const sign = (text: string): Buffer => createHmac('sha256', key).update(text).digest();

  /** The hash of the session in a valid token for this agent. */
  function verify(token: string, deploymentId: string, at: number): Buffer | undefined {
    const [text = '', signature = ''] = token.split('.');
    const [received, expected] = [Buffer.from(signature, 'base64url'), sign(text)];
    if (received.length !== expected.length || !timingSafeEqual(received, expected)) return undefined;
    const [hash, deployment, expiresAt] = tokenSchema.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
    return deployment === deploymentId && at < expiresAt ? Buffer.from(hash, 'base64url') : undefined;
  }

  return {
    issue({ hash }: Pick<StoredSession, 'hash'>, deploymentId: string): { token: string; expires_at: string } {
      const expiresAt = clock.now() + agentAccessMs;
      const text = Buffer.from(JSON.stringify([hash.toString('base64url'), deploymentId, expiresAt])).toString(
        'base64url',
      );
      return { token: `${text}.${sign(text).toString('base64url')}`, expires_at: new Date(expiresAt).toISOString() };
    },
    /** The key of a valid token's session. `at`: when the request began, because a stream may outlive its token. */
    async admit(
      token: string,
      { deploymentId, at, isInBackground }: { deploymentId: string; at: number; isInBackground: boolean },
    ): Promise<StoredKey | undefined> {
      const hash = verify(token, deploymentId, at);
      const session = hash && (await store.findSession([hash]));
      const key = session && (await store.findKey(session.key_id));
      if (key && !isInBackground) await store.noteSessionUse(session);
      return key;
    },
  };
}
