import { lookup } from 'node:dns/promises';
import { unacceptable } from '../refusal.ts';
import { withoutEndDot } from '../../../contract/agent/webhook.ts';
import { parseWebhookTarget } from './parse-target.ts';
import type { Resolve } from './send.ts';
import type { WebhookSettings } from './settings.ts';
import type { Logger } from '../../../kit/logger.ts';

/** Checks the webhook of a run or a cron; throws a Refusal with the reason. */
export type CheckWebhook = (url: string | undefined) => void;

/** Checks webhooks when a run or a cron is accepted. They are checked again when sent. */
export function checkWebhooks({ disabled, rules }: WebhookSettings, log: Logger): CheckWebhook {
  let isReported = !disabled;
  return (url) => {
    if (url === undefined) return;
    const judged = parseWebhookTarget(url, rules);
    if (judged.kind === 'refused') throw unacceptable('webhook', judged.why);
    if (!isReported)
      log.warn('A run or cron was accepted with a webhook, and none is sent: http.disable_webhooks is set.');
    isReported = true;
  };
}

/** The host of a webhook for the log and the queue: empty for a loopback webhook. */
export const webhookHost = (url: string): string =>
  !url.startsWith('/') && URL.canParse(url) ? withoutEndDot(new URL(url).hostname) : '';

export const resolveByMachine: Resolve = (host) => lookup(host, { all: true, order: 'verbatim' });

/** Merges concurrent lookups of a name: slow ones would block the few lookup threads, which the agent needs too. */
export function onceAtATime(resolve: Resolve): Resolve {
  const underWay = new Map<string, ReturnType<Resolve>>();
  return (host) => {
    const resolution = underWay.get(host) ?? resolve(host).finally(() => underWay.delete(host));
    underWay.set(host, resolution);
    return resolution;
  };
}
