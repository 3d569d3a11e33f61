import type { Configuration } from '../configuration.ts';
import { tokenHeader } from '../auth/guard.ts';
import { logFailure } from '../storage/poll.ts';
import type { RunStore } from '../runs/store.ts';
import { StartupError } from '../startup-error.ts';
import { webhookDeliverer, type Deliverer, type DelivererDependencies } from './deliverer.ts';
import type { Deliveries } from './deliveries.ts';
import type { Resolve } from './send.ts';
import { webhookSettings, type WebhookSettings } from './settings.ts';
import { onceAtATime, resolveByMachine } from './send.ts';
import type { Logger } from '../../../kit/logger.ts';

export interface WebhookOptions {
  /** Whether webhooks may go to private networks; not by default. */
  privateNetworks?: boolean | undefined;
  /** Resolves host names; the machine's resolver by default. */
  resolve?: Resolve | undefined;
  answerWithinMs?: number | undefined;
}

/** The webhook settings of configuration file and environment. @throws StartupError with every problem and its line. */
export function resolveWebhookSettings(
  { file, invalid }: Pick<Configuration, 'file' | 'invalid'>,
  { privateNetworks = false }: WebhookOptions = {},
): WebhookSettings {
  const read = webhookSettings(file, process.env, privateNetworks);
  if (read.ok) return read.settings;
  const lines = read.problems.flatMap(({ path, message }) => invalid(path, message).lines);
  throw new StartupError('config-invalid', lines);
}

export type WebhookDelivery = Pick<Deliverer, 'begin' | 'end'>;

type DeliveringDependencies = Pick<DelivererDependencies, 'settings' | 'fetch' | 'clock' | 'log' | 'deliveries'> & {
  runStore: RunStore;
  options: WebhookOptions | undefined;
  /** The token that the server's own routes require. */
  token: string | undefined;
};

/** Starts to deliver webhooks of ended runs; if webhooks are disabled, sends none. */
export function deliverWebhooks({
  deliveries,
  runStore,
  settings,
  options,
  token,
  ...rest
}: DeliveringDependencies): WebhookDelivery {
  if (settings.disabled) return createDisabledDelivery(deliveries, rest.log);
  const deliverer = webhookDeliverer({
    ...rest,
    deliveries,
    settings,
    resolve: onceAtATime(options?.resolve ?? resolveByMachine),
    answerWithinMs: options?.answerWithinMs,
    ownHeaders: token === undefined ? {} : { [tokenHeader]: token },
    chance: Math.random,
  });
  runStore.sendWebhooks(deliverer);
  deliveries.onRetry = () => deliverer.ring();
  return deliverer;
}

/** Also deletes webhooks of a previous revision, which would be outdated if webhooks are enabled later. */
function createDisabledDelivery(deliveries: Deliveries, log: Logger): WebhookDelivery {
  let deleting = Promise.resolve();
  const deleteLeft = async (): Promise<void> => {
    const left = await deliveries.deleteAll();
    if (left > 0) log.warn(`Dropped ${left} undelivered webhooks: http.disable_webhooks is set.`);
  };
  return {
    begin() {
      deleting = deleteLeft().catch(logFailure(log, 'Undelivered webhooks could not be dropped'));
    },
    end: () => deleting,
  };
}
