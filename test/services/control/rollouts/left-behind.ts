import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { listProcesses, variableOf } from '../../../../src/services/control/compute/process-list.ts';

/** The process groups of a deployment's agents, with the revision of each. */
export function agentGroups(deploymentId: string): Map<number, string> {
  const groups = new Map<number, string>();
  for (const { pid, group } of listProcesses()) {
    if (variableOf(pid, 'LANDFALL_DEPLOYMENT_ID') !== deploymentId) continue;
    groups.set(group, variableOf(pid, 'LANDFALL_REVISION_ID') ?? '');
  }
  return groups;
}

/** The number of build processes below a folder. */
export const buildProcessesBelow = (dataDir: string): number =>
  listProcesses().filter(({ pid }) => variableOf(pid, 'LANDFALL_BUILD')?.startsWith(`${dataDir}/`)).length;

const listed = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);
const below = (folder: string): string[] =>
  listed(folder).flatMap((name) => listed(join(folder, name)).map((each) => `${name}/${each}`));

/**
 * Files in a data folder that nothing refers to.
 *
 * @param named the builds and uploads in the database: `builds/<id>`, `uploads/<deployment>/<name>`.
 */
export function strayFiles(dataDir: string, named: ReadonlySet<string>): string[] {
  const builds = listed(join(dataDir, 'builds'));
  return [
    ...builds.map((id) => `builds/${id}`).filter((path) => !named.has(path)),
    ...builds
      .flatMap((id) => ['tmp', 'stage', 'stage.own'].map((name) => `builds/${id}/${name}`))
      .filter((path) => existsSync(join(dataDir, path))),
    ...below(join(dataDir, 'uploads'))
      .map((path) => `uploads/${path}`)
      .filter((path) => !named.has(path)),
    ...below(join(dataDir, 'store'))
      .map((path) => `store/${path}`)
      .filter((path) => !existsSync(join(dataDir, path, 'entry.json'))),
    ...below(join(dataDir, 'mirrors')).flatMap((path) =>
      readdirSync(join(dataDir, 'mirrors', path), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.lock') || name.includes('tmp_'))
        .map((name) => `mirrors/${path}/${name}`),
    ),
  ];
}
