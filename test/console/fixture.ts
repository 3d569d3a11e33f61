// Real services, and a real browser that is signed in to their console.
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { pathToFileURL } from 'node:url';
import { AxeBuilder } from '@axe-core/playwright';
import { expect, vi } from 'vitest';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { Deployment } from '../../src/contract/control/deployment.ts';
import { launchChromium, watchPage, type Chromium, type WatchedPage } from '../../src/demo/chromium.ts';
import { Repository } from '../../src/demo/repository.ts';
import { commitLinkScript, linkPackages } from '../installed-packages.ts';
import { openJourneyFixture, root, type JourneyFixture, type JourneyOptions } from '../journey/fixture.ts';

export interface ConsoleFixture {
  services: JourneyFixture;
  /** Creates a deployment of a git repository on this machine. */
  create(name: string, folder: string, installCommand?: string): Promise<Deployment>;
  /** Deploys an agent of `examples/` (or the repository given) from git and waits until it is live. */
  deploy(example: string, options?: { name?: string; repository?: Repository }): Promise<Deployment>;
  /** Makes a git repository of an agent of `examples/`. */
  repository(example: string, name?: string): Promise<Repository>;
  /** Opens a page of the console in a signed-in browser of its own: `deployments/ID`. `initScript` runs before its own scripts. */
  open(path?: string, options?: BrowserContextOptions & { initScript?: string }): Promise<WatchedPage>;
  /** A browser without a session. */
  newContext(options?: BrowserContextOptions): Promise<BrowserContext>;
  close(): Promise<void>;
}

export async function openConsoleFixture(options?: JourneyOptions): Promise<ConsoleFixture> {
  const services = await openJourneyFixture(options);
  let chromium: Chromium;
  try {
    // All test files share what is unpacked in the run's own folder.
    chromium = await launchChromium(tmpdir());
  } catch (error) {
    await services.close();
    throw error;
  }
  const { browser } = chromium;
  // Without a locale the browser takes one of the environment, which may be none that browsers of people have.
  const newContext = (contextOptions: BrowserContextOptions = {}): Promise<BrowserContext> =>
    browser.newContext({ locale: 'en-US', ...contextOptions });

  const repository = async (example: string, name = example): Promise<Repository> => {
    const made = await Repository.fromExample(
      join(root, 'examples', example),
      join(services.folder, 'git', 'acme', name),
    );
    await commitLinkScript(made);
    return made;
  };

  const create = (name: string, folder: string, installCommand = linkPackages): Promise<Deployment> =>
    services.control.createDeployment({
      name,
      source: 'github',
      source_config: { repo_url: pathToFileURL(folder).href, install_command: installCommand, build_on_push: false },
      source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
      secrets: [],
    });

  return {
    services,
    repository,
    create,
    async deploy(example, { name = example, repository: given } = {}) {
      const { folder } = given ?? (await repository(example, name));
      const { control } = services;
      const created = await create(name, folder);
      const statusOf = async (): Promise<string> =>
        (await control.getRevision(created.id, created.latest_revision_id ?? '')).status;
      // In hooks too, where `expect.poll` does not work.
      await vi.waitFor(async () => expect(await statusOf()).toBe('DEPLOYED'), { timeout: 120_000, interval: 200 });
      return control.getDeployment(created.id);
    },
    async open(path = '', { initScript = '', ...contextOptions } = {}) {
      const context = await newContext(contextOptions);
      await context.addInitScript(initScript);
      const page = await context.newPage();
      // A busy machine is slow.
      page.setDefaultTimeout(120_000);
      const opened = watchPage(page, services.service.url);
      await page.goto(`${services.service.url}/console/${path}`);
      await page.getByLabel('API key').fill(services.service.apiKey);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
      return opened;
    },
    newContext,
    async close() {
      await Promise.allSettled([chromium.close(), services.close()]);
    },
  };
}

/** Fails if the page has reported an error or has sent an external request. */
export function expectClean({ errors, externalRequests }: WatchedPage): void {
  expect({ errors, externalRequests }).toEqual({ errors: [], externalRequests: [] });
}

/** What the page as it is now breaks of the rules of WCAG 2.2 AA that axe can check, in either theme. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  const problems: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const { violations } = await new AxeBuilder({ page }).analyze();
    problems.push(...violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${colorScheme}: ${id}: ${html}`)));
  }
  return problems;
}

/** Fails if there are such problems. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await accessibilityProblems(page)).toEqual([]);
}
