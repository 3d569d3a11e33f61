// What the log of a revision costs in a browser: frames while many lines scroll, and the time from a line that a build
// prints to its pixel. The whole service as `npm run local` starts it, and Chromium without a window.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from 'pg';
import type { Page } from 'playwright-core';
import * as z from 'zod';
import { connectControlService } from '../src/client/control.ts';
import { removeIsolated } from '../src/control-service/isolation/isolation.ts';
import { launchChromium } from '../src/demo/chromium.ts';
import { startLocalService } from '../src/demo/processes.ts';
import { Repository } from '../src/demo/repository.ts';
import { benchFolder, startBenchPostgres } from './bench-postgres.ts';
import type { Measured } from './figure.ts';
import { median, quantile, sized, spread } from './rounds.ts';

const root = join(import.meta.dirname, '..');
const lines = sized(100_000, 1_000);
const frames = sized(600, 20);
const rounds = sized(3, 1);
const ticks = sized(50, 3);
const millis = z.array(z.number());

/** Frames of the log of a revision, and how soon its lines are shown. */
export async function consoleLogs(): Promise<Measured[]> {
  await using ending = new AsyncDisposableStack();
  const folder = ending.use(benchFolder());
  const postgres = ending.use(await startBenchPostgres(folder.path));
  const url = await postgres.database('console');
  const data = join(folder.path, 'data');
  ending.defer(() => removeIsolated(data));
  const git = join(folder.path, 'git');
  const repository = await Repository.ofExample(join(root, 'examples/echo-agent'), join(git, 'echo-agent'));
  await writeFile(join(repository.folder, 'ticks.mjs'), tickScript);
  await repository.commit('Print the time');
  const service = await startLocalService({ root, data, allowGit: git, env: { ...process.env, DATABASE_URL: url } });
  ending.defer(() => service.stop());
  const control = connectControlService({
    baseUrl: service.url,
    apiKey: service.apiKey,
    spelling: 'contract',
    userAgent: 'landfall-bench',
  });
  ending.defer(() => control.close());
  const create = async (name: string, source: string): Promise<{ path: string; revisionId: string }> => {
    const { id, latest_revision_id } = await control.createDeployment({
      name,
      source: 'github',
      source_config: { repo_url: pathToFileURL(source).href, install_command: 'node ticks.mjs' },
      source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
      secrets: [],
    });
    const revisionId = latest_revision_id ?? '';
    return { path: `deployments/${id}/revisions/${revisionId}?log=build`, revisionId };
  };

  const chromium = await launchChromium(folder.path);
  ending.defer(() => chromium.close());
  const page = await chromium.browser.newPage();
  const blank = await readFrames(page, 'document.documentElement');
  await page.goto(`${service.url}/console`);
  await page.getByLabel('API key').fill(service.apiKey);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();

  const long = await create('long-log', join(git, 'none'));
  await writeLines(url, long.revisionId);
  await page.goto(`${service.url}/console/${long.path}`);
  // The end of the log is followed.
  await page.getByText(`request ${lines - 1} took`).waitFor();
  const scrolled: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    scrolled.push(quantile(await readFrames(page, `document.querySelector('[role=log]')`), 0.95));
  }

  const printed = await create('printed-lines', repository.folder);
  await page.goto(`${service.url}/console/${printed.path}`);
  await page.getByRole('log').waitFor();
  const shown = millis.parse(await page.evaluate(delaysScript));
  return [
    {
      figure: 'console-log-frame-p95',
      unit: 'ms',
      ours: median(scrolled),
      floor: quantile(blank, 0.95),
      notes: { ours: `${lines} lines, scrolled from end to end in ${frames} frames`, floor: 'a page without content' },
      targets: [{ of: 'ours', most: 17 }],
      spread: spread(scrolled),
    },
    {
      figure: 'console-line-to-pixel',
      unit: 'ms',
      ours: median(shown),
      notes: { ours: 'from a line that a build prints to the frame that shows it' },
      targets: [{ of: 'ours', most: 300 }],
      spread: spread(shown),
    },
  ];
}

/** An install command that prints the time again and again, and fails: no agent is needed. */
const tickScript = `
  for (let tick = 0; tick < ${ticks + 20}; tick += 1) {
    console.log('tick ' + Date.now() + '.');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  process.exit(1);
`;

/** Reads how long after its printing each line was in a frame. */
const delaysScript = `new Promise((resolve) => {
  const met = new Set();
  const delays = [];
  let first;
  new MutationObserver(() => {
    for (const row of document.querySelectorAll('.log-text')) {
      const [, printed] = /tick (\\d+)\\./.exec(row.textContent) ?? [];
      if (printed === undefined || met.has(printed)) continue;
      met.add(printed);
      // Those that were printed before the page was open.
      first ??= Date.now();
      if (Number(printed) < first) continue;
      requestAnimationFrame(() => {
        delays.push(Date.now() - Number(printed));
        if (delays.length === ${ticks}) resolve(delays);
      });
    }
  }).observe(document.body, { childList: true, subtree: true, characterData: true });
})`;

/** How long each frame took while an element scrolls from its start to its end. */
async function readFrames(page: Page, element: string): Promise<number[]> {
  return millis.parse(
    await page.evaluate(`new Promise((resolve) => {
      const element = ${element};
      element.scrollTop = 0;
      const frames = [];
      let last = performance.now();
      const step = (now) => {
        frames.push(now - last);
        last = now;
        element.scrollTop = (element.scrollHeight / ${frames}) * frames.length;
        if (frames.length < ${frames}) requestAnimationFrame(step);
        else resolve(frames);
      };
      requestAnimationFrame(step);
    })`),
  );
}

/** Writes lines into a build log, as the service stores them. */
async function writeLines(url: string, revisionId: string): Promise<void> {
  const database = new Client(url);
  await database.connect();
  await database.query(
    `insert into control.log_lines (revision_id, kind, level, message, at)
     select $1, 'build', 'info', 'request ' || line || ' took ' || line % 977 || ' ms', now()
     from generate_series(0, $2::int - 1) as line order by line`,
    [revisionId, lines],
  );
  await database.end();
}
