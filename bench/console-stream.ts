// From a token that an agent makes to the frame that shows it: in the playground, and in a public chat page. A bare client
// reads the same stream at the same time, so that the cost of the page can be separated from that of the services.
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import * as z from 'zod';
import { Repository } from '../src/demo/repository.ts';
import { commitLinkScript, linkPackages } from '../test/installed-packages.ts';
import { message } from '../test/console/playground/actions.ts';
import { openGate } from '../test/console/playground/gate.ts';
import type { ChatPage } from './chat-page.ts';
import type { ConsoleBench, Created } from './console-service.ts';
import type { Measured } from './figure.ts';
import { interleave, median, quantile, spread, type Contender } from './rounds.ts';

const agent = join(import.meta.dirname, '../test/console/agents/timed');
/** As many as the agent makes. */
const tokens = 40;
const token = /at(\d{13}) /g;
const delays = z.array(z.number()).length(tokens);

/** Milliseconds from each token of a run to the page, and to the bare client. */
interface Round {
  page: number[];
  bare: number[];
}

/** Deploys the agent, and waits until it is live. */
export async function deployTimed({ create, control, git }: ConsoleBench): Promise<Created> {
  const repository = await Repository.fromExample(agent, join(git, 'timed'));
  await commitLinkScript(repository);
  const timed = await create('timed', repository.folder, linkPackages);
  for (;;) {
    const { status, status_message } = await control.getRevision(timed.id, timed.revisionId);
    if (status === 'DEPLOYED') return timed;
    if (status.endsWith('FAILED')) throw new Error(`the agent was not deployed: ${status_message ?? status}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** The first token and every token, in the playground and in the public chat page where there is one. */
export async function consoleStream(
  bench: ConsoleBench,
  { id }: Created,
  chatPage: ChatPage | undefined,
): Promise<Measured[]> {
  const client = new BareClient(`${bench.service.url}/agents/${id}`, bench.service.apiKey);
  const page = await bench.newPage();
  const ours: Contender<Round> = {
    async round() {
      await page.goto(bench.address(`deployments/${id}/playground`));
      await page.locator('button[type=submit]:enabled', { hasText: 'Send' }).waitFor();
      return play(page, client, (text) => message(page).fill(text));
    },
  };
  const peerPage = await bench.browser.newPage();
  const peer: Contender<Round> | undefined = chatPage && {
    async round() {
      await chatPage.open(peerPage, { apiUrl: client.url, apiKey: bench.service.apiKey, assistant: 'timed' });
      return play(peerPage, client, (text) => peerPage.locator('textarea').fill(text));
    },
  };
  const options = { rounds: 7, warmups: 1 };
  const measured: { ours: Round[]; peer?: Round[] } = peer
    ? await interleave({ ours, peer }, options)
    : await interleave({ ours }, options);
  await page.context().close();
  await peerPage.context().close();

  const figure = (name: string, what: string, of: (delays: number[]) => number[]): Measured => {
    const all = (rounds: Round[] | undefined, reader: keyof Round): number[] =>
      (rounds ?? []).flatMap((round) => of(round[reader]));
    const [shown, read, peers] = [all(measured.ours, 'page'), all(measured.ours, 'bare'), all(measured.peer, 'page')];
    const times = (values: number[]) => ({ p50: median(values), p99: quantile(values, 0.99) });
    const hasPeer = peers.length > 0;
    return {
      figure: name,
      unit: 'ms',
      ours: median(shown),
      floor: median(read),
      ...(hasPeer ? { peer: median(peers) } : {}),
      notes: {
        ours: `from ${what} to the frame of the playground that shows it`,
        floor: 'to a bare client of the same stream at the same time',
        peer: `to the frame of the public chat page; to the bare client ${hasPeer ? median(all(measured.peer, 'bare')) : 0}`,
      },
      targets: [],
      times: { ours: times(shown), floor: times(read), ...(hasPeer ? { peer: times(peers) } : {}) },
      spread: spread(shown),
    };
  };
  return [
    figure('console-first-token-to-pixel', 'the first token of a run', (round) => round.slice(0, 1)),
    figure('console-token-to-pixel', 'each token', (round) => round),
  ];
}

/** Sends a message on a page, and reads the tokens of the run that it starts. */
async function play(page: Page, client: BareClient, write: (text: string) => Promise<void>): Promise<Round> {
  await page.evaluate(watchScript);
  const gate = await openGate();
  try {
    const before = await client.newestThread();
    await write(gate.url);
    await page.keyboard.press('Enter');
    const stream = await client.join(before);
    await gate.reached();
    gate.open();
    const bare = await delaysOf(stream);
    return { page: delays.parse(await page.evaluate('globalThis.shown')), bare: delays.parse(bare) };
  } finally {
    await gate.close();
  }
}

/** Keeps how old each token was in the first frame that showed it. */
const watchScript = `void (globalThis.shown = new Promise((resolve) => {
  const met = new Set();
  const delays = [];
  new MutationObserver(() => {
    for (const [, made] of document.body.textContent.matchAll(/at(\\d{13})/g)) {
      if (met.has(made)) continue;
      met.add(made);
      requestAnimationFrame(() => {
        delays.push(Date.now() - made);
        if (delays.length === ${tokens}) resolve(delays);
      });
    }
  }).observe(document.body, { childList: true, subtree: true, characterData: true });
}))`;

/** A client that does nothing with a stream but look for tokens. */
class BareClient {
  readonly url: string;
  readonly #headers: Record<string, string>;

  constructor(url: string, apiKey: string) {
    this.url = url;
    this.#headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  }

  async newestThread(): Promise<string | undefined> {
    const body = JSON.stringify({ limit: 1, sort_by: 'created_at', sort_order: 'desc' });
    const found = await this.#read('/threads/search', z.array(z.object({ thread_id: z.string() })), body);
    return found[0]?.thread_id;
  }

  /** Joins the first run on a thread after the given one. */
  async join(former: string | undefined): Promise<AsyncIterable<Uint8Array>> {
    for (;;) {
      const thread = await this.newestThread();
      const runs =
        thread === undefined || thread === former
          ? []
          : await this.#read(`/threads/${thread}/runs`, z.array(z.object({ run_id: z.string() })));
      if (runs[0]) {
        const path = `${this.url}/threads/${thread}/runs/${runs[0].run_id}/stream`;
        const { body } = await fetch(path, { headers: this.#headers });
        if (body) return body;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async #read<Schema extends z.ZodType>(path: string, schema: Schema, body?: string): Promise<z.infer<Schema>> {
    const request = { method: body === undefined ? 'GET' : 'POST', headers: this.#headers, body: body ?? null };
    return schema.parse(await (await fetch(this.url + path, request)).json());
  }
}

async function delaysOf(stream: AsyncIterable<Uint8Array>): Promise<number[]> {
  const met = new Map<string, number>();
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    rest += decoder.decode(chunk, { stream: true });
    for (const [, made = ''] of rest.matchAll(token)) if (!met.has(made)) met.set(made, Date.now() - Number(made));
    // A token may be cut in two.
    rest = rest.slice(-20);
  }
  return [...met.values()];
}
