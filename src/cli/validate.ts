import { isAbsolute, join, posix } from 'node:path';
import { domainProblems } from '../services/agent/webhooks/settings.ts';
import type { CaseFiles } from '../deploy/file/cases.ts';
import { defaultConfigPath, readDrafts } from '../deploy/file/deploy-file.ts';
import { fieldProblem, type WrittenField } from '../deploy/file/draft.ts';
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
import { absentFiles, foreignGraphs } from './agent-files.ts';
import { packageProblems } from '../host/package-problems.ts';
import { exitCodes, type ExitCode, complain, onCommandLine } from './problems.ts';
import type { Terminal } from './terminal.ts';

/** What was read, and what is wrong with it. Warnings stop nothing. */
export interface Validation {
  /** Files, and folders that would be uploaded. */
  files: string[];
  problems: Problem[];
  warnings: Problem[];
  /** What the smoke tests of several answers cost and find. */
  series?: { deployment: string | null; test: string; costs: string }[];
  /** What the conversations cost that are tried. */
  conversations?: { deployment: string | null; costs: string }[];
  /** What of the files is not done. */
  notes?: readonly string[];
}

/**
 * Reads the deploy file, the graph configuration files that it names where they lie below the working directory, and
 * the folders that it uploads, as an upload would.
 */
async function validate(inputs: Inputs): Promise<Validation> {
  const path = inputs['config']?.trim() || defaultConfigPath;
  const file = readTextFile(path);
  if (file.kind !== 'read') {
    const message = `there is no deploy file here: write one, or say with --config where it is`;
    const problem = file.kind === 'absent' ? problemOfFile(path, message) : file.problem;
    return { files: [], problems: [problem], warnings: [] };
  }
  const counts = new Map<string, number>();
  const cases: CaseFiles = {
    ...workspaceCases,
    counted: (named, count) => counts.set(named, count),
  };
  const read = readDesired({ inputs, file: { text: file.text, path }, cases });
  const named = readDeploymentFiles(file.text, path);
  const graphConfigs = graphConfigPaths(named);
  const installed = graphConfigs.filter(({ path, installs }) => !installs && readTextFile(path).kind === 'read');
  const packages = packageProblems(installed.map(({ path, folder = '.' }) => ({ path, root: folder })));
  const each = [
    ...graphConfigs.map(validateGraphConfig),
    { files: [], ...packages },
    ...(await Promise.all(folders(named).map(validateFolder))),
  ];
  return {
    files: [
      path,
      ...[...counts].map(([file, count]) => `${file} (${count} ${count === 1 ? 'case' : 'cases'})`),
      ...each.flatMap(({ files }) => files),
    ],
    problems: [...(read.ok ? [] : read.problems.map(onCommandLine)), ...each.flatMap(({ problems }) => problems)],
    warnings: [
      ...named.flatMap(unknownAssistants),
      ...(read.ok ? read.deployments.flatMap((each) => graderWarnings(path, each)) : []),
      ...each.flatMap(({ warnings }) => warnings),
    ],
    series: read.ok ? read.deployments.flatMap(seriesOf) : [],
    conversations: read.ok ? read.deployments.flatMap(conversationsOf) : [],
    notes: read.ok ? read.deployments.flatMap(({ notes = [] }) => notes) : [],
  };
}

/** Judges whose key is not there, which prove nothing, and judges that decide alone. */
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
  const { files, problems, warnings, series = [], conversations = [], notes = [] } = await validate(inputs);
  for (const warning of warnings) terminal.complain(`${formatProblem(warning)} (warning)`);
  complain(terminal, problems);
  const fine = problems.length === 0;
  if (fine) for (const file of files) terminal.print(`${file}: fine${butFor(countOf(file, { files, warnings }))}`);
  for (const { deployment, test, costs } of series) {
    terminal.print(`${deployment === null ? '' : `${deployment}, `}smoke test ${test}: ${costs}`);
  }
  for (const { deployment, costs } of conversations) {
    terminal.print(`${deployment === null ? '' : `${deployment}, `}conversations: ${costs}`);
  }
  for (const note of notes) terminal.print(`Note: ${note}`);
  terminal.conclude({ fine, files, problems, warnings, series, conversations, notes });
  return fine ? exitCodes.passes : exitCodes.wrongUsage;
}

/** How many warnings are of a file; those of files that were not read are of the first, which names them. */
const countOf = (file: string, { files, warnings }: Pick<Validation, 'files' | 'warnings'>): number =>
  warnings.filter((warning) => (files.includes(warning.file) ? warning.file : files[0]) === file).length;

