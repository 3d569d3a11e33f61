import * as z from 'zod';
import { filterIn, userOf, type AgentAuth } from '../../auth/agent-auth.ts';
import { Refusal } from '../../refusal.ts';
import { ClientRequests } from './client-requests.ts';
import type { Answer } from './connection.ts';
import type { GraphHost } from './run-workers.ts';

const refused = z.object({
  refused: z.object({
    status: z.int().min(400).max(599),
    detail: z.unknown(),
    headers: z.record(z.string(), z.string()),
  }),
});
const decision = z.object({
  handled: z.boolean(),
  result: z.unknown().optional(),
  value: z.record(z.string(), z.unknown()).optional(),
});

/** The authorization rules of an agent in Python. */
export const pythonAuth = (
  host: GraphHost,
  { trustsStudio, wantsBody }: { trustsStudio: boolean; wantsBody: boolean },
): AgentAuth => ({
  trustsStudio,
  async authenticate(request) {
    const { pathname: path, search } = new URL(request.url);
    const headers = [...request.headers].filter(([name]) => isLatin(name));
    const asked = { method: request.method, path, query: search.slice(1), headers };
    const body = wantsBody ? new Uint8Array(await request.arrayBuffer()) : undefined;
    const answer = await askRules(host, 'authenticate', asked, body ? [body] : []);
    return userOf(z.object({ user: z.unknown() }).parse(accepted(answer)).user);
  },
  async decide({ resource, action, value, user }) {
    const answer = await askRules(host, 'decide', { resource, action, value, user });
    const { handled, result, value: changed } = decision.parse(accepted(answer));
    if (!handled) return undefined;
    const filter = filterIn(result, `${resource}:${action}`);
    if (changed) {
      for (const key of Object.keys(value)) if (!(key in changed)) Reflect.deleteProperty(value, key);
      Object.assign(value, changed);
    }
    return filter;
  },
});

/** Rules may look up what they need on the server itself. */
async function askRules(host: GraphHost, op: string, args: object, attachments: Uint8Array[] = []): Promise<Answer> {
  const calls = new ClientRequests(host.fetch, { isRun: false });
  try {
    return await (await host.connection()).ask(op, args, { attachments, answer: (asked) => calls.answer(asked) });
  } finally {
    calls.end();
  }
}

/** @throws Refusal if the handler has refused. */
function accepted({ value }: Answer): unknown {
  const read = refused.safeParse(value);
  if (!read.success) return value;
  const { status, detail, headers } = read.data.refused;
  throw new Refusal(status, typeof detail === 'string' ? detail : JSON.stringify(detail), new Headers(headers));
}

const isLatin = (text: string): boolean => /^[\0-\xff]*$/.test(text);
