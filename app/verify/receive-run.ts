import type { Logger } from '../../src/logger.ts';
import { isUuid } from '../../src/contract/uuid.ts';
import { webhookReceived } from '../../src/contract/agent/webhook.ts';
import type { Clock } from '../../src/clock.ts';
import type { WorkStore } from '../reconcile/store.ts';
import { isTokenOf } from './one-time-token.ts';
import { tokensIn } from './progress.ts';

/** What receiving needs. */
export interface ReceiverOptions {
  store: Pick<WorkStore, 'intent' | 'wake'>;
  clock: Clock;
  log: Logger;
}

/** An agent's webhook about a finished run, as received at `/runs/{intent}?token=`. */
export interface RunWebhook {
  intentId: string;
  token: string | undefined;
  /** Parses its body as JSON, whatever its content type; undefined if it is not JSON. */
  body: () => unknown;
}

/** How long a token that was used is known as such (ms), and how many are. */
const rememberedMs = 10 * 60_000;
const mostRemembered = 10_000;

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
    if (used.size > mostRemembered && oldest !== undefined) used.delete(oldest);
  };

  return async function receiveRun({ intentId, token, body }: RunWebhook): Promise<{ status: 204 | 401 | 404 }> {
    const intent = isUuid(intentId) ? await store.intent(intentId.toLowerCase()) : undefined;
    if (!intent) return { status: 404 };
    const { awaited, spent } = tokensIn(intent.smoke);
    if (token === undefined) return { status: 401 };
    if (awaited !== undefined && isTokenOf(token, awaited)) {
      if (isUsed(awaited)) return { status: 204 };
      await store.wake(intent.deploymentId);
      use(awaited);
      log.info(
        {
          intent: intent.id,
          deployment: intent.deploymentId,
        },
        `an agent reported the end of a run: ${noteOf(body())}`,
      );
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
