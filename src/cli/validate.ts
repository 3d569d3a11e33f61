import { isAbsolute, join, posix } from 'node:path';
import { domainProblems } from '../services/agent/webhooks/settings.ts';
import type { CaseFiles } from '../deploy/file/cases.ts';
import { defaultConfigPath, readDrafts } from '../deploy/file/deploy-file.ts';
import { type FileDraft, fieldProblem, type WrittenField } from '../deploy/file/draft.ts';
import { unprovenWarnings } from '../deploy/file/environments.ts';
import type { Inputs } from '../deploy/file/input-table.ts';
import type { DesiredDeployment } from '../deploy/file/desired.ts';
import { readDesired } from '../deploy/file/read-desired.ts';
import { isObject } from '../kit/json-object.ts';
import { isUuid } from '../kit/uuid.ts';
import { didYouMean } from '../kit/diagnostics/did-you-mean.ts';
import { readTextFile, workspaceCases } from '../host/workspace.ts';
import { readGraphConfig } from '../agent-folder/graph-config/read.ts';
import { fieldName, formatProblem, inOrder, problemOfFile, type Problem } from '../kit/diagnostics/problem.ts';
import { describeConversations, describeSeries } from '../deploy/words/costs.ts';
import { packSource } from '../kit/archive/pack.ts';
import { findMissingFiles, findUnrunnableGraphs } from './agent-files.ts';
import { packageProblems } from '../host/package-problems.ts';
import { exitCodes, type ExitCode, complain, onCommandLine } from './problems.ts';
import type { Terminal } from './terminal.ts';

/** The validated files and their problems. Warnings do not fail the command. */
export interface Validation {
  /** The files that were read, and the folders that would be uploaded. */
  files: string[];
  problems: Problem[];
  warnings: Problem[];
  /** The costs of smoke tests with several answers, and the differences that they can detect. */
  series?: { deployment: string | null; test: string; costs: string }[];
  /** The costs of trying conversations. */
  conversations?: { deployment: string | null; costs: string }[];
  /** Notes about parts of the files that have no effect. */
  notes?: readonly string[];
}

/**
 * Validates the deploy file, its graph configuration files below the working directory, and the folders that it
 * uploads.
 */
async function validate(inputs: Inputs): Promise<Validation> {
  const path = inputs['config']?.trim() || defaultConfigPath;
  const file = readTextFile(path);
  if (file.kind !== 'read') {
    const message = `there is no deploy file here: write one, or say with --config where it is`;
    const problem = file.kind === 'absent' ? problemOfFile(path, message) : file.problem;
    return { files: [], problems: [problem], warnings: [] };
  }
  const caseCounts = new Map<string, number>();
  const cases: CaseFiles = {
    ...workspaceCases,
    counted: (cases, count) => caseCounts.set(cases, count),
  };
  const read = readDesired({ inputs, file: { text: file.text, path }, cases });
  const drafts = readDrafts(file.text, path);
  const fileDrafts = drafts.ok ? drafts.drafts : [];
  const deploymentFiles = fileDrafts.map(filesOf);
  const graphConfigs = graphConfigPaths(deploymentFiles);
  const installable = graphConfigs.filter(
    ({ path, hasInstallCommand }) => !hasInstallCommand && readTextFile(path).kind === 'read',
  );
  const packages = packageProblems(installable.map(({ path, folder = '.' }) => ({ path, root: folder })));
  const validations = [
    ...graphConfigs.map(validateGraphConfig),
    { files: [], ...packages },
    ...(await Promise.all(uploadedFolders(deploymentFiles).map(validateFolder))),
  ];
  return {
    files: [
      path,
      ...[...caseCounts].map(([file, count]) => `${file} (${count} ${count === 1 ? 'case' : 'cases'})`),
      ...validations.flatMap(({ files }) => files),
    ],
    problems: [
      ...(read.ok ? [] : read.problems.map(onCommandLine)),
      ...validations.flatMap(({ problems }) => problems),
    ],
    warnings: [
      ...deploymentFiles.flatMap(unknownAssistants),
      ...unprovenWarnings(fileDrafts),
      ...(read.ok ? read.deployments.flatMap((each) => graderWarnings(path, each)) : []),
      ...validations.flatMap(({ warnings }) => warnings),
    ],
    series: read.ok ? read.deployments.flatMap(seriesOf) : [],
    conversations: read.ok ? read.deployments.flatMap(conversationsOf) : [],
    notes: read.ok ? read.deployments.flatMap(({ notes = [] }) => notes) : [],
  };
}

