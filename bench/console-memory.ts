// The memory of a page that follows a log for hours: as many lines as an agent writes in them, as quickly as the page
// takes them.
import { Client } from 'pg';
import type { CDPSession, Page } from 'playwright-core';
import type { ConsoleBench, Created } from './console-service.ts';
import type { Measured } from './figure.ts';
import { sized } from './rounds.ts';

/** 20 lines per second. */
const hour = sized(72_000, 600);
/**
 * The page keeps 200,000 lines, and drops 20,000 at once where it has more: here both counts are 180,000 and 20,000 for
 * each drop after the first.
 */
const whenFull = sized(240_000, 900);
const atEnd = sized(400_000, 1_200);
const inOneStatement = 1_000;
/** Lines that are written before the page has shown those before them. */
const ahead = sized(10_000, 300);

/** The heap of the page of a live agent's log, without garbage: at the start, after an hour, and once the page drops the oldest lines. */
export async function consoleMemory(bench: ConsoleBench, { id, revisionId }: Created): Promise<Measured[]> {
  await using database = await openLog(bench.databaseUrl, revisionId);
  const page = await bench.newPage();
  await page.goto(bench.address(`deployments/${id}/revisions/${revisionId}?log=deploy`));
  const session = await page.context().newCDPSession(page);
  const writeUntil = async (count: number): Promise<number> => {
    while (database.written() < count) {
      await database.write(Math.min(ahead, count - database.written()));
      await page.getByText(`line ${database.written()} `).last().waitFor({ timeout: 120_000 });
    }
    return heapOf(page, session);
  };
  const start = await writeUntil(1);
  const started = performance.now();
  const half = await writeUntil(hour / 2);
  const afterHour = await writeUntil(hour);
  const perSecond = (hour / (performance.now() - started)) * 1000;
  const full = await writeUntil(whenFull);
  const end = await writeUntil(atEnd);
  await page.context().close();
  return [
    {
      figure: 'console-log-memory',
      unit: 'MB',
      ours: afterHour,
      floor: start,
      notes: {
        ours: `the heap after an hour of 20 lines per second; ${half.toFixed(1)} MB after half of it; ${Math.round(perSecond)} lines per second were shown`,
        floor: 'after the first line',
      },
      targets: [],
    },
    {
      figure: 'console-log-memory-growth',
      unit: `times that after ${whenFull} lines`,
      ours: end / full,
      notes: { ours: `the heap after ${atEnd} lines, ${end.toFixed(1)} MB` },
      targets: [{ of: 'ours', most: 1.1 }],
    },
  ];
}

/** Megabytes of the page's heap without garbage. */
async function heapOf(page: Page, session: CDPSession): Promise<number> {
  // What waits for a frame is over then.
  await page.evaluate(`new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 200)))`);
  for (let round = 0; round < 3; round += 1) await session.send('HeapProfiler.collectGarbage');
  return (await session.send('Runtime.getHeapUsage')).usedSize / 1_000_000;
}

/** Writes lines into the log of an agent, as the service stores them: plain, structured, and long ones. */
async function openLog(url: string, revisionId: string) {
  const database = new Client(url);
  await database.connect();
  let written = 0;
  return {
    written: () => written,
    async write(count: number): Promise<void> {
      for (const end = written + count; written < end;) {
        const until = Math.min(end, written + inOneStatement);
        await database.query(
          `insert into control.log_lines (revision_id, kind, level, message, at)
           select $1, 'deploy', 'info', case
               when line % 20 = 0 then 'line ' || line || ' ' || repeat('a long text ', 40)
               when line % 5 = 0 then '{"level":30,"msg":"line ' || line || ' ","path":"/runs","ms":' || line % 977 || '}'
               else 'line ' || line || ' of a log, about as long as those that servers write for a request' end, now()
           from generate_series($2::int + 1, $3::int) as line order by line`,
          [revisionId, written, until],
        );
        written = until;
      }
    },
    [Symbol.asyncDispose]: () => database.end(),
  };
}
