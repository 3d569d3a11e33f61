// The log of a revision in a browser: frames while 100,000 lines scroll, and from a printed line to the frame that shows it.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import type { CDPSession, Page } from 'playwright-core';
import * as z from 'zod';
import { Repository } from '../src/demo/repository.ts';
import type { ConsoleBench } from './console-service.ts';
import type { Measured } from './figure.ts';
import { interleave, median, quantile, sized, spread, type Contender } from './rounds.ts';

const root = join(import.meta.dirname, '..');
const lines = sized(100_000, 1_000);
const frames = sized(300, 20);
/** How far and how quickly a hand turns the wheel, in pixels and pixels per second. */
const wheel = { distance: sized(15_000, 500), speed: 3_000 };
const ticks = sized(50, 3);
const millis = z.array(z.number());

/** Frames of the log of a revision, and how soon its lines are shown. */
export async function consoleLog(bench: ConsoleBench): Promise<Measured[]> {
  return [...(await scrolling(bench)), await printing(bench)];
}

/** Frames of a scroll (ms): the longest but for a twentieth, and the mean work of the page's main thread. */
interface Frames {
  p95: number;
  work: number;
}

async function scrolling(bench: ConsoleBench): Promise<Measured[]> {
  const long = await bench.create('long-log', join(bench.git, 'none'), 'none');
  await writeLines(bench.databaseUrl, long.revisionId);
  const page = await bench.newPage();
  await page.goto(bench.address(`deployments/${long.id}/revisions/${long.revisionId}?log=build`));
  // The end of the log is followed.
  await page.getByText(`request ${lines - 1} took`).waitFor({ timeout: 120_000 });
  const bare = await bench.browser.newPage();
  await bare.setContent(`<!doctype html><div role="log" style="height: 600px; overflow: auto; font: 13px/20px monospace">
    ${'<div style="height: 20px">a line that is there from the start</div>'.repeat(2_000)}</div>`);
  const figures: Measured[] = [];
  for (const { name, what, scroll } of ways) {
    const contender = async (on: Page): Promise<Contender<Frames>> => {
      const session = await on.context().newCDPSession(on);
      await session.send('Performance.enable');
      return { round: () => watched(on, session, () => scroll(on, session)) };
    };
    const measured = await interleave(
      { ours: await contender(page), floor: await contender(bare) },
      { rounds: 3, warmups: 1 },
    );
    const notes = { ours: `${lines} lines, ${what}`, floor: 'the same on 2,000 lines that are all elements' };
    const of = (key: keyof Frames) => ({
      unit: 'ms',
      ours: median(measured.ours.map((each) => each[key])),
      floor: median(measured.floor.map((each) => each[key])),
      notes,
      spread: spread(measured.ours.map((each) => each[key])),
    });
    figures.push(
      { figure: `console-log-${name}-p95`, ...of('p95'), targets: [{ of: 'ours', most: 17 }] },
      { figure: `console-log-${name}-work`, ...of('work'), targets: [] },
    );
  }
  await Promise.all([page, bare].map((each) => each.context().close()));
  return figures;
}

const ways = [
  {
    name: 'jumps',
    what: `scrolled from end to end in ${frames} frames, several screens in each`,
    scroll: (page: Page) => page.evaluate(jumpScript),
  },
  {
    name: 'wheel',
    what: `scrolled by the wheel, ${wheel.speed} pixels per second`,
    scroll: async (page: Page, session: CDPSession) => {
      const log = page.getByRole('log');
      await log.evaluate((element) => element.scrollIntoView({ block: 'center' }));
      await log.evaluate((element) => void (element.scrollTop = 0));
      const { x, y, width, height } = (await log.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
      await session.send('Input.synthesizeScrollGesture', {
        x: x + width / 2,
        y: y + height / 2,
        yDistance: -wheel.distance,
        speed: wheel.speed,
        gestureSourceType: 'mouse',
      });
    },
  },
];

/** Scrolls an element from its start to its end. */
const jumpScript = `new Promise((resolve) => {
  const element = document.querySelector('[role=log]');
  const distance = element.scrollHeight / ${frames};
  let frame = 0;
  const step = () => {
    element.scrollTop = distance * frame++;
    if (frame > ${frames}) resolve();
    else requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})`;

async function watched(page: Page, session: CDPSession, scroll: () => Promise<unknown>): Promise<Frames> {
  await page.bringToFront();
  await page.evaluate(`
    globalThis.frames = [];
    globalThis.isWatched = true;
    let last = performance.now();
    const step = (now) => {
      globalThis.frames.push(now - last);
      last = now;
      if (globalThis.isWatched) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
    undefined`);
  const before = await busySeconds(session);
  await scroll();
  const busy = (await busySeconds(session)) - before;
  const taken = millis.parse(await page.evaluate(`globalThis.isWatched = false; globalThis.frames.slice(1)`));
  return { p95: quantile(taken, 0.95), work: (busy * 1000) / taken.length };
}

/** How long the tasks of the main thread took so far. */
async function busySeconds(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
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

async function printing(bench: ConsoleBench): Promise<Measured> {
  const repository = await Repository.fromExample(join(root, 'examples/echo-agent'), join(bench.git, 'echo-agent'));
  await writeFile(join(repository.folder, 'ticks.mjs'), tickScript);
  await repository.commit('Print the time');
  const printed = await bench.create('printed-lines', repository.folder, 'node ticks.mjs');
  const page = await bench.newPage();
  await page.goto(bench.address(`deployments/${printed.id}/revisions/${printed.revisionId}?log=build`));
  await page.getByRole('log').waitFor();
  const shown = millis.parse(await page.evaluate(delaysScript));
  await page.context().close();
  return {
    figure: 'console-line-to-pixel',
    unit: 'ms',
    ours: median(shown),
    notes: { ours: 'from a line that a build prints to the frame that shows it' },
    targets: [{ of: 'ours', most: 300 }],
    times: { ours: { p50: median(shown), p99: quantile(shown, 0.99) } },
    spread: spread(shown),
  };
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
