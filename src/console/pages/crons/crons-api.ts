import * as z from 'zod';
import { cronRun, cronSchema, type Cron, type CronCreate, type CronRun } from '../../../contract/agent/cron.ts';
import { agentPath } from '../../api/agent-access.ts';
import { call, send } from '../../api/http.ts';

const pathOf = (deploymentId: string, ...parts: readonly string[]): string =>
  agentPath(deploymentId, 'runs', 'crons', ...parts);

export const listCrons = (id: string, page: { limit: number; offset: number }, signal: AbortSignal): Promise<Cron[]> =>
  call('POST', pathOf(id, 'search'), z.array(cronSchema), { body: page, signal });

const withNextRuns = z.looseObject({ ...cronSchema.shape, next_run_dates: z.array(z.string()).optional() });

/** The next five times of a cron, and its last runs. */
export async function getCronTimes(
  id: string,
  cronId: string,
  signal: AbortSignal,
): Promise<{ next: readonly string[]; runs: readonly CronRun[] }> {
  const [cron, runs] = await Promise.all([
    call('GET', pathOf(id, cronId), withNextRuns, { signal }),
    call('GET', pathOf(id, cronId, 'runs'), z.array(cronRun), { query: { limit: 5 }, signal }),
  ]);
  return { next: cron.next_run_dates ?? [], runs };
}

export const createCron = (id: string, body: CronCreate): Promise<Cron> =>
  call('POST', pathOf(id), cronSchema, { body });

export const enableCron = (id: string, cronId: string, enabled: boolean): Promise<Cron> =>
  call('PATCH', pathOf(id, cronId), cronSchema, { body: { enabled } });

export const deleteCron = (id: string, cronId: string): Promise<unknown> => send('DELETE', pathOf(id, cronId));
