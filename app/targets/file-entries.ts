import { defaultConfigPath } from '../../src/deploy/file/deploy-file.ts';
import type { PushedDeployment } from '../../src/deploy/file/desired.ts';
import { readPushed, type FileDeployment } from '../../src/deploy/file/read-desired.ts';
import { formatProblem, type Problem } from '../../src/kit/diagnostics/problem.ts';
import { caseFilesOf, type CaseTexts } from './case-texts.ts';
import type { ListedDeployment } from './listed-deployments.ts';

/** The deploy file of the default branch, as far as it could be read. */
export interface DeployFile {
  entries: readonly FileDeployment[];
  /** What is wrong with the file as a whole, fit to show; then it names nothing. */
  notes: readonly string[];
  /** Why a file that is there could not be read, a clause without a full stop: then nothing is known of its rules. */
  unread?: string;
}

/** The text of a deploy file, and those of the files of cases that it names. */
export interface DeployFileTexts {
  text: string;
  cases?: CaseTexts;
}

/** A deployment of the file with the one at the service that it names, or why there is none. */
export interface FileEntry {
  /** As the file calls it. */
  label: string;
  /** Absent if the file has mistakes here: then `notes` lists them. */
  requested: PushedDeployment | undefined;
  notes: readonly string[];
  found: { ok: true; deployment: ListedDeployment } | { ok: false; why: string };
}

const maxProblems = 10;

/** Reads the file's text; one that is not there names nothing and has no mistake. */
export function readDeployFile(file: DeployFileTexts | undefined): DeployFile {
  if (file === undefined) return { entries: [], notes: [] };
  const read = readPushed({ text: file.text, path: defaultConfigPath }, caseFilesOf(file.cases ?? {}));
  return read.ok ? { entries: read.deployments, notes: [] } : { entries: [], notes: notesOf(read.problems) };
}

/** A file that is there and was not read, and why: a clause without a full stop. */
export const unreadDeployFile = (why: string): DeployFile => ({
  entries: [],
  notes: [`the deploy file was not read, so pushes are built as if it said nothing: ${why}`],
});

/** Finds each deployment of the file at the service: by its id where it has one, else by this exact name. */
export function findEntries(
  { entries }: DeployFile,
  deployments: readonly ListedDeployment[],
  areAll: boolean,
): readonly FileEntry[] {
  return entries.map(({ name, deploymentId, read }) => ({
    label: name ?? deploymentId ?? defaultConfigPath,
    requested: read.ok ? read.value : undefined,
    notes: read.ok ? [] : notesOf(read.problems),
    found: find({ name, deploymentId }, deployments, areAll),
  }));
}

function find(
  { name, deploymentId }: { name: string | undefined; deploymentId: string | undefined },
  deployments: readonly ListedDeployment[],
  areAll: boolean,
): FileEntry['found'] {
  const matching = deployments.filter((each) =>
    deploymentId === undefined ? each.name === name : each.id.toLowerCase() === deploymentId,
  );
  const [deployment, ...more] = matching;
  if (deployment && more.length === 0) return { ok: true, deployment };
  if (deployment) return { ok: false, why: 'the service has several deployments of this name: give its deployment-id' };
  if (deploymentId !== undefined) return { ok: false, why: 'the service has no deployment of this id' };
  return {
    ok: false,
    why: areAll
      ? 'the service has no deployment of this name: the Action, or `npx landfall deploy`, creates it from the file'
      : 'the service does not list its deployments: give its deployment-id',
  };
}

/** Formats problems and their effect on a push. */
function notesOf(problems: readonly Problem[]): string[] {
  const more = problems.length - maxProblems;
  return [
    'the deploy file has mistakes here, so pushes are built as if it said nothing',
    ...problems.slice(0, maxProblems).map(formatProblem),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
}
