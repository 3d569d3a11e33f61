import { messageOf } from '../kit/errors.ts';
import { launchChromium, watchPage, chromiumObstacle, type Chromium } from './chromium.ts';
import { deploymentOf, greet, type Scenario, type ScenarioResult } from './scenarios.ts';
import type { Renderer } from './renderer.ts';
import type { DemoEnvironment } from './environment.ts';

/** The time limit of each browser action (ms). The first request also builds the page's bundle. */
const withinMs = 60_000;

/** A person opens the console in a browser and runs the agent there. Runs after the scenarios of the Action. */
export const consoleScenario: Scenario = {
  title: 'a person runs the agent in the console',
  async play(environment, screen, completed) {
    const why = chromiumObstacle();
    if (why !== undefined) return skippedResult(why);
    let chromium: Chromium;
    try {
      chromium = await launchChromium();
    } catch (error) {
      return skippedResult(`the browser does not start on this machine: ${firstLine(error)}`);
    }
    try {
      const { id, address } = deploymentOf(completed);
      return await runInConsole(chromium, environment, screen, {
        id,
        answer: await greet(environment, screen, address),
      });
    } catch (error) {
      return { isProven: false, summary: firstLine(error) };
    } finally {
      await chromium.close();
    }
  },
};

const skippedResult = (why: string): ScenarioResult => ({
  isProven: true,
  isSkipped: true,
  summary: `not tried: ${why}`,
});

const firstLine = (error: unknown): string => messageOf(error).split('\n', 1)[0] ?? '';

/** @param answer what the agent answers to the same input over its API. */
async function runInConsole(
  { browser }: Chromium,
  { service, control, isLinkKept }: DemoEnvironment,
  screen: Renderer,
  { id, answer }: { id: string; answer: string },
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
    .getByText(`"${answer}"`)
    .waitFor()
    .then(() => true)
    .catch(() => false);
  screen.line(`   input "world" in the playground: ${isShown ? `"${answer}"` : 'another answer than over the API'}`);
  for (const each of [...errors, ...externalRequests]) screen.quote(`| ${each}`);
  const isProven = answer !== '' && isShown && errors.length === 0 && externalRequests.length === 0;
  const result = isShown ? `the page shows "${answer}"` : `the page does not show "${answer}"`;
  return { isProven, summary: `${result}; errors: ${errors.length}, external requests: ${externalRequests.length}` };
}
