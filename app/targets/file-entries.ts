import { defaultConfigPath } from '../../src/deploy/file/deploy-file.ts';
import type { PushedDeployment } from '../../src/deploy/file/desired.ts';
import { readPushed, type FileDeployment } from '../../src/deploy/file/read-desired.ts';
import { formatProblem, type Problem } from '../../src/kit/diagnostics/problem.ts';
import { caseFilesOf, type CaseTexts } from './case-texts.ts';
import type { ListedDeployment } from './listed-deployments.ts';

/** The parsed deploy file of the default branch. */
export interface DeployFile {
  entries: readonly FileDeployment[];
  /** The problems of the whole file, safe to show. If there are any, `entries` is empty. */
  notes: readonly string[];
  /** Why an existing file could not be read, as a clause without a full stop. Then its rules are unknown. */
  unread?: string;
  /** The file speaks of admins, whether or not they could be read; not known of a file that was not read. */
  hasAdmins?: true;
  /** The same of previews. */
  hasPreviews?: true;
  /** The same of freeze windows and holds of environments. */
  hasGates?: true;
}

/** The texts of a deploy file and its case files. */
export interface DeployFileTexts {
  text: string;
  cases?: CaseTexts;
}

/** A deployment of the file with its counterpart at the service, or why there is none. */
export interface FileEntry {
  /** Its name in the file. */
  label: string;
  /** Absent if the entry has problems, which `notes` lists. */
  requested: PushedDeployment | undefined;
  notes: readonly string[];
  found: { ok: true; deployment: ListedDeployment } | { ok: false; why: string };
}

const maxProblems = 10;

/** Parses the file's text. A missing file has no entries and no problems. */
export function readDeployFile(file: DeployFileTexts | undefined): DeployFile {
  if (file === undefined) return { entries: [], notes: [] };
  const read = readPushed({ text: file.text, path: defaultConfigPath }, caseFilesOf(file.cases ?? {}));
  const speaksOf: Pick<DeployFile, 'hasAdmins' | 'hasGates' | 'hasPreviews'> = {
    ...(/\badmins\b/.test(file.text) ? { hasAdmins: true } : {}),
    ...(/\bpreview\b/.test(file.text) ? { hasPreviews: true } : {}),
    ...(/\bfreeze\b|\bhold["']?\s*:/.test(file.text) ? { hasGates: true } : {}),
  };
  if (!read.ok) return { entries: [], notes: notesOf(read.problems), ...speaksOf };
  return { entries: read.deployments, notes: [], ...speaksOf };
}

/** A file that exists but was not read. @param why a clause without a full stop. */
export const unreadDeployFile = (why: string): DeployFile => ({
  entries: [],
  hasAdmins: true,
  hasGates: true,
  notes: [`the deploy file was not read, so that it is unknown what it says of pushes: ${why}`],
});

/** The mistakes in a file for which a pull request has no previews, where it speaks of any; fit to show. */
export function mistakesInPreviews({ entries, notes, unread, hasPreviews }: DeployFile): string[] {
  if (!hasPreviews || unread !== undefined) return [];
  const problems = entries.flatMap(({ read }) => (read.ok ? [] : read.problems));
  const [, ...ofFile] = notes;
  return [...ofFile, ...problems.slice(0, maxProblems).map(formatProblem)];
}

/** Finds each deployment of the file at the service: by its id if it has one, else by its exact name. */
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
