import { isIP } from 'node:net';
import { defaultWebhookPorts, withoutEndDot } from '../../../contract/agent/webhook.ts';
import { isLoopback, networkOf } from './address.ts';
import type { UrlRules, WebhookSettings } from './settings.ts';
import { unacceptable } from '../refusal.ts';
import type { Logger } from '../../../kit/logger.ts';

/** A parsed webhook URL, or the rule that rejects it. */
export type WebhookTarget =
  | { kind: 'outside'; url: URL; host: string; port: number }
  /** A loopback webhook: its path and query. */
  | { kind: 'itself'; path: string }
  | { kind: 'refused'; why: string };

/** The host of loopback webhooks, which is never resolved. */
export const ownOrigin = 'http://agent.internal';

const refused = (why: string): WebhookTarget => ({ kind: 'refused', why });

/**
 * Checks a webhook's URL by `webhooks.url`, and an IP address as host; those of a name are checked when it is sent
 * (`addressProblem`). Reasons never repeat the URL, whose query may hold a token.
 */
export function parseWebhookTarget(text: string, rules: UrlRules): WebhookTarget {
  if (Array.from(text).length > rules.maxUrlLength)
    return refused(`is longer than ${rules.maxUrlLength} characters (webhooks.url.max_url_length)`);
  // A URL parser would silently drop or convert these characters.
  if (/[\p{Cc}\p{Z}\\]/u.test(text)) return refused('holds a space, a control character or a backslash');
  if (text.startsWith('/') && !text.startsWith('//')) return judgePath(text, rules);
  if (!/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text))
    return refused('must be an address with http:// or https://, or a path of this server that begins with one /');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '')
    return refused('holds a name or password before its host; put a token into its query instead');
  return judgeHost(url, withoutEndDot(url.hostname), rules);
}

function judgePath(text: string, { disableLoopback }: UrlRules): WebhookTarget {
  if (disableLoopback) return refused('is a path of this server, which is not allowed (webhooks.url.disable_loopback)');
  const url = URL.canParse(text, ownOrigin) ? new URL(text, ownOrigin) : undefined;
  if (url?.origin !== ownOrigin) return refused('is no path of this server');
  return { kind: 'itself', path: `${url.pathname}${url.search}` };
}

function judgeHost(url: URL, host: string, rules: UrlRules): WebhookTarget {
  if (rules.requireHttps && url.protocol !== 'https:')
    return refused('must begin with https:// (webhooks.url.require_https)');
  if (host === '' || host.split('.').includes('')) return refused('names an invalid host');
  const port = url.port === '' ? ownPort(url) : Number(url.port);
  const isPortAllowed = (rules.allowedPorts ?? [ownPort(url)]).includes(port);
  if (rules.allowedDomains && !isAllowed(host, rules.allowedDomains)) {
    const wrongHost = 'names a host that is not among webhooks.url.allowed_domains';
    return refused(isPortAllowed ? wrongHost : `${wrongPort(port, rules)}; and ${wrongHost}`);
  }
  // Names below `localhost` are this machine's (RFC 6761).
  const isOwn = host === 'localhost' || host.endsWith('.localhost');
  const address = isOwn ? '127.0.0.1' : addressIn(host);
  const problem = address === undefined ? undefined : addressProblem(address, host, rules);
  // Reports both rules at once, so that fixing the port does not reveal another error.
  if (!isPortAllowed)
    return refused(problem === undefined ? wrongPort(port, rules) : `${wrongPort(port, rules)}; and ${problem}`);
  return problem === undefined ? { kind: 'outside', url, host, port } : refused(problem);
}

const ownPort = (url: URL): number => defaultWebhookPorts[url.protocol === 'https:' ? 'https:' : 'http:'];

function wrongPort(port: number, { allowedPorts }: UrlRules): string {
  return allowedPorts === undefined
    ? `names port ${port}: without webhooks.url.allowed_ports https goes to 443 and http to 80`
    : `names port ${port}, which is not among webhooks.url.allowed_ports`;
}

/** The host if it is an IP address: IPv4, or IPv6 without brackets. */
export function addressIn(host: string): string | undefined {
  const bare = host.replace(/^\[|\]$/g, '');
  return isIP(bare) === 0 ? undefined : bare;
}

function isAllowed(host: string, domains: NonNullable<UrlRules['allowedDomains']>): boolean {
  return domains.some((domain) => (domain.isWildcard ? host.endsWith(`.${domain.host}`) : host === domain.host));
}

const privateAddress =
  'leads to a private network: name the address itself among webhooks.url.allowed_domains (and its port among ' +
  'allowed_ports), or have the operator of the service open those networks: --private-webhooks of `landfall local` and ' +
  '`landfall listener`, LANDFALL_WEBHOOK_PRIVATE=allow of the agent server itself';

/**
 * Why a webhook to `host` may not go to `address`; undefined if it may. Private networks are closed unless the operator
 * opens them, or `allowed_domains` contains this exact address, or `localhost` for this machine. A name in that list
 * opens none, because its owner controls its addresses.
 */
export function addressProblem(address: string, host: string, rules: UrlRules): string | undefined {
  const network = networkOf(address);
  if (network === 'public') return undefined;
  if (network === 'forbidden') return 'leads to a network that no webhook may go to';
  if (rules.privateNetworks || isNamedItself(address, host, rules)) return undefined;
  return privateAddress;
}

function isNamedItself(address: string, host: string, { allowedDomains = [] }: UrlRules): boolean {
  const isNamed = allowedDomains.some((domain) => !domain.isWildcard && domain.host === host);
  return isNamed && (addressIn(host) !== undefined || (host === 'localhost' && isLoopback(address)));
}

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