const butFor = (warnings: number): string =>
  warnings === 0 ? '' : `, but for ${warnings} warning${warnings === 1 ? '' : 's'}`;

/** What a deployment names: a graph configuration, and the folder that it lies in where that is uploaded. */
interface DeploymentFiles {
  graphConfig: string | undefined;
  folder: string | undefined;
  /** Whether it has a build command. */
  isBuilt: boolean;
  /** Whether it has an install command, which may use no lock file. */
  installs: boolean;
  /** The assistants of its smoke tests, and a problem of each. */
  assistants: { name: string; problem: (message: string, suggestion?: string) => Problem }[];
}

/** What the deployments name, however much else is wrong with the file. */
function readDeploymentFiles(text: string, path: string): DeploymentFiles[] {
  const drafts = readDrafts(text, path);
  if (!drafts.ok) return [];
  return drafts.drafts.map(({ fields }) => {
    const textOf = (field: string): string | undefined => {
      const value = fields.get(field)?.value;
      return typeof value === 'string' ? value.trim() || undefined : undefined;
    };
    return {
      graphConfig: textOf('graph-config-path'),
      folder: textOf('source-dir'),
      isBuilt: fields.has('build-command'),
      installs: fields.has('install-command'),
      assistants: testedAssistants(fields.get('smoke-tests')),
    };
  });
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

/** Where a graph configuration lies in the working directory; undefined if it lies elsewhere. */
function graphConfigPath({ graphConfig, folder }: DeploymentFiles): string | undefined {
  const within = graphConfig === undefined ? '.' : posix.normalize(graphConfig);
  if (isAbsolute(within) || within === '.' || within.startsWith('..')) return undefined;
  return folder === undefined ? within : join(folder, within);
}

/** Smoke tests of assistants that are neither graphs of the deployment nor uuids: the agent would refuse them. */
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

/** A graph configuration file, and the folder it is uploaded with where it is. */
interface GraphConfigPath extends Pick<DeploymentFiles, 'folder' | 'isBuilt' | 'installs'> {
  path: string;
}

/** The graph configuration files, each once. */
function graphConfigPaths(named: readonly DeploymentFiles[]): GraphConfigPath[] {
  const found = new Map<string, GraphConfigPath>();
  for (const deployment of named) {
    const { folder, isBuilt, installs } = deployment;
    const path = graphConfigPath(deployment);
    if (path === undefined) continue;
    const other = found.get(path);
    const ways = { isBuilt: isBuilt || other?.isBuilt === true, installs: installs && other?.installs !== false };
    found.set(path, { path, folder, ...ways });
  }
  return [...found.values()];
}

/** The folders that are uploaded, each once with each graph configuration in it. */
function folders(named: readonly DeploymentFiles[]): { folder: string; graphConfig: string | undefined }[] {
  const found = named.flatMap(({ folder, graphConfig }) => (folder === undefined ? [] : [{ folder, graphConfig }]));
  return [...new Map(found.map((each) => [JSON.stringify(each), each])).values()];
}

/** Packs a folder as an upload would, and keeps nothing of it. */
async function validateFolder({ folder, graphConfig }: ReturnType<typeof folders>[number]): Promise<Validation> {
  const packed = await packSource({ folder, graphConfigPath: graphConfig });
  if (!packed.ok) return { files: [], problems: packed.problems, warnings: [] };
  const { files, size, digest } = packed.source;
  const reported = `${folder} (${files} ${files === 1 ? 'file' : 'files'}, ${size.toLocaleString('en')} bytes packed, ${digest})`;
  return { files: [reported], problems: [], warnings: [] };
}

/** A missing file may belong to another repository, or be made later: that is only a warning. */
function validateGraphConfig({ path, folder, isBuilt }: GraphConfigPath): Validation {
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
  const unreachable = domainProblems(read.value.webhooks?.url?.allowed_domains ?? []).map(
    ({ path: at, message }): Problem => ({ file: path, ...read.placeOf(at), field: fieldName(at), message }),
  );
  const absent = absentFiles({ ...read, root: folder ?? '.', isBuilt });
  // What an agent server of ours refuses, a public one may offer.
  const warnings = inOrder([
    ...read.warnings,
    ...read.refused,
    ...read.imageOnly,
    ...foreignGraphs(read),
    ...unreachable,
    ...absent.warnings,
  ]);
  return { files: [path], problems: inOrder(absent.problems), warnings };
}
