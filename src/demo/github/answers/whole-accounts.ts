import { isObject } from '../../../kit/json-object.ts';
import { accountAnswer, botOf } from './accounts.ts';
import type { GitHubState } from '../state.ts';

/** Completes every organization and bot in a response of the emulated GitHub, with real addresses. */
export function withWholeAccounts(state: Pick<GitHubState, 'url' | 'app'>, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => withWholeAccounts(state, each));
  if (!isObject(value)) return value;
  const { login, id, type } = value;
  if (type === 'Bot' && login === botOf(state).login) return accountAnswer(state, botOf(state));
  if (type === 'Organization' && typeof login === 'string' && typeof id === 'number' && !('gists_url' in value)) {
    return { ...value, ...accountAnswer(state, { login, id, type }) };
  }
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withWholeAccounts(state, each)]));
}
