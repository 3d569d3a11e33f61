import type { Clock } from '../../clock.ts';
import { isDatabaseUnavailable } from '../../postgres/unavailable.ts';
import type { Configuration } from '../configuration.ts';
import { tokenHeader } from '../api/guard.ts';
import type { RunStore } from '../runs/store.ts';
import { StartupError } from '../startup-error.ts';
import type { Storage } from '../storage/open.ts';
import { Deliverer } from './deliverer.ts';
import { Deliveries } from './deliveries.ts';
import type { Resolve } from './send.ts';
import { webhookSettings } from './settings.ts';
import type { WebhookSettings } from './settings.ts';
import { onceAtATime, resolveByMachine } from './webhooks.ts';
import type { Logger } from '../../logger.ts';

/** The webhook options of the server's start. */
export interface WebhookOptions {
  /** Whether webhooks may go to private networks; not by default. */
  privateNetworks?: boolean | undefined;
  /** Resolves host names; the machine's resolver by default. */
  resolve?: Resolve | undefined;
  /** The timeout (ms) of an attempt; 15,000 by default. */
  answerWithinMs?: number | undefined;
}

/**
 * Combines the webhook settings of the configuration file and the environment.
 *
 * @throws StartupError with every problem and its line.
 */
export function resolveWebhookSettings(
  { file, invalid }: Pick<Configuration, 'file' | 'invalid'>,
  { privateNetworks = false }: WebhookOptions = {},
): WebhookSettings {
  const read = webhookSettings(file, process.env, privateNetworks);
  if (read.ok) return read.settings;
  const lines = read.problems.flatMap(({ path, message }) => invalid(path, message).lines);
  throw new StartupError('config-invalid', lines);
}

/** The webhook delivery of a server. */
export interface Delivering {
  begin(): void;
  /** @param withinMs how long running attempts may take. */
  end(withinMs: number): Promise<void>;
}

/** The dependencies of the webhook delivery. */
export interface DeliveringParts {
  storage: Storage;
  runStore: RunStore;
  settings: WebhookSettings;
  options: WebhookOptions | undefined;
  /** The server's own routes, and the token that they require. */
  fetch: (request: Request) => Response | Promise<Response>;
  token: string | undefined;
  clock: Clock;
  log: Logger;
}

/** Starts to deliver webhooks of ended runs; if webhooks are disabled, sends none. */
export function deliverWebhooks({ storage, runStore, settings, options, token, ...rest }: DeliveringParts): Delivering {
  const deliveries = new Deliveries(storage);
  if (settings.disabled) return sendingNone(deliveries, rest.log);
  const deliverer = new Deliverer({
    ...rest,
    deliveries,
    settings,
    resolve: onceAtATime(options?.resolve ?? resolveByMachine),
    answerWithinMs: options?.answerWithinMs,
    ownHeaders: token === undefined ? {} : { [tokenHeader]: token },
    chance: Math.random,
  });
  runStore.sendWebhooks(deliverer);
  return deliverer;
}

/** Also deletes webhooks of a former revision, which would be outdated if webhooks are enabled later. */
function sendingNone(deliveries: Deliveries, log: Logger): Delivering {
  let forgetting = Promise.resolve();
  const forget = async (): Promise<void> => {
    const left = await deliveries.forgetAll();
    if (left > 0) log.warn(`Dropped ${left} undelivered webhooks: http.disable_webhooks is set.`);
  };
  return {
    begin() {
      forgetting = forget().catch((error: unknown) => {
        if (!isDatabaseUnavailable(error)) log.error(`Undelivered webhooks could not be dropped: ${String(error)}`);
      });
    },
    end: () => forgetting,
  };
}
