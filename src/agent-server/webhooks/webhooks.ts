import { lookup } from 'node:dns/promises';
import { unacceptable } from '../refusal.ts';
import { withoutEndDot } from '../../contract/agent/webhook-domain.ts';
import { judgeUrl } from './judge-url.ts';
import type { Resolve } from './send.ts';
import type { WebhookSettings } from './settings.ts';

/** Takes the webhook of a run or a cron, or throws the Refusal that says why not. */
export type CheckWebhook = (url: string | undefined) => void;

/** The judgement of webhooks when a run or a cron is accepted. What it lets pass is judged again when it is sent. */
export function checkWebhooks({ disabled, rules }: WebhookSettings, log: (line: string) => void): CheckWebhook {
  let isReported = !disabled;
  return (url) => {
    if (url === undefined) return;
    const judged = judgeUrl(url, rules);
    if (judged.kind === 'refused') throw unacceptable('webhook', judged.why);
    if (!isReported) log('A run or cron was accepted with a webhook, and none is sent: http.disable_webhooks is set.');
    isReported = true;
  };
}

/** The host that a webhook goes to, as the log and the queue know it: empty for a path of the server itself. */
export const webhookHost = (url: string): string =>
  !url.startsWith('/') && URL.canParse(url) ? withoutEndDot(new URL(url).hostname) : '';

/** The machine's own resolver. */
export const resolveByMachine: Resolve = (host) => lookup(host, { all: true, order: 'verbatim' });

/**
 * The same, asking for a name once at a time: the machine has few lookups at once, which the agent's own calls need too,
 * and a name whose servers hang would take one with every try.
 */
export function onceAtATime(resolve: Resolve): Resolve {
  const underWay = new Map<string, ReturnType<Resolve>>();
  return (host) => {
    const requested = underWay.get(host) ?? resolve(host).finally(() => underWay.delete(host));
    underWay.set(host, requested);
    return requested;
  };
}
