// What a person does and sees on the playground.
import type { Locator, Page } from 'playwright-core';
import { press, type } from '../keyboard.ts';

export const message = (page: Page): Locator => page.getByRole('textbox', { name: 'Message', exact: true });
export const chat = (page: Page): Locator => page.getByRole('log', { name: 'Messages' });
export const run = (page: Page): Locator => page.getByRole('region', { name: 'Run', exact: true });
const steps = (page: Page): Locator => page.getByRole('list', { name: 'Steps' });
export const button = (page: Page, name: string): Locator => page.getByRole('button', { name, exact: true });

/** Sends a message, once that is possible. */
export async function say(page: Page, text: string): Promise<void> {
  await page.locator('button[type=submit]:enabled', { hasText: 'Send' }).waitFor();
  await type(message(page), text);
  await press(message(page));
  await chat(page).getByText(text, { exact: true }).last().waitFor();
}

export const ended = (page: Page, status: string): Promise<void> =>
  run(page).getByText(status, { exact: true }).waitFor();

/** Opens the newest step with this name. */
export async function openStep(page: Page, name: string): Promise<Locator> {
  const step = steps(page).getByRole('listitem').filter({ hasText: name }).first();
  await press(step.locator('summary').first());
  await step.getByRole('button', { name: 'Edit the state' }).waitFor();
  return step;
}
