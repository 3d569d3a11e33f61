import { tmpdir } from 'node:os';
import type { Page } from 'playwright-core';
import { launchChromium } from '../../../src/demo/chromium.ts';
import type { ClientServer } from '../clients/case.ts';
import { installPackages } from '../install-packages.ts';
import { servePages } from './pages.ts';

/** What the chat page is opened with. */
export interface ChatOptions {
  assistant: string;
  /** Server-sent events unless given. */
  transport?: 'websocket' | undefined;
}

/** A browser, and the pages of the libraries. */
export interface TestBrowser {
  /** Uses the page of a library with an assistant in a session of its own, which is closed afterwards. */
  visit(
    library: string,
    server: ClientServer,
    options: ChatOptions,
    use: (chat: ChatPage) => Promise<void>,
  ): Promise<void>;
  close(): Promise<void>;
}

/** Installs the packages, starts Chromium and serves the pages of these libraries. The caller closes it. */
export async function openBrowser(libraries: readonly string[]): Promise<TestBrowser> {
  await installPackages(import.meta.dirname);
  const pages = await servePages(libraries);
  try {
    // All test files share what is unpacked in the run's own folder.
    const chromium = await launchChromium(tmpdir());
    return {
      async visit(library, server, { assistant, transport }, use) {
        const context = await chromium.browser.newContext();
        try {
          const page = await context.newPage();
          page.setDefaultTimeout(120_000);
          const { url, apiKey } = server;
          const options = new URLSearchParams({ apiUrl: url, assistantId: assistant });
          if (apiKey !== null) options.set('apiKey', apiKey);
          if (transport) options.set('transport', transport);
          await page.goto(`${pages.url}/${library}#${options.toString()}`);
          await use(new ChatPage(page));
        } finally {
          await context.close();
        }
      },
      async close() {
        await Promise.allSettled([chromium.close(), pages.close()]);
      },
    };
  } catch (error) {
    await pages.close();
    throw error;
  }
}

/** The chat page, as its user sees it. Its parts are the ids in the page. */
export class ChatPage {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  /** Writes into the text field and clicks a button. */
  async write(content: unknown, button: string): Promise<void> {
    await this.#page.fill('textarea', JSON.stringify(content));
    await this.click(button);
  }

  /** Sends a message of a person. */
  async say(words: string, button = 'send'): Promise<void> {
    await this.write({ messages: [{ type: 'human', content: words }] }, button);
  }

  async click(button: string): Promise<void> {
    await this.#page.click(`button[name=${button}]`);
  }

  async reload(): Promise<void> {
    await this.#page.reload();
  }

  /** Waits until a part shows this; else the error says what it shows, or the error that the page shows. */
  async shows(part: string, expected: unknown): Promise<void> {
    const text = JSON.stringify(expected);
    await this.#until(part, `${textOf(part)} === ${JSON.stringify(text)}`, text);
  }

  /** Waits until a part shows something with this text. */
  async mentions(part: string, text: string): Promise<void> {
    await this.#until(part, `${textOf(part)}.includes(${JSON.stringify(text)})`, text);
  }

  /** Waits for an error, and returns it. */
  async error(): Promise<unknown> {
    await this.#wait(hasError);
    return await this.read('error');
  }

  /** What a part shows. */
  async read(part: string): Promise<unknown> {
    return JSON.parse(String(await this.#page.evaluate(textOf(part))));
  }

  async #until(part: string, isShown: string, text: string): Promise<void> {
    await this.#wait(`${isShown} || ${hasError}`);
    if (await this.#page.evaluate(isShown)) return;
    const error = await this.read('error');
    const shown = JSON.stringify(await this.read(part));
    throw new Error(error === '' ? `${part} shows ${shown} instead of ${text}` : String(error));
  }

  /** Waits until the expression is true in the page, or too long. */
  async #wait(expression: string): Promise<void> {
    await this.#page.waitForFunction(expression, undefined, { polling: 50 }).catch(() => undefined);
  }
}

const textOf = (part: string): string => `document.getElementById(${JSON.stringify(part)})?.textContent`;
const hasError = `(${textOf('error')} ?? '""') !== '""'`;
