import { groupOf } from '../http/route-groups.ts';
import type { Action } from './agent-auth.ts';

/** The kinds of resources whose metadata a handler's filters match. */
export type Kind = 'assistant' | 'thread' | 'run' | 'cron';

/** What a request does, as the agent's authorization handlers see it. */
export type Access =
  /** Open to everyone: health, server info and files of pages. */
  | { does: 'open' }
  /** Needs authentication only: no resource, or a route outside the API. */
  | { does: 'nothing' }
  /** A path of a known group without an authorization rule: rejected. */
  | { does: 'unknown' }
  | { does: 'create'; kind: 'assistant' | 'thread' }
  | { does: 'search'; kind: Exclude<Kind, 'run'>; counts: boolean }
  /**
   * Accesses one resource, or a run on one thread. `body`: the handler sees the request's body; `version`: the request
   * names a version of the resource, which the filter must match too.
   */
  | { does: 'one'; kind: Kind; id: string; runId?: string; action: Action; body?: boolean; version?: boolean }
  | { does: 'copy'; id: string }
  | { does: 'versions'; id: string }
  | { does: 'prune' }
  | { does: 'run'; threadId: string | undefined }
  | { does: 'batch' }
  | { does: 'cancel' }
  | { does: 'deliveries' }
  | { does: 'unfinished-runs' }
  | { does: 'cron'; threadId: string | undefined }
  | { does: 'store'; action: 'put' | 'get' | 'search' | 'list_namespaces' | 'delete' };

/** The access of one kind. */
export type AccessTo<Does extends Access['does']> = Extract<Access, { does: Does }>;

type Rule = [method: string, path: RegExp, access: (...ids: string[]) => Access];

const one =
  (kind: Kind, action: Action, body = false) =>
  (id = ''): Access => ({ does: 'one', kind, id, action, body });
const latest = (id = ''): Access => ({
  does: 'one',
  kind: 'assistant',
  id,
  action: 'update',
  body: true,
  version: true,
});
const ofRun =
  (action: Action) =>
  (id = '', runId = ''): Access => ({ does: 'one', kind: 'thread', id, runId, action });
const search =
  (kind: Exclude<Kind, 'run'>) =>
  (what = ''): Access => ({ does: 'search', kind, counts: what === 'count' });

