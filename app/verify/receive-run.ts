import type { Logger } from '../../src/kit/logger.ts';
import { isUuid } from '../../src/kit/uuid.ts';
import { webhookReceived } from '../../src/contract/agent/webhook.ts';
import type { Clock } from '../../src/kit/clock.ts';
import type { IntentFields } from '../reconcile/intent.ts';
import type { WorkStore } from '../reconcile/store.ts';
import type { RunWebhook } from '../server/run-route.ts';
import { readProgress, tokensOf } from './progress.ts';
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A webhook token for one run, of 32 random bytes; only its hash is stored. */
export function makeToken(): { token: string; hash: string } {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: hashOf(token) };
}

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/** Whether a token matches this hash, compared in constant time. */
function isTokenOf(token: string, hash: string): boolean {
  const [one, other] = [Buffer.from(hashOf(token)), Buffer.from(hash)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** More than are ever in use: older ones belong to runs that another process took over. */
const most = 1_000;

/** Unused tokens that this process made, by purpose. No other process has them. */
export function unusedTokens() {
  const tokens = new Map<string, string>();
  return {
    keep(what: string, token: string): void {
      tokens.set(what, token);
      const [oldest] = tokens.keys();
      if (tokens.size > most && oldest !== undefined) tokens.delete(oldest);
    },
    has: (what: string): boolean => tokens.has(what),
    /** Hands a token out, once. */
    take(what: string): string | undefined {
      const token = tokens.get(what);
      tokens.delete(what);
      return token;
    },
  };
}

interface ReceiverOptions {
  store: Pick<WorkStore, 'intent' | 'wake'>;
  clock: Clock;
  log: Logger;
}

/** How long a token that was used is known as such (ms), and how many are. */
const rememberedMs = 10 * 60_000;
const maxRemembered = 10_000;

/**
 * Creates the receiver of webhooks about runs. A valid token notifies the deployment's queue, once. The run's status is
 * read from the agent, so the payload is only logged in short: it contains the token.
 *
 * 204: accepted, now or before. 401: not a token of this intent. 404: no such intent. Errors of the store are rethrown.
 */
export function createReceiver({ store, clock, log }: ReceiverOptions) {
  const used = new Map<string, number>();

  const isUsed = (hash: string): boolean => (used.get(hash) ?? -Infinity) > clock.now() - rememberedMs;
  const use = (hash: string): void => {
    used.delete(hash);
    used.set(hash, clock.now());
    const [oldest] = used.keys();
    if (used.size > maxRemembered && oldest !== undefined) used.delete(oldest);
  };

  return async function receiveRun({ intentId, token, body }: RunWebhook): Promise<{ status: 204 | 401 | 404 }> {
    const intent: IntentFields | undefined = isUuid(intentId) ? await store.intent(intentId.toLowerCase()) : undefined;
    if (!intent) return { status: 404 };
    const { currentAttempts, spent } = readProgress(intent.smoke);
    const awaited = tokensOf(currentAttempts).find((hash) => isTokenOf(token, hash));
    if (awaited !== undefined) {
      if (isUsed(awaited)) return { status: 204 };
      await store.wake(intent.deploymentId);
      use(awaited);
      const about = { intent: intent.id, deployment: intent.deploymentId };
      log.info(about, `an agent reported the end of a run: ${noteOf(body())}`);
      return { status: 204 };
    }
    return { status: spent.some((hash) => isTokenOf(token, hash)) ? 204 : 401 };
  };
}

/** Summarizes a payload without quoting it. */
function noteOf(body: unknown): string {
  const read = webhookReceived.safeParse(body);
  if (!read.success) return 'in an unknown format';
  const { status, error } = read.data;
  const known = (['success', 'error', 'timeout', 'interrupted'] as const).find((word) => word === status);
  return `${known ?? 'an unknown status'}, ${error == null ? 'no error' : 'with an error'}`;
}
