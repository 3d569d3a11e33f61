import type { MiddlewareHandler } from 'hono';
import type { HttpConfig } from '../../graph-config/http-config.ts';
import { missing } from '../refusal.ts';
import { isOwnCall } from './own-calls.ts';
import { groupOf } from './route-group.ts';
import type { RouteGroup } from './route-group.ts';

/** The setting that disables each group. */
const switches = {
  assistants: 'disable_assistants',
  threads: 'disable_threads',
  runs: 'disable_runs',
  store: 'disable_store',
  a2a: 'disable_a2a',
  mcp: 'disable_mcp',
  meta: 'disable_meta',
} satisfies Record<RouteGroup, keyof HttpConfig>;

/** Whether the configuration disables a path. */
export function isSwitchedOff(http: HttpConfig, path: string): boolean {
  const group = groupOf(path);
  return group !== undefined && http[switches[group]] === true;
}

/** Returns 404 for disabled routes; undefined if none is disabled. */
export function switchedOff(http: HttpConfig): MiddlewareHandler | undefined {
  if (!Object.values(switches).some((key) => http[key] === true)) return undefined;
  return (c, next) => {
    const group = groupOf(c.req.path);
    if (group !== undefined && isSwitchedOff(http, c.req.path) && !isOwnCall(c.req.raw)) {
      throw missing(`${c.req.path} is disabled by http.${switches[group]} of the graph configuration.`);
    }
    // With `disable_meta`, `/ok` reports liveness only.
    if (http.disable_meta === true && c.req.path === '/ok') return Promise.resolve(c.json({ ok: true }));
    return next();
  };
}
