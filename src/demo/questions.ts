import type { LocalService } from './local-service.ts';

/** A user of the deployed agent who calls it at its address. */
export interface Questions {
  /** One answer of the echo agent, by an assistant of it where one is named. @throws Error where there was none. */
  ask(input: string, assistant?: string): Promise<string>;
  /** Calls it repeatedly until stopped; `failed` lists the failed responses. */
  keepAsking(): { stop(): Promise<{ call: number; failed: string[]; answers: Set<string> }> };
}

/** @param address of the agent: the deployment's, which stays the same over all revisions. */
export function questionsTo(address: string, { apiKey }: Pick<LocalService, 'apiKey'>): Questions {
  const ask = async (input: string, assistant = 'echo'): Promise<string> => {
    const response = await fetch(`${address}/runs/wait`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ assistant_id: assistant, input: { input } }),
      signal: AbortSignal.timeout(30_000),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`status ${response.status}: ${text.slice(0, 200)}`);
    const values: unknown = JSON.parse(text);
    const output = typeof values === 'object' && values !== null && 'output' in values ? values.output : undefined;
    if (typeof output !== 'string') throw new Error(`no answer in ${text.slice(0, 200)}`);
    return output;
  };
  return {
    ask,
    keepAsking() {
      const seen = { call: 0, failed: [] as string[], answers: new Set<string>() };
      const stopped = new AbortController();
      const asking = (async () => {
        while (!stopped.signal.aborted) {
          seen.call += 1;
          try {
            seen.answers.add(await ask('there'));
          } catch (error) {
            seen.failed.push(error instanceof Error ? error.message : String(error));
          }
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      })();
      return {
        async stop() {
          stopped.abort();
          await asking;
          return seen;
        },
      };
    },
  };
}
