import type { Page } from 'playwright-core';

/** The deployments whose pages are shown. */
export interface Shown {
  support: string;
  greeter: string;
}

/** A picture of the console. */
export interface Picture {
  /** Its file, without `.png`. */
  name: string;
  path: (shown: Shown) => string;
  /** Resolves when the page shows what the picture is for. */
  ready: (page: Page) => Promise<unknown>;
  theme?: 'dark';
  /** A phone's screen. */
  isNarrow?: true;
}

const ofSupport =
  (page: string) =>
  ({ support }: Shown): string =>
    `deployments/${support}${page}`;
const ofGreeter =
  (page: string) =>
  ({ greeter }: Shown): string =>
    `deployments/${greeter}${page}`;

const list: Pick<Picture, 'path' | 'ready'> = {
  path: () => '',
  ready: (page) => page.getByRole('row', { name: /^support / }).waitFor(),
};
const timeline: Pick<Picture, 'path' | 'ready'> = {
  path: ofSupport(''),
  ready: (page) => page.getByText('Shorten the answers').first().waitFor(),
};

/** Sends two messages in a new thread. */
async function chat(page: Page): Promise<void> {
  await say(page, 'Can I have my money back?');
  await say(page, 'And when does the new parcel arrive?');
}

async function say(page: Page, text: string): Promise<void> {
  await page.locator('button[type=submit]:enabled', { hasText: 'Send' }).waitFor();
  const message = page.getByRole('textbox', { name: 'Message', exact: true });
  await message.fill(text);
  await message.press('Enter');
  await page.getByRole('log', { name: 'Messages' }).getByText(text, { exact: true }).waitFor();
  await page.getByRole('region', { name: 'Run', exact: true }).getByText('Success', { exact: true }).waitFor();
  await page.locator('button[type=submit]:enabled', { hasText: 'Send' }).waitFor();
}

/** Opens the newest of the runs, and its last step. */
async function openRun(page: Page): Promise<void> {
  await page.getByRole('table', { name: 'Runs' }).getByRole('link').first().click();
  const step = page.getByRole('list', { name: 'Steps' }).locator('> li').last();
  await step.locator('summary').first().click();
  await step.getByRole('heading', { name: 'Output' }).waitFor();
}

export const pictures: readonly Picture[] = [
  { name: 'deployments', ...list },
  { name: 'deployments-narrow', ...list, isNarrow: true },
  {
    name: 'new-deployment',
    path: () => 'new',
    ready: (page) => page.getByRole('button', { name: 'Deploy' }).waitFor(),
  },
  { name: 'timeline', ...timeline },
  { name: 'timeline-dark', ...timeline, theme: 'dark' },
  {
    name: 'revision',
    path: ofSupport(''),
    ready: async (page) => {
      await page
        .getByRole('listitem')
        .filter({ hasText: 'Answer questions about refunds and delivery' })
        .getByRole('link', { name: /^Revision .*, its logs$/ })
        .last()
        .click();
      await page.getByRole('tab', { name: 'Build log' }).click();
      await page.getByRole('log').getByText('install', { exact: false }).first().waitFor();
    },
  },
  {
    name: 'health',
    path: ofSupport('/health?range=6h'),
    ready: (page) => page.getByRole('img', { name: /^Memory: highest/ }).waitFor(),
  },
  { name: 'playground', path: ofSupport('/playground'), ready: chat },
  {
    name: 'playground-dark',
    path: ofSupport('/playground'),
    ready: async (page) => {
      await page.getByRole('link', { name: /^Can I have my money back/ }).click();
      await page.getByText('I have sent you a label by email.').waitFor();
    },
    theme: 'dark',
  },
  { name: 'run', path: ofGreeter('/runs'), ready: openRun },
  {
    name: 'runs',
    path: ofGreeter('/runs'),
    ready: (page) => page.getByText('The model did not answer.', { exact: false }).first().waitFor(),
  },
  {
    name: 'assistants',
    path: ofGreeter('/assistants'),
    ready: (page) => page.getByRole('link', { name: 'evening' }).click(),
  },
  { name: 'crons', path: ofGreeter('/crons'), ready: (page) => page.getByText('30 8 * * 1-5').first().waitFor() },
  {
    name: 'store',
    path: ofGreeter('/store'),
    ready: (page) => page.getByRole('list', { name: 'Items' }).getByText('likes').click(),
  },
  {
    name: 'webhooks',
    path: ofGreeter('/webhooks'),
    ready: (page) => page.getByRole('table', { name: 'Deliveries' }).getByText('Delivered', { exact: true }).waitFor(),
  },
  { name: 'settings', path: ofSupport('/settings'), ready: (page) => page.getByText('MODEL_KEY').first().waitFor() },
  {
    name: 'workspace',
    path: () => 'workspace/audit',
    ready: (page) => page.getByRole('table').getByRole('row').nth(3).waitFor(),
  },
];
