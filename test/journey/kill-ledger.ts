// Clients that write to a live agent all the time, and what the agent acknowledged to them.
import * as z from 'zod';

const Id = z.record(z.string(), z.unknown());
const ended = new Set(['success', 'error', 'timeout', 'interrupted']);

/** A request to an agent, with the key of its tenant. */
export type Ask = (path: string, init?: { method?: string; body?: unknown }) => Promise<unknown>;

/** Sends requests to the agent at an address. Throws for any status but 2xx. */
export const askOf =
  (address: string, apiKey: string): Ask =>
  async (path, { method = 'GET', body } = {}) => {
    const answer = await fetch(`${address}${path}`, {
      method,
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 200)}`);
    return text === '' ? undefined : JSON.parse(text);
  };

/** What was acknowledged, by kind, and how to check that it still exists. */
export class KillLedger {
  readonly threads = new Map<string, string>();
  readonly runs = new Map<string, string>();
  readonly items = new Map<string, string>();
  readonly assistants = new Map<string, string>();
  /** Requests without a 2xx, which promise nothing. */
  refused = 0;
  #count = 0;

  /** Writes one thing of each kind after another until the signal aborts. */
  async write(ask: Ask, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const mark = `mark-${++this.#count}`;
      try {
        const made = async (path: string, key: string, body: unknown): Promise<string> =>
          z.string().parse(Id.parse(await ask(path, { method: 'POST', body }))[key]);
        const thread = await made('/threads', 'thread_id', { metadata: { mark } });
        this.threads.set(thread, mark);
        const input = { assistant_id: 'talk', input: { input: mark } };
        this.runs.set(await made(`/threads/${thread}/runs`, 'run_id', input), thread);
        await ask('/store/items', { method: 'PUT', body: { namespace: ['kills'], key: mark, value: { mark } } });
        this.items.set(mark, mark);
        const assistant = { graph_id: 'talk', name: mark, metadata: { mark } };
        this.assistants.set(await made('/assistants', 'assistant_id', assistant), mark);
      } catch {
        this.refused += 1;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  /** What of it is missing or differs, and the runs that have not ended. The ledger stays as it is. */
  async missing(ask: Ask): Promise<string[]> {
    const wrong: string[] = [];
    const look = async (what: string, path: string, isRight: (seen: Record<string, unknown>) => boolean) => {
      const seen = await ask(path).catch((error: unknown) => ({ problem: String(error) }));
      const record = Id.parse(seen);
      if (!isRight(record)) wrong.push(`${what}: ${JSON.stringify(record).slice(0, 200)}`);
    };
    const marked = (mark: string) => (seen: Record<string, unknown>) =>
      JSON.stringify(seen['metadata'] ?? seen['value'])?.includes(`"${mark}"`) ?? false;
    for (const [id, mark] of this.threads) await look(`thread ${id}`, `/threads/${id}`, marked(mark));
    for (const [id, mark] of this.assistants) await look(`assistant ${id}`, `/assistants/${id}`, marked(mark));
    for (const mark of this.items.keys())
      await look(`item ${mark}`, `/store/items?namespace=kills&key=${mark}`, marked(mark));
    for (const [id, thread] of this.runs)
      await look(`run ${id}`, `/threads/${thread}/runs/${id}`, ({ status }) => ended.has(String(status)));
    return wrong;
  }

  get counts(): string {
    const { threads, runs, items, assistants } = this;
    return `${threads.size} threads, ${runs.size} runs, ${items.size} items, ${assistants.size} assistants, ${this.refused} refused`;
  }
}
