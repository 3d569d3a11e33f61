// Makes the screenshots of docs/console.md: real services in a temporary folder, with agents and a day's history, in
// Chromium (Linux x64).
//   npm run screenshots                      all, into docs/screenshots
//   npm run screenshots -- timeline health   these only
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Browser, BrowserContext } from 'playwright-core';
import { launchChromium, watchPage, chromiumObstacle } from '../src/demo/chromium.ts';
import { messageOf } from '../src/kit/errors.ts';
import { backdate } from './screenshots/backdate.ts';
import { deployBuilding, deployFailing, deployGreeter } from './screenshots/other-agents.ts';
import { pictures, type Picture, type Shown } from './screenshots/pages.ts';
import { startServices, type Services } from './screenshots/services.ts';
import { deploySupportAgent } from './screenshots/support-agent.ts';

const root = dirname(import.meta.dirname);
const folder = join(root, 'docs/screenshots');
/** They are in the repository, which everybody clones. */
const mostBytes = 150_000;

/** Cookies of a browser that is signed in. */
type SignedIn = Awaited<ReturnType<BrowserContext['storageState']>>;

async function signIn(browser: Browser, { service }: Services): Promise<SignedIn> {
  const page = await browser.newPage();
  await page.goto(service.signInLink);
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  const state = await page.context().storageState();
  await page.context().close();
  return state;
}

async function take(
  browser: Browser,
  state: SignedIn,
  { service }: Services,
  shown: Shown,
  { name, path, ready, theme, isNarrow }: Picture,
): Promise<void> {
  const context = await browser.newContext({
    locale: 'en-US',
    timezoneId: 'UTC',
    colorScheme: theme ?? 'light',
    deviceScaleFactor: 1,
    viewport: isNarrow ? { width: 390, height: 844 } : { width: 1_280, height: 800 },
    reducedMotion: 'reduce',
    storageState: state,
  });
  try {
    const page = await context.newPage();
    const { errors, externalRequests } = watchPage(page, service.url);
    await page.goto(`${service.url}/console/${path(shown)}`);
    await ready(page);
    // What is loaded late is there (a log that is followed never ends), and the pointer is on nothing.
    await page.waitForLoadState('networkidle', { timeout: 3_000 }).catch(() => undefined);
    await page.mouse.move(0, 0);
    const png = await page.screenshot({ animations: 'disabled', caret: 'hide' });
    if (png.length > mostBytes) throw new Error(`${name}.png has ${png.length} bytes, at most ${mostBytes} are kept`);
    if (errors.length + externalRequests.length > 0) throw new Error([...errors, ...externalRequests].join('\n'));
    await writeFile(join(folder, `${name}.png`), png);
    console.log(`${name}.png  ${Math.round(png.length / 1_000)} kB`);
  } finally {
    await context.close();
  }
}

const names = process.argv.slice(2);
const unknown = names.filter((name) => !pictures.some((picture) => picture.name === name));
const why = chromiumObstacle();
if (unknown.length > 0 || why !== undefined) {
  const known = pictures.map(({ name }) => name).join(', ');
  console.error(why ?? `There is no screenshot ${unknown.join(', ')}. Give some of these: ${known}`);
  process.exit(2);
}
await mkdir(folder, { recursive: true });
console.log('Starting the services ...');
const services = await startServices(root, 'release-bot');
try {
  console.log('Deploying the agents, with their packages from npm ...');
  const greeter = await deployGreeter(services);
  const support = await deploySupportAgent(services);
  await deployFailing(services);
  await deployBuilding(services);
  await backdate(services.databaseUrl, ['support', 'greeter']);
  const chromium = await launchChromium();
  const { browser } = chromium;
  try {
    const state = await signIn(browser, services);
    for (const picture of pictures.filter(({ name }) => names.length === 0 || names.includes(name))) {
      // The others are made all the same: starting again takes minutes.
      await take(browser, state, services, { support, greeter }, picture).catch((error: unknown) => {
        console.error(`${picture.name}.png was not made: ${messageOf(error)}`);
        process.exitCode = 1;
      });
    }
  } finally {
    await chromium.close();
  }
} finally {
  console.log('Stopping the services and removing what they made ...');
  await services.close();
}
