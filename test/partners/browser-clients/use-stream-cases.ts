import { Client } from '@langchain/langgraph-sdk';
import { works } from '../clients/case.ts';
import type { ClientCase, ClientServer } from '../clients/case.ts';
import { startGate } from '../clients/gate.ts';
import type { ChatPage, TestBrowser } from './browser.ts';

/** A feature: what a user of a chat page does, and what the page has to show. */
interface Feature {
  feature: string;
  assistant: string;
  transport?: 'websocket';
  /** The pages that offer it; all unless given. */
  pages?: readonly string[];
  use: (chat: ChatPage, server: ClientServer) => Promise<void>;
}

const answer = 'ai: Good day to you';
const steps = ['first', 'second', 'third'];

/** Sends a message that is answered in words, and waits for the end. */
async function greet(chat: ChatPage): Promise<void> {
  await chat.say('hello');
  await chat.shows('messages', ['human: hello', answer]);
  await chat.shows('state', 'idle');
}

const features: readonly Feature[] = [
  {
    feature: 'messages as they stream',
    assistant: 'teller',
    async use(chat) {
      await using gate = await startGate();
      const hello = `hello until ${gate.url}`;
      await chat.say(hello);
      await chat.shows('messages', [`human: ${hello}`, 'ai: G']);
      await chat.shows('state', 'running');
      gate.open();
      await chat.shows('messages', [`human: ${hello}`, answer]);
      await chat.shows('state', 'idle');
    },
  },
  {
    feature: 'state values as they change',
    assistant: 'slow',
    async use(chat) {
      await using gate = await startGate();
      const input = { each: 1, until: gate.url };
      await chat.write(input, 'send');
      await chat.shows('values', { ...input, steps: ['first'] });
      gate.open();
      await chat.shows('values', { ...input, steps });
      await chat.shows('state', 'idle');
    },
  },
  {
    feature: 'a second message on the thread',
    assistant: 'helper',
    async use(chat) {
      await greet(chat);
      const thread = await chat.read('thread');
      await chat.say('hello again');
      await chat.shows('messages', ['human: hello', answer, 'human: hello again', answer]);
      await chat.shows('thread', thread);
      await chat.shows('state', 'idle');
    },
  },
  {
    feature: 'tool calls and custom events',
    assistant: 'helper',
    async use(chat) {
      await chat.say('weather');
      await chat.shows('messages', [
        'human: weather',
        'ai: ',
        'tool: It is sunny in Paris',
        'ai: I heard: It is sunny in Paris',
      ]);
      const args = { city: 'Paris' };
      await chat.shows('tools', [{ name: 'weather', args, status: 'finished', output: 'It is sunny in Paris' }]);
      await chat.shows('custom', [{ looking: 'Paris' }]);
    },
  },
  {
    feature: 'a tool that a person approves',
    assistant: 'helper',
    async use(chat) {
      await chat.say('book');
      await chat.mentions('interrupts', '"name":"book","args":{"city":"Paris"}');
      await chat.write({ decisions: [{ type: 'approve' }] }, 'answer');
      const booked = 'A room in Paris is booked';
      await chat.shows('messages', ['human: book', 'ai: ', `tool: ${booked}`, `ai: I heard: ${booked}`]);
    },
  },
  {
    feature: 'an interrupt and its answer, after a reload',
    assistant: 'interrupts',
    async use(chat) {
      await chat.write({ request: 'dance' }, 'send');
      await chat.shows('interrupts', [{ question: 'May I dance?' }]);
      await chat.shows('state', 'idle');
      await chat.reload();
      await chat.shows('interrupts', [{ question: 'May I dance?' }]);
      await chat.write('yes', 'answer');
      await chat.shows('values', { request: 'dance', answer: 'dance: yes' });
      await chat.shows('interrupts', []);
      await chat.shows('state', 'idle');
    },
  },
  {
    feature: 'stop, then another message',
    assistant: 'slow',
    async use(chat, server) {
      await chat.write({ each: 60_000 }, 'send');
      // From the agent: its run is known to the page.
      await chat.shows('values', { each: 60_000, steps: [] });
      await chat.click('stop');
      await chat.shows('state', 'idle');
      const { runs } = new Client({ apiUrl: server.url, apiKey: server.apiKey });
      const thread = String(await chat.read('thread'));
      for (const { run_id } of await runs.list(thread)) await runs.join(thread, run_id);
      await chat.write({ each: 0 }, 'send');
      await chat.shows('values', { each: 0, steps });
    },
  },
  {
    feature: 'a reload while a message streams',
    assistant: 'teller',
    async use(chat) {
      await using gate = await startGate();
      const hello = `hello until ${gate.url}`;
      await chat.say(hello);
      await chat.shows('messages', [`human: ${hello}`, 'ai: G']);
      await chat.reload();
      await chat.shows('state', 'running');
      gate.open();
      await chat.shows('messages', [`human: ${hello}`, answer]);
      await chat.shows('state', 'idle');
    },
  },
  {
    feature: 'a reload during a run',
    assistant: 'slow',
    async use(chat) {
      await using gate = await startGate();
      const input = { each: 1, until: gate.url };
      await chat.write(input, 'send');
      await chat.shows('values', { ...input, steps: ['first'] });
      await chat.reload();
      await chat.shows('state', 'running');
      gate.open();
      await chat.shows('values', { ...input, steps });
      await chat.shows('state', 'idle');
    },
  },
  {
    feature: 'a reload after a run',
    assistant: 'helper',
    async use(chat) {
      await greet(chat);
      await chat.reload();
      await chat.shows('messages', ['human: hello', answer]);
      await chat.shows('state', 'idle');
      await chat.say('hello again');
      await chat.shows('messages', ['human: hello', answer, 'human: hello again', answer]);
    },
  },
  {
    feature: 'the error of a run',
    assistant: 'greeter',
    async use(chat) {
      await chat.write({ input: 'Ada', fail: 'no ink' }, 'send');
      const error = String(await chat.error());
      if (!error.includes('no ink')) throw new Error(error);
    },
  },
  {
    feature: 'subgraphs',
    pages: ['react', 'svelte'],
    assistant: 'outer',
    async use(chat) {
      await chat.write({ word: 'oh' }, 'send');
      await chat.shows('values', { word: 'OH' });
      await chat.shows('subgraphs', ['inside']);
      await chat.shows('custom', [{ heard: 'oh' }]);
    },
  },
  {
    feature: 'inputs queued during a run',
    pages: ['react', 'svelte'],
    assistant: 'slow',
    async use(chat) {
      await using gate = await startGate();
      const input = { each: 1, until: gate.url };
      await chat.write(input, 'send');
      await chat.shows('values', { ...input, steps: ['first'] });
      await chat.write({ each: 0 }, 'enqueue');
      await chat.shows('queue', 1);
      gate.open();
      await chat.shows('values', { ...input, each: 0, steps: [...steps, ...steps] });
      await chat.shows('queue', 0);
    },
  },
  {
    feature: 'another answer to the same message',
    assistant: 'teller',
    async use(chat, server) {
      await using gate = await startGate();
      gate.open();
      const hello = `hello until ${gate.url}`;
      await chat.say(hello);
      await chat.shows('messages', [`human: ${hello}`, answer]);
      await chat.shows('state', 'idle');
      await chat.shows('canRetry', true);
      gate.shut();
      await chat.click('retry');
      await chat.shows('state', 'running');
      gate.open();
      await chat.shows('state', 'idle');
      await chat.shows('messages', [`human: ${hello}`, answer]);
      const { threads } = new Client({ apiUrl: server.url, apiKey: server.apiKey });
      const states = await threads.getHistory(String(await chat.read('thread')));
      const ends = states.filter(({ next }) => next.length === 0).length;
      if (ends !== 2) throw new Error(`the thread has ${ends} answers`);
    },
  },
  {
    feature: 'a tool that runs in the page',
    assistant: 'locator',
    async use(chat) {
      await chat.write({ precise: [true] }, 'send');
      await chat.shows('values', { precise: [true], places: ['Paris, Rue Monge'] });
      await chat.shows('state', 'idle');
    },
  },
  {
    feature: 'two tools at once that run in the page',
    assistant: 'locator',
    async use(chat) {
      await chat.write({ precise: [false, true] }, 'send');
      await chat.shows('values', { precise: [false, true], places: ['Paris', 'Paris, Rue Monge'] });
      await chat.shows('state', 'idle');
    },
  },
  {
    feature: 'messages over a WebSocket (sends no key)',
    pages: ['react', 'svelte'],
    assistant: 'helper',
    transport: 'websocket',
    use: greet,
  },
];

/** A library with a page of its own: `<page>-page.mjs`. */
interface Library {
  client: string;
  version: string;
  page: string;
}

/** The features of a library as rows of docs/clients.md. */
export const useStreamCases = ({ client, version, page }: Library, browser: () => TestBrowser): ClientCase[] =>
  features
    .filter(({ pages = [page] }) => pages.includes(page))
    .map(({ feature, assistant, transport, use }) => ({
      client,
      version,
      feature,
      async run(server) {
        await browser().visit(page, server, { assistant, transport }, (chat) => use(chat, server));
        return works;
      },
    }));
