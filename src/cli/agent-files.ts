import { statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { graphLocations, splitExportPath } from '../agent-folder/graph-config/graph-path.ts';
import { graphLanguage, isModuleName, checkRunnable, embedderOf } from '../agent-folder/graph-config/language.ts';
import type { GraphConfig } from '../agent-folder/graph-config/schema.ts';
import { fieldName, type FieldPath, type SourcePositions, type Problem } from '../kit/diagnostics/problem.ts';

/** A parsed graph configuration, and where to look for the agent's code. */
export interface AgentFiles extends SourcePositions {
  value: GraphConfig;
  /** The folder that is deployed, relative to the working directory. It contains `file`. */
  root: string;
  /** Whether a deployment has a build command, which may create files. */
  hasBuildCommand: boolean;
}

/** Finds graphs that our agent server can't run, by the names of their files. */
export function findUnrunnableGraphs({
  value,
  file,
  placeOf,
}: Pick<AgentFiles, 'value' | keyof SourcePositions>): Problem[] {
  return graphLocations(value).flatMap((place) => {
    const runnable = checkRunnable([place], { python: true });
    if (runnable.kind === 'runnable') return [];
    const path = ['graphs', place.graphId];
    return [{ file, ...placeOf(path), field: fieldName(path), message: runnable.reason.replace(/\.$/, '') }];
  });
}

/**
 * Finds referenced files of the agent's code that do not exist or lie outside of the deployed folder. Opens no file,
 * and does not look outside of the folder.
 */
export function findMissingFiles(read: AgentFiles): { problems: Problem[]; warnings: Problem[] } {
  const found: { problems: Problem[]; warnings: Problem[] } = { problems: [], warnings: [] };
  for (const { path, file } of referencedFiles(read.value)) {
    const field = fieldName(path);
    const add = (list: Problem[], problem: string): void => {
      list.push({ file: read.file, ...read.placeOf(path), field, message: `\`${field}\` ${problem}: ${file}` });
    };
    const filePath = join(dirname(read.file), file);
    const relativePath = relative(read.root, filePath);
    if (isAbsolute(file) || relativePath === '..' || relativePath.startsWith(`..${sep}`)) {
      add(found.problems, 'leads out of what is deployed');
    } else if (statSync(filePath, { throwIfNoEntry: false })?.isFile() === true) {
      continue;
    } else if (read.hasBuildCommand) {
      add(found.warnings, 'names a file that is not there, so its build has to make it');
    } else {
      add(found.problems, 'names a file that is not there');
    }
  }
  return found;
}

/** The files of the agent's code that the configuration names. Dotted names of Python modules are left out. */
function referencedFiles({ graphs, http, auth, store, ui }: GraphConfig): { path: FieldPath; file: string }[] {
  const embedder = store?.index && embedderOf(store.index.embed);
  const references = [
    ...graphLocations({ graphs }).map(({ graphId, file }) => ({
      path: typeof graphs[graphId] === 'string' ? ['graphs', graphId] : ['graphs', graphId, 'path'],
      file,
    })),
    ...Object.entries(ui ?? {}).map(([name, file]) => ({ path: ['ui', name], file })),
    ...[
      { path: ['http', 'app'], named: http?.app },
      { path: ['auth', 'path'], named: auth?.path },
    ].flatMap(({ path, named: text }) => (text === undefined ? [] : [{ path, file: splitExportPath(text).file }])),
    ...(embedder?.kind === 'export' ? [{ path: ['store', 'index', 'embed'], file: embedder.file }] : []),
  ];
  return references.filter(
    ({ file }) => !isModuleName(file) && (graphLanguage(file) !== 'unknown' || /[\\/]/.test(file)),
  );
}
