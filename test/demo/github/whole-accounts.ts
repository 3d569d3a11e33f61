import { isObject } from '../../../src/kit/json-object.ts';
import { accountAnswer, botOf } from '../../../src/demo/github/answers/accounts.ts';
import type { Site } from '../../../src/demo/github/site.ts';

/** Completes every organization and bot in a response of the emulated GitHub, with real addresses. */
export function withWholeAccounts(site: Pick<Site, 'url' | 'app'>, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => withWholeAccounts(site, each));
  if (!isObject(value)) return value;
  const { login, id, type } = value;
  if (type === 'Bot' && login === botOf(site).login) return accountAnswer(site, botOf(site));
  if (type === 'Organization' && typeof login === 'string' && typeof id === 'number' && !('gists_url' in value)) {
    return { ...value, ...accountAnswer(site, { login, id, type }) };
  }
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withWholeAccounts(site, each)]));
}
