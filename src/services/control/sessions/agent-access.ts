import { createHmac, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import type { Clock } from '../../../kit/clock.ts';
import { agentAccessMs } from '../../../contract/control/session.ts';
import type { StoredKey } from '../api-keys/repository.ts';
import type { SessionStore, StoredSession } from './repository.ts';

const content = z.tuple([z.string(), z.string(), z.number()]);

interface AccessDependencies {
  /** The secret that signs the tokens. */
  secret: string | Buffer;
  store: Pick<SessionStore, 'findSession' | 'noteSessionUse'> & {
    findKey: (id: string) => Promise<StoredKey | undefined>;
  };
  clock: Pick<Clock, 'now'>;
}

/**
 * Tokens with which a page of the console reaches one agent at the agents' own origin, where its session does not exist.
 * They are signed and not stored; each request looks the session up, so that a token ends with it.
 */
export function createAgentAccess({ secret, store, clock }: AccessDependencies) {
  const key = createHmac('sha256', secret).update('agent access').digest();
  const sign = (text: string): Buffer => createHmac('sha256', key).update(text).digest();

  /** The hash of the session in a valid token for this agent. */
  function read(token: string, deploymentId: string, at: number): Buffer | undefined {
    const [text = '', signature = ''] = token.split('.');
    const [given, right] = [Buffer.from(signature, 'base64url'), sign(text)];
    if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined;
    const [hash, deployment, expiresAt] = content.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
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
    /** The key whose session has got a token, as long as it lasts. `at`: the begin, for a stream outlives its token. */
    async admit(
      token: string,
      { deploymentId, at, isInBackground }: { deploymentId: string; at: number; isInBackground: boolean },
    ): Promise<StoredKey | undefined> {
      const hash = read(token, deploymentId, at);
      const session = hash && (await store.findSession([hash]));
      const key = session && (await store.findKey(session.key_id));
      if (key && !isInBackground) await store.noteSessionUse(session);
      return key;
    },
  };
}
