import { HubError, InstallationPaused, type CheckContent, type DeploymentContent } from '../github/hub.ts';
import type { Report } from '../work/report.ts';
import type { World } from '../world.ts';
import { localReportLocks, type ReportLocks } from './report-locks.ts';

/** What telling needs of the world. */
export type TellingWorld = Pick<World, 'clock' | 'store' | 'hub' | 'log' | 'random' | 'step'> & {
  /** Where several processes tell, locks that they share; within one process it does without. */
  reportLocks?: ReportLocks | undefined;
};

/** Between two writes of a check that stays as it was but for its words (ms): GitHub counts every one. */
export const heartbeatMs = 15_000;

/** After a failure that passes by itself: how long until the next attempt at least (ms). */
const betweenAttemptsMs = 15_000;

/** When somebody else tells the report: how long until it is looked at again (ms). */
const busyMs = 5_000;

/**
 * Brings GitHub in line with what is wanted of a report. It may be killed at any step and run again, in another process
 * at the same time: the check run or deployment is made once.
 *
 * @returns when to call again (ms since the epoch), where there is something left to do
 * @throws HubError where GitHub refuses and will go on to, for example because the repository is gone
 */
export async function tellReport(id: string, world: TellingWorld): Promise<{ again?: number }> {
  const locks = world.reportLocks ?? locksWithin(world);
  const told = await locks.exclusively(id, () => tellOnce(id, world));
  return told ? told.value : { again: world.clock.now() + busyMs };
}

const withinProcess = new WeakMap<TellingWorld, ReportLocks>();

function locksWithin(world: TellingWorld): ReportLocks {
  const locks = withinProcess.get(world) ?? localReportLocks();
  withinProcess.set(world, locks);
  return locks;
}

async function tellOnce(id: string, world: TellingWorld): Promise<{ again?: number }> {
  const { clock, store, random, log } = world;
  const report = await store.report(id);
  if (!report || report.toldVersion >= report.version) return {};
  const due = dueAt(report);
  if (due > clock.now()) return { again: due };
  try {
    const told = await tell(report, world);
    if (report.kind === 'check') await world.step?.('check-written');
    await store.told(id, { ...told, version: report.version, at: clock.now() });
  } catch (error) {
    if (error instanceof InstallationPaused) return { again: Math.max(error.until, clock.now() + 1) };
    if (!(error instanceof HubError) || !passes(error)) throw error;
    log(`GitHub was not told of ${report.name} yet: ${error.message}`, { report: id });
    return { again: clock.now() + Math.round(betweenAttemptsMs * (1 + random())) };
  }
  // Something newer may have been stored while this was told, by somebody whose job found it busy.
  const now = await store.report(id);
  return now && now.toldVersion < now.version ? { again: Math.max(dueAt(now), clock.now()) } : {};
}

/** Whether a failure passes by itself: no answer, or a server in trouble. A refusal stays one. */
const passes = ({ status }: HubError): boolean => status === undefined || status >= 500;

/** When a report may be told (ms since the epoch): an end and a change of state at once, other words not too often. */
export function dueAt({ wanted, told, toldAt }: Pick<Report, 'wanted' | 'told' | 'toldAt'>): number {
  if (wanted.kind === 'deployment' || wanted.content.status === 'completed') return 0;
  return told?.state === wanted.content.status && toldAt !== undefined ? toldAt + heartbeatMs : 0;
}

function tell(report: Report, world: TellingWorld): Promise<Pick<Report, 'githubId' | 'told'>> {
  const { wanted } = report;
  return wanted.kind === 'check'
    ? tellCheck(report, wanted.content, world.hub)
    : tellDeployment(report, wanted.content, world);
}

async function tellCheck(
  { id, repository, headSha, name, githubId, told }: Report,
  content: CheckContent,
  hub: World['hub'],
): Promise<Pick<Report, 'githubId' | 'told'>> {
  const { annotations = [], ...rest } = content;
  // All were sent: asking GitHub how many it has is not needed any more.
  const left = githubId !== undefined && (told?.annotations ?? 0) >= annotations.length ? [] : annotations;
  const at = { repository, headSha, name, externalId: id };
  const written = await hub.writeCheck(at, githubId, left.length > 0 ? { ...rest, annotations: left } : rest);
  return { githubId: written, told: { annotations: annotations.length, state: content.status } };
}

async function tellDeployment(
  { id, repository, headSha, githubId, told, toldVersion }: Report,
  content: DeploymentContent,
  { hub, store, clock }: TellingWorld,
): Promise<Pick<Report, 'githubId' | 'told'>> {
  const { state } = content;
  if (githubId === undefined && told === undefined) {
    // What another took the place of before anybody heard of it needs no word.
    if (state === 'inactive') return { told: { state } };
    // From now on it may be there, whatever becomes of the answer: it must not be left without an end.
    await store.told(id, { version: toldVersion, at: clock.now(), told: { state: 'asked for' } });
  }
  const at = { repository, commit: headSha, externalId: id };
  const made = githubId ?? (await hub.makeDeployment(at, content));
  await hub.writeDeploymentStatus(at, made, content);
  return { githubId: made, told: { state } };
}