/** Warns about graders whose key is not set, and about smoke tests that only a model decides. */
const graderWarnings = (file: string, { smokeTests }: DesiredDeployment): Problem[] =>
  smokeTests.flatMap(({ name, expect }) => {
    const graded = expect.flatMap((each) => (each.kind === 'graded' ? [each] : []));
    const keys = new Set(graded.flatMap(({ grader: { key } }) => (key === undefined || process.env[key] ? [] : [key])));
    const deciding = graded.filter(({ decides }) => decides);
    const isAlone = deciding.length > 0 && expect.length - graded.length <= 1;
    const warn = (message: string): Problem => problemOfFile(file, message, 'smoke-tests');
    return [
      ...(keys.size > 0 ? [warn(`the key of the grader of smoke test ${name} is not set here`)] : []),
      ...(isAlone
        ? [warn(`a model alone decides smoke test ${name}: expect something beside it that needs no model`)]
        : []),
    ];
  });

const seriesOf = ({ desired, smokeTests }: DesiredDeployment): Validation['series'] & {} =>
  smokeTests.flatMap(({ name, series }) =>
    series ? [{ deployment: desired.name ?? null, test: name, costs: describeSeries(series) }] : [],
  );

const conversationsOf = ({ desired, conversations }: DesiredDeployment): Validation['conversations'] & {} =>
  conversations ? [{ deployment: desired.name ?? null, costs: describeConversations(conversations) }] : [];

/** Validates and prints the result; it needs no key and no address, and sends nothing. */
export async function reportValidation(inputs: Inputs, terminal: Terminal): Promise<ExitCode> {
  const { fine, ...result } = await printValidation(inputs, terminal);
  terminal.conclude({ fine, ...result });
  return fine ? exitCodes.passes : exitCodes.wrongUsage;
}

/** Validates, and prints each file and each problem. */
export async function printValidation(inputs: Inputs, terminal: Terminal) {
  const { files, problems, warnings, series = [], conversations = [], notes = [] } = await validate(inputs);
  for (const warning of warnings) terminal.complain(`${formatProblem(warning)} (warning)`);
  complain(terminal, problems);
  const fine = problems.length === 0;
  if (fine)
    for (const file of files) terminal.print(`${file}: fine${warningNote(countWarnings(file, { files, warnings }))}`);
  for (const { deployment, test, costs } of series) {
    terminal.print(`${deployment === null ? '' : `${deployment}, `}smoke test ${test}: ${costs}`);
  }
  for (const { deployment, costs } of conversations) {
    terminal.print(`${deployment === null ? '' : `${deployment}, `}conversations: ${costs}`);
  }
  for (const note of notes) terminal.print(`Note: ${note}`);
  return { fine, files, problems, warnings, series, conversations, notes };
}

/** Counts the warnings of a file. Those of files that were not read count for the first file, which refers to them. */
const countWarnings = (file: string, { files, warnings }: Pick<Validation, 'files' | 'warnings'>): number =>
  warnings.filter((warning) => (files.includes(warning.file) ? warning.file : files[0]) === file).length;

const warningNote = (warnings: number): string =>
  warnings === 0 ? '' : `, but for ${warnings} warning${warnings === 1 ? '' : 's'}`;

/** The files that a deployment refers to: its graph configuration, and the folder to upload. */
interface DeploymentFiles {
  graphConfig: string | undefined;
  folder: string | undefined;
  /** Whether the deployment has a build command. */
  hasBuildCommand: boolean;
  /** Whether the deployment has an install command, which may not need a lock file. */
  hasInstallCommand: boolean;
  /** The assistants of its smoke tests. `problem` creates a problem at the assistant's position. */
  assistants: { name: string; problem: (message: string, suggestion?: string) => Problem }[];
}

/** The files that a deployment refers to, even if the deploy file has other problems. */
function filesOf({ fields }: FileDraft): DeploymentFiles {
  const textOf = (field: string): string | undefined => {
    const value = fields.get(field)?.value;
    return typeof value === 'string' ? value.trim() || undefined : undefined;
  };
  return {
    graphConfig: textOf('graph-config-path'),
    folder: textOf('source-dir'),
    hasBuildCommand: fields.has('build-command'),
    hasInstallCommand: fields.has('install-command'),
    assistants: testedAssistants(fields.get('smoke-tests')),
  };
}

function testedAssistants(tests: WrittenField | undefined): DeploymentFiles['assistants'] {
  if (!tests || !Array.isArray(tests.value)) return [];
  return tests.value.flatMap((test: unknown, index) => {
    const name = isObject(test) ? test['assistant'] : undefined;
    if (typeof name !== 'string') return [];
    const problem = (message: string, suggestion?: string): Problem =>
      fieldProblem(tests, ['smoke-tests', index, 'assistant'], message, suggestion);
    return [{ name: name.trim(), problem }];
  });
}

