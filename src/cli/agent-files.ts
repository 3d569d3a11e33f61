import { statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { splitExportPath } from '../agent-folder/graph-config/export-path.ts';
import { graphLocations } from '../agent-folder/graph-config/graph-path.ts';
import { graphLanguage, isModuleName, checkRunnable, embedderOf } from '../agent-folder/graph-config/language.ts';
import type { GraphConfig } from '../agent-folder/graph-config/schema.ts';
import { fieldName, type FieldPath, type SourcePositions, type Problem } from '../kit/diagnostics/problem.ts';

/** A graph configuration that was read, and where the agent's code is looked for. */
export interface AgentFiles extends SourcePositions {
  value: GraphConfig;
  /** What is deployed whole: a folder from the working directory, in which `file` lies. */
  root: string;
  /** Whether a deployment of it has a build command, which may make files. */
  isBuilt: boolean;
}

/** Graphs that an agent server of ours does not start with, by what their files are called. */
export function foreignGraphs({ value, file, placeOf }: Pick<AgentFiles, 'value' | keyof SourcePositions>): Problem[] {
  return graphLocations(value).flatMap((place) => {
    const runnable = checkRunnable([place], { python: true });
    if (runnable.kind === 'runnable') return [];
    const path = ['graphs', place.graphId];
    return [{ file, ...placeOf(path), field: fieldName(path), message: runnable.reason.replace(/\.$/, '') }];
  });
}

/**
 * The files of the agent's code that the configuration names and that are not there, or that lie outside of what is
 * deployed. None is opened; nothing is looked for outside.
 */
export function absentFiles(read: AgentFiles): { problems: Problem[]; warnings: Problem[] } {
  const found: { problems: Problem[]; warnings: Problem[] } = { problems: [], warnings: [] };
  for (const { path, file } of filesNamed(read.value)) {
    const field = fieldName(path);
    const addTo = (list: Problem[], why: string): void => {
      list.push({ file: read.file, ...read.placeOf(path), field, message: `\`${field}\` ${why}: ${file}` });
    };
    const inFolder = join(dirname(read.file), file);
    const way = relative(read.root, inFolder);
    if (isAbsolute(file) || way === '..' || way.startsWith(`..${sep}`)) {
      addTo(found.problems, 'leads out of what is deployed');
    } else if (statSync(inFolder, { throwIfNoEntry: false })?.isFile() === true) {
      continue;
    } else if (read.isBuilt) {
      addTo(found.warnings, 'names a file that is not there, so its build has to make it');
    } else {
      addTo(found.problems, 'names a file that is not there');
    }
  }
  return found;
}

/** The files of the agent's code; a Python module's dotted name is none. */
function filesNamed({ graphs, http, auth, store, ui }: GraphConfig): { path: FieldPath; file: string }[] {
  const embedder = store?.index && embedderOf(store.index.embed);
  const named = [
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
  return named.filter(({ file }) => !isModuleName(file) && (graphLanguage(file) !== 'unknown' || /[\\/]/.test(file)));
}
