import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { seeProcesses, variableOf } from '../../../src/control-service/compute/seen-processes.ts';

/** The process groups that processes of a deployment's agents are in, with the revision that each is of. */
export function agentGroups(deploymentId: string): Map<number, string> {
  const groups = new Map<number, string>();
  for (const { pid, group } of seeProcesses()) {
    if (variableOf(pid, 'LANDFALL_DEPLOYMENT_ID') !== deploymentId) continue;
    groups.set(group, variableOf(pid, 'LANDFALL_REVISION_ID') ?? '');
  }
  return groups;
}

/** How many processes of builds below a folder run. */
export const buildProcessesBelow = (dataDir: string): number =>
  seeProcesses().filter(({ pid }) => variableOf(pid, 'LANDFALL_BUILD')?.startsWith(`${dataDir}/`)).length;

const listed = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);
const below = (folder: string): string[] =>
  listed(folder).flatMap((name) => listed(join(folder, name)).map((each) => `${name}/${each}`));

/**
 * What lies in a data folder that nothing names.
 *
 * @param named the builds and uploads that the database names: `builds/<id>`, `uploads/<deployment>/<name>`.
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
