import { posix } from 'node:path';
import { defaultConfigPath, readDrafts } from '../../src/config/deploy-file.ts';
import { fieldProblem } from '../../src/config/draft.ts';
import type { Problem } from '../../src/diagnostics/problem.ts';

/** The Landfall files of a pull request's commit. A missing file has no text. */
export interface ExaminedFiles {
  deployFile: string | undefined;
  graphConfigs: ReadonlyMap<string, string>;
  /** Files that are there and were not read. */
  unread: readonly Problem[];
}

/** The most graph configuration files read for one pull request: a file may name as many as it likes. */
const mostGraphConfigs = 20;

/** The graph configuration files that a deploy file names, each once, however much else is wrong with it. */
export function graphConfigPaths(deployFile: string): string[] {
  const drafts = readDrafts(deployFile, defaultConfigPath);
  if (!drafts.ok) return [];
  const written = drafts.drafts.map(({ fields }) => fields.get('graph-config-path')?.value);
  const paths = written.filter((each) => typeof each === 'string').map((each) => posix.normalize(each.trim()));
  const within = paths.filter((each) => each !== '.' && !/^(\/|\.\.(\/|$))|\\|[\p{Cc}]/u.test(each));
  return [...new Set(within)].slice(0, mostGraphConfigs);
}

/** A graph configuration file that is named and is not in the commit, at the line that names it. */
export function missingGraphConfigs({ deployFile, graphConfigs, unread }: ExaminedFiles): Problem[] {
  const drafts = deployFile === undefined ? undefined : readDrafts(deployFile, defaultConfigPath);
  if (!drafts?.ok) return [];
  return drafts.drafts.flatMap(({ fields }) => {
    const written = fields.get('graph-config-path');
    if (!written || typeof written.value !== 'string') return [];
    const path = posix.normalize(written.value.trim());
    if (graphConfigs.has(path) || unread.some(({ file }) => file === path)) return [];
    return [
      fieldProblem(
        written,
        ['graph-config-path'],
        'this commit has no such file: right only where the deployment is of another repository',
      ),
    ];
  });
}

/**
 * Which of the examined files a pull request changes.
 *
 * @param changed every path that it changes; undefined if the list is cut, which counts as all of them.
 * @param paths the graph configuration files that matter, those of the base and of the head.
 */
export function touchedFiles(changed: readonly string[] | undefined, paths: readonly string[]): string[] {
  const known = [defaultConfigPath, ...paths];
  return changed === undefined ? known : known.filter((path) => changed.includes(path));
}