const rules: readonly Rule[] = [
  ['POST', /^\/assistants$/, () => ({ does: 'create', kind: 'assistant' })],
  ['POST', /^\/assistants\/(search|count)$/, search('assistant')],
  ['GET', /^\/assistants\/([^/]+)(?:\/(?:graph|schemas|subgraphs(?:\/[^/]+)?))?$/, one('assistant', 'read')],
  ['PATCH', /^\/assistants\/([^/]+)$/, one('assistant', 'update', true)],
  ['DELETE', /^\/assistants\/([^/]+)$/, one('assistant', 'delete')],
  ['POST', /^\/assistants\/([^/]+)\/latest$/, latest],
  ['POST', /^\/assistants\/([^/]+)\/versions$/, (id = '') => ({ does: 'versions', id })],

  ['POST', /^\/threads?$/, () => ({ does: 'create', kind: 'thread' })],
  ['POST', /^\/threads?\/(search|count)$/, search('thread')],
  ['POST', /^\/threads?\/prune$/, () => ({ does: 'prune' })],
  ['GET', /^\/threads?\/([^/]+)(?:\/(?:state(?:\/[^/]+)?|history|stream))?$/, one('thread', 'read')],
  ['POST', /^\/threads?\/([^/]+)\/(?:history|state\/checkpoint)$/, one('thread', 'read')],
  ['POST', /^\/threads?\/([^/]+)\/state$/, one('thread', 'update')],
  ['PATCH', /^\/threads?\/([^/]+)\/state$/, one('thread', 'update', true)],
  ['POST', /^\/threads?\/([^/]+)\/copy$/, (id = '') => ({ does: 'copy', id })],
  ['PATCH', /^\/threads?\/([^/]+)$/, one('thread', 'update', true)],
  ['DELETE', /^\/threads?\/([^/]+)$/, one('thread', 'delete')],

  // They call the server's own routes with the caller's identity.
  ['POST', /^\/threads\/([^/]+)\/(?:commands|stream\/events)$/, () => ({ does: 'nothing' })],
  ['GET', /^\/threads\/([^/]+)\/stream\/events$/, () => ({ does: 'nothing' })],
  ['GET', /^\/threads?\/([^/]+)\/runs$/, one('thread', 'search')],
  ['POST', /^\/threads?\/([^/]+)\/runs(?:\/(?:stream|wait))?$/, (threadId) => ({ does: 'run', threadId })],
  ['POST', /^\/threads?\/([^/]+)\/runs\/crons$/, (threadId) => ({ does: 'cron', threadId })],
  ['GET', /^\/threads?\/([^/]+)\/runs\/([^/]+)(?:\/(?:join|stream))?$/, ofRun('read')],
  ['POST', /^\/threads?\/([^/]+)\/runs\/([^/]+)\/cancel$/, ofRun('update')],
  ['DELETE', /^\/threads?\/([^/]+)\/runs\/([^/]+)$/, ofRun('delete')],

  ['GET', /^\/runs$/, () => ({ does: 'unfinished-runs' })],
  ['POST', /^\/runs(?:\/(?:stream|wait))?$/, () => ({ does: 'run', threadId: undefined })],
  ['GET', /^\/runs\/([^/]+)\/stream$/, one('run', 'read')],
  ['POST', /^\/runs\/batch$/, () => ({ does: 'batch' })],
  ['POST', /^\/runs\/cancel$/, () => ({ does: 'cancel' })],
  ['POST', /^\/runs\/crons$/, () => ({ does: 'cron', threadId: undefined })],
  ['POST', /^\/runs\/crons\/(search|count)$/, search('cron')],
  ['GET', /^\/runs\/crons\/([^/]+)(?:\/runs)?$/, one('cron', 'read')],
  ['PATCH', /^\/runs\/crons\/([^/]+)$/, one('cron', 'update', true)],
  ['DELETE', /^\/runs\/crons\/([^/]+)$/, one('cron', 'delete')],

  ['GET', /^\/webhooks\/deliveries$/, () => ({ does: 'deliveries' })],
  ['POST', /^\/webhooks\/deliveries\/([^/]+)\/retry$/, one('run', 'update')],

  ['PUT', /^\/store\/items$/, () => ({ does: 'store', action: 'put' })],
  ['GET', /^\/store\/items$/, () => ({ does: 'store', action: 'get' })],
  ['DELETE', /^\/store\/items$/, () => ({ does: 'store', action: 'delete' })],
  ['POST', /^\/store\/items\/search$/, () => ({ does: 'store', action: 'search' })],
  ['POST', /^\/store\/namespaces$/, () => ({ does: 'store', action: 'list_namespaces' })],

  // Pages load them by tags, which can't send credentials.
  ['GET', /^\/ui\/[^/]+\/entrypoint\.(?:js|css)$/, () => ({ does: 'open' })],
];

/** Classifies a request by its method and path. */
export function accessOf(method: string, path: string): Access {
  const requested = method === 'HEAD' ? 'GET' : method;
  for (const [its, pattern, access] of rules) {
    const match = its === requested ? pattern.exec(path) : null;
    if (match) return access(...match.slice(1).map(decodedSegment));
  }
  const group = groupOf(path);
  if (path === '/ok' || group === 'meta') return { does: 'open' };
  // The protocols call the server's own routes with the caller's identity.
  return { does: group === undefined || ['a2a', 'mcp', 'ui'].includes(group) ? 'nothing' : 'unknown' };
}

/** Decodes a path segment as the routes do. */
export function decodedSegment(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return part;
    throw error;
  }
}