/** The path of a graph configuration in the working directory; undefined if it is elsewhere. */
function graphConfigPath({ graphConfig, folder }: DeploymentFiles): string | undefined {
  const path = graphConfig === undefined ? '.' : posix.normalize(graphConfig);
  if (isAbsolute(path) || path === '.' || path.startsWith('..')) return undefined;
  return folder === undefined ? path : join(folder, path);
}

/** Finds smoke tests whose assistant is neither a graph of the deployment nor a UUID: the agent would reject them. */
function unknownAssistants(deployment: DeploymentFiles): Problem[] {
  const path = graphConfigPath(deployment);
  const file = path === undefined ? undefined : readTextFile(path);
  if (path === undefined || file?.kind !== 'read') return [];
  const read = readGraphConfig(file.text, path);
  if (!read.ok) return [];
  const graphs = Object.keys(read.value.graphs);
  return deployment.assistants
    .filter(({ name }) => !isUuid(name) && !graphs.includes(name))
    .map(({ name, problem }) =>
      problem(
        `the \`assistant\` of a smoke test must be a graph of ${path} (${graphs.join(', ')}) or the uuid of an assistant`,
        didYouMean(name, graphs),
      ),
    );
}

/** A graph configuration file, and the folder that it is uploaded with, if any. */
interface GraphConfigPath extends Pick<DeploymentFiles, 'folder' | 'hasBuildCommand' | 'hasInstallCommand'> {
  path: string;
}

/** The graph configuration files without duplicates. */
function graphConfigPaths(named: readonly DeploymentFiles[]): GraphConfigPath[] {
  const byPath = new Map<string, GraphConfigPath>();
  for (const deployment of named) {
    const { folder, hasBuildCommand, hasInstallCommand } = deployment;
    const path = graphConfigPath(deployment);
    if (path === undefined) continue;
    const other = byPath.get(path);
    const commands = {
      hasBuildCommand: hasBuildCommand || other?.hasBuildCommand === true,
      hasInstallCommand: hasInstallCommand && other?.hasInstallCommand !== false,
    };
    byPath.set(path, { path, folder, ...commands });
  }
  return [...byPath.values()];
}

/** The folders to upload, without duplicates, each with its graph configuration. */
function uploadedFolders(named: readonly DeploymentFiles[]): { folder: string; graphConfig: string | undefined }[] {
  const found = named.flatMap(({ folder, graphConfig }) => (folder === undefined ? [] : [{ folder, graphConfig }]));
  return [...new Map(found.map((each) => [JSON.stringify(each), each])).values()];
}

/** Packs a folder as an upload does, and discards the result. */
async function validateFolder({
  folder,
  graphConfig,
}: ReturnType<typeof uploadedFolders>[number]): Promise<Validation> {
  const packed = await packSource({ folder, graphConfigPath: graphConfig });
  if (!packed.ok) return { files: [], problems: packed.problems, warnings: [] };
  const { files, size, digest } = packed.source;
  const description = `${folder} (${files} ${files === 1 ? 'file' : 'files'}, ${size.toLocaleString('en')} bytes packed, ${digest})`;
  return { files: [description], problems: [], warnings: [] };
}

/** Validates a graph configuration file. A missing one is only a warning, because it may be in another repository. */
function validateGraphConfig({ path, folder, hasBuildCommand }: GraphConfigPath): Validation {
  const file = readTextFile(path);
  // Packing reports a file that is missing in an uploaded folder.
  if (file.kind === 'absent' && folder !== undefined) return { files: [], problems: [], warnings: [] };
  if (file.kind === 'absent') {
    const message =
      'this graph configuration file does not exist here, so it was not checked: that is right only if it is in another repository';
    return { files: [], problems: [], warnings: [problemOfFile(path, message)] };
  }
  if (file.kind === 'unreadable') return { files: [path], problems: [file.problem], warnings: [] };
  const read = readGraphConfig(file.text, path);
  if (!read.ok) return { files: [path], problems: read.problems, warnings: [] };
  const domainWarnings = domainProblems(read.value.webhooks?.url?.allowed_domains ?? []).map(
    ({ path: at, message }): Problem => ({ file: path, ...read.placeOf(at), field: fieldName(at), message }),
  );
  const missing = findMissingFiles({ ...read, root: folder ?? '.', hasBuildCommand });
  // These are only warnings, because the public agent server may support what ours refuses.
  const warnings = inOrder([
    ...read.warnings,
    ...read.refused,
    ...read.imageOnly,
    ...findUnrunnableGraphs(read),
    ...domainWarnings,
    ...missing.warnings,
  ]);
  return { files: [path], problems: inOrder(missing.problems), warnings };
}
