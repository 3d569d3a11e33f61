import { basename } from 'node:path';
import { withoutFullStop } from '../../contract/plain-text.ts';
import { buildFolder, readBuild } from '../builds/build-folder.ts';
import { damagedFile } from '../builds/build-files.ts';
import type { AgentSpec } from '../compute/compute.ts';
import { rebuild } from './agent-program.ts';
import { undertake, type Tools, type RolloutJob } from './rollout-job.ts';

/** The outcome of checking a build: `whole` needed nothing; `broken` has the reason, for a person, why it is still damaged. */
export type Repair = { kind: 'whole' | 'repaired' } | { kind: 'broken'; reason: string };

/**
 * Checks the build of a revision whose agent failed, and makes it again from the same source where files are damaged. With
 * an intact build the failure is the agent's own.
 */
export async function repairBuild(job: RolloutJob, tools: Tools): Promise<Repair> {
  const { revision, deployLog } = job;
  if (revision.build_folder === null) return { kind: 'whole' };
  const folder = buildFolder(tools.builds.dataDir, basename(revision.build_folder));
  const isThere = readBuild(folder.root) !== undefined;
  const path = isThere ? await damagedFile(folder) : undefined;
  if (isThere && path === undefined) return { kind: 'whole' };
  // A failed attempt leaves no build: the next one starts without it.
  const what = path === undefined ? 'it is gone' : `${JSON.stringify(path)} is not as it was built`;
  const damage = `The build on this machine is damaged (${what})`;
  deployLog.write('warning', `${damage}; making it again from the same source.`);
  const end = await rebuild(job, tools);
  if (end?.kind === 'built') return { kind: 'repaired' };
  const reason = end?.kind === 'failed' ? withoutFullStop(end.reason) : 'it was interrupted';
  return { kind: 'broken', reason: `${damage} and could not be made again: ${reason}` };
}

/** The same for a supervised agent. */
export async function repairLive(spec: AgentSpec, signal: AbortSignal, tools: Tools): Promise<Repair> {
  const { store, retrying } = tools;
  if (spec.program.kind !== 'build') return { kind: 'whole' };
  const deployment = await retrying(() => store.deployment(spec.deploymentId));
  const revision = await retrying(() => store.findRevision(spec.deploymentId, spec.revisionId));
  if (!deployment || !revision) return { kind: 'whole' };
  return repairBuild(undertake(deployment, revision, signal, tools), tools);
}
