// The list of 1,000 deployments in a browser that has cached nothing: its first view, and how soon it is filtered.
import { createServer } from 'node:http';
import { Client } from 'pg';
import type { Page } from 'playwright-core';
import * as z from 'zod';
import { listening } from './bare-server.ts';
import type { ConsoleBench } from './console-service.ts';
import type { Measured } from './figure.ts';
import { interleave, median, quantile, sized, spread, type Contender } from './rounds.ts';

const deployments = sized(1_000, 20);
const searches = sized(10, 1);
/** Some names have a 7; one has an m. */
const keys = ['7', '7', '7', 'Backspace', 'Backspace', 'Backspace', 'm', 'Backspace'];

/** Milliseconds from the start of a navigation. */
const firstView = z.object({ paint: z.number(), usable: z.number() });
type FirstView = z.infer<typeof firstView>;

/** The first paint, the time until the list is shown, and the time from a key to the filtered list. */
export async function consoleList(bench: ConsoleBench): Promise<Measured[]> {
  await addDeployments(bench.databaseUrl);
  const { url, apiKey } = bench.service;
  const response = await fetch(`${url}/v2/deployment-summaries?limit=1000`, { headers: { 'x-api-key': apiKey } });
  await using bare = await startBareList(await response.text());
  const contenders = {
    ours: opening(() => bench.newPage(), bench.address(), 'tbody tr[aria-rowindex]'),
    floor: opening(() => bench.browser.newPage(), bare.url, 'p'),
  };
  const measured = await interleave(contenders, { rounds: 11, warmups: 2 });
  const figure = (name: string, of: keyof FirstView, what: string): Measured => {
    const values = measured.ours.map((round) => round[of]);
    return {
      figure: name,
      unit: 'ms',
      ours: median(values),
      floor: median(measured.floor.map((round) => round[of])),
      notes: { ours: what, floor: 'a bare page with their names, from a server that holds the response in memory' },
      targets: [],
      spread: spread(values),
    };
  };
  const filtered = await filter(bench);
  return [
    figure('console-list-paint', 'paint', 'from a navigation to the first contentful paint'),
    figure('console-list-usable', 'usable', `to the frame with the list of ${deployments} deployments`),
    {
      figure: 'console-list-filter',
      unit: 'ms',
      ours: median(filtered),
      notes: { ours: 'from a key in the search field to the frame with the filtered list' },
      targets: [],
      times: { ours: { p50: median(filtered), p99: quantile(filtered, 0.99) } },
      spread: spread(filtered),
    },
  ];
}

/** Copies the only deployment without its revision: the service would start the agents of live ones. */
async function addDeployments(url: string): Promise<void> {
  const database = new Client(url);
  await database.connect();
  await database.query(
    `insert into control.deployments (id, tenant_id, name, source, source_config, source_revision_config, secrets,
       database_state, database_name, database_password, status, created_at, updated_at)
     select gen_random_uuid(), tenant_id, 'agent-' || number, source, source_config, source_revision_config, secrets,
       database_state, 'copy_' || number, database_password, status, created_at, updated_at
     from control.deployments, generate_series(2, $1::int) as number`,
    [deployments],
  );
  await database.end();
}

function opening(newPage: () => Promise<Page>, url: string, row: string): Contender<FirstView> {
  return {
    async round() {
      const page = await newPage();
      await page.addInitScript(firstViewScript(row));
      await page.goto(url);
      const found = firstView.parse(await page.evaluate('globalThis.firstView'));
      await page.context().close();
      return found;
    },
  };
}

const firstViewScript = (row: string): string => `globalThis.firstView = new Promise((resolve) => {
  const found = {};
  const note = (name, at) => {
    found[name] ??= at;
    if ('paint' in found && 'usable' in found) resolve(found);
  };
  new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntriesByName('first-contentful-paint')) note('paint', startTime);
  }).observe({ type: 'paint', buffered: true });
  new MutationObserver(() => {
    if (document.querySelector('${row}')) requestAnimationFrame(() => note('usable', performance.now()));
  }).observe(document, { childList: true, subtree: true });
})`;

/** How long after each key of some searches the list has changed. */
async function filter(bench: ConsoleBench): Promise<number[]> {
  const page = await bench.newPage();
  await page.goto(bench.address());
  await page.locator('tbody tr[aria-rowindex]').first().waitFor();
  const search = page.getByRole('searchbox', { name: 'Search' });
  await search.focus();
  await page.evaluate(`void (() => {${filterScript}})()`);
  for (let round = 0; round < searches; round += 1) {
    for (const key of keys) {
      await search.press(key);
      await page.evaluate('globalThis.filtered');
    }
  }
  const delays = z.array(z.number()).parse(await page.evaluate('globalThis.delays'));
  await page.context().close();
  return delays;
}

/** A key that leaves the number of deployments as it was is not counted. */
const filterScript = `
  globalThis.delays = [];
  const status = document.querySelector('.deployments-count');
  let keydownAt;
  let done;
  addEventListener('input', ({ timeStamp }) => {
    keydownAt = timeStamp;
    globalThis.filtered = new Promise((resolve) => {
      done = resolve;
      setTimeout(resolve, 1_000);
    });
  }, true);
  new MutationObserver(() => {
    const at = keydownAt;
    keydownAt = undefined;
    if (at !== undefined) requestAnimationFrame(() => done(delays.push(performance.now() - at)));
  }).observe(status, { childList: true, characterData: true, subtree: true });`;

/** The least that shows the list: its response from memory, and a paragraph for each name. */
async function startBareList(list: string): Promise<AsyncDisposable & { url: string }> {
  const page = `<!doctype html><title>Deployments</title><h1>Deployments</h1><script type="module">
    const { resources } = await (await fetch('/list')).json();
    document.body.append(...resources.map(({ name }) => {
      const line = document.createElement('p');
      line.textContent = name;
      return line;
    }));
  </script>`;
  const server = createServer(({ url }, response) => {
    response.setHeader('content-type', url === '/list' ? 'application/json' : 'text/html; charset=utf-8');
    response.end(url === '/list' ? list : page);
  });
  return {
    url: `http://127.0.0.1:${await listening(server)}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
