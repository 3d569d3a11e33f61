import type { Clock } from '../../clock.ts';
import { isDatabaseUnavailable } from '../../postgres/unavailable.ts';
import type { Configuration } from '../configuration.ts';
import { TOKEN_HEADER } from '../routes/guard.ts';
import type { RunStore } from '../runs/store.ts';
import { StartupError } from '../startup-error.ts';
import type { Storage } from '../storage/open.ts';
import { Deliverer } from './deliverer.ts';
import { Deliveries } from './deliveries.ts';
import type { Resolve } from './send.ts';
import { webhookSettings } from './settings.ts';
import type { WebhookSettings } from './settings.ts';
import { onceAtATime, resolveByMachine } from './webhooks.ts';

/** What whoever starts the server says of webhooks. */
export interface WebhookOptions {
  /** Webhooks may go into private networks; not when absent. */
  privateNetworks?: boolean | undefined;
  /** What names lead to; the machine's own resolver when absent. */
  resolve?: Resolve | undefined;
  /** How long (ms) a try may take; 15,000 when absent. */
  answerWithinMs?: number | undefined;
}

/**
 * What the graph configuration file and the environment make of webhooks.
 *
 * @throws StartupError with every problem and its line.
 */
export function settledWebhooks(
  { file, invalid }: Pick<Configuration, 'file' | 'invalid'>,
  { privateNetworks = false }: WebhookOptions = {},
): WebhookSettings {
  const read = webhookSettings(file, process.env, privateNetworks);
  if (read.ok) return read.settings;
  const lines = read.problems.flatMap(({ path, message }) => invalid(path, message).lines);
  throw new StartupError('config-invalid', lines);
}

/** What delivers webhooks, from its beginning to its end. */
export interface Delivering {
  begin(): void;
  /** @param withinMs how long what is under way may take. */
  end(withinMs: number): Promise<void>;
}

/** What the delivery of webhooks is put together from. */
export interface DeliveringParts {
  storage: Storage;
  runStore: RunStore;
  settings: WebhookSettings;
  options: WebhookOptions | undefined;
  /** The server's own routes, and what they ask of whoever calls. */
  fetch: (request: Request) => Response | Promise<Response>;
  token: string | undefined;
  clock: Clock;
  log: (line: string) => void;
}

/** The delivery of the webhooks of runs that end from now on; where webhooks are disabled, one that sends none. */
export function deliverWebhooks({ storage, runStore, settings, options, token, ...rest }: DeliveringParts): Delivering {
  const deliveries = new Deliveries(storage);
  if (settings.disabled) return sendingNone(deliveries, rest.log);
  const deliverer = new Deliverer({
    ...rest,
    deliveries,
    settings,
    resolve: onceAtATime(options?.resolve ?? resolveByMachine),
    answerWithinMs: options?.answerWithinMs,
    ownHeaders: token === undefined ? {} : { [TOKEN_HEADER]: token },
    chance: Math.random,
  });
  runStore.sendWebhooks(deliverer);
  return deliverer;
}

/** What a former revision left is not sent either: it would come out of the blue once webhooks are sent again. */
function sendingNone(deliveries: Deliveries, log: (line: string) => void): Delivering {
  let forgetting = Promise.resolve();
  const forget = async (): Promise<void> => {
    const left = await deliveries.forgetAll();
    if (left > 0) log(`${left} webhooks that were left are given up: http.disable_webhooks is set.`);
  };
  return {
    begin() {
      forgetting = forget().catch((error: unknown) => {
        if (!isDatabaseUnavailable(error)) log(`Webhooks that were left could not be given up: ${String(error)}`);
      });
    },
    end: () => forgetting,
  };
}
