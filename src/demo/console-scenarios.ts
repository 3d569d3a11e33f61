import { messageOf } from '../kit/errors.ts';
import { launchChromium, watchPage, whyNoChromium, type Chromium } from './chromium.ts';
import { deployed, greet, type Scenario, type ScenarioResult } from './scenarios.ts';
import type { Renderer } from './renderer.ts';
import type { DemoEnvironment } from './environment.ts';

/** How long the page may take for one thing (ms). Its bundle is made at the first request. */
const withinMs = 60_000;

/** A person opens the console in a browser and runs the agent there. Runs after the scenarios of the Action. */
export const consoleScenario: Scenario = {
  title: 'a person runs the agent in the console',
  async play(environment, screen, before) {
    const why = whyNoChromium();
    if (why !== undefined) return notTried(why);
    let chromium: Chromium;
    try {
      chromium = await launchChromium();
    } catch (error) {
      return notTried(`the browser does not start on this machine: ${firstLine(error)}`);
    }
    try {
      const { id, address } = deployed(before);
      return await runInConsole(chromium, environment, screen, { id, said: await greet(environment, screen, address) });
    } catch (error) {
      return { held: false, seen: firstLine(error) };
    } finally {
      await chromium.close();
    }
  },
};

const notTried = (why: string): ScenarioResult => ({ held: true, isSkipped: true, seen: `not tried: ${why}` });

const firstLine = (error: unknown): string => messageOf(error).split('\n', 1)[0] ?? '';

/** @param said what the agent answers to the same input over its API. */
async function runInConsole(
  { browser }: Chromium,
  { service, control, isLinkKept }: DemoEnvironment,
  screen: Renderer,
  { id, said }: { id: string; said: string },
): Promise<ScenarioResult> {
  const page = await browser.newPage({ locale: 'en-US' });
  page.setDefaultTimeout(withinMs);
  const { errors, externalRequests } = watchPage(page, service.url);
  await page.goto(isLinkKept ? `${service.url}/console` : service.signInLink);
  if (isLinkKept) {
    await page.getByLabel('API key').fill(service.apiKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }
  const { name } = await control.getDeployment(id);
  await page.getByRole('link', { name, exact: true }).click();
  await page.getByRole('link', { name: 'Playground', exact: true }).click();
  screen.line(`   signed in by ${isLinkKept ? 'the key' : 'the link'}; at ${new URL(page.url()).pathname}`);
  await page.getByLabel('input', { exact: true }).fill('world');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('region', { name: 'Run', exact: true }).getByText('Success', { exact: true }).waitFor();
  const state = page.getByRole('region', { name: 'State' });
  const isShown = await state
    .getByText(`"${said}"`)
    .waitFor()
    .then(() => true)
    .catch(() => false);
  screen.line(`   input "world" in the playground: ${isShown ? `"${said}"` : 'another answer than over the API'}`);
  for (const each of [...errors, ...externalRequests]) screen.quote(`| ${each}`);
  const held = said !== '' && isShown && errors.length === 0 && externalRequests.length === 0;
  const result = isShown ? `the page shows "${said}"` : `the page does not show "${said}"`;
  return { held, seen: `${result}; errors: ${errors.length}, external requests: ${externalRequests.length}` };
}
