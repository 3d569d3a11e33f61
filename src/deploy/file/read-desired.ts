import { didYouMean } from '../../kit/diagnostics/did-you-mean.ts';
import { quoted } from '../../kit/diagnostics/format-issue.ts';
import { inOrder, type Problem } from '../../kit/diagnostics/problem.ts';
import { expandCases, type CaseFiles } from './cases.ts';
import { defaultConfigPath, readDrafts } from './deploy-file.ts';
import type { DesiredDeployment, Named, PushedDeployment } from './desired.ts';
import { fieldsOfBuild } from './environments.ts';
import { overridden, type Draft, type FileDraft, type WrittenField, fieldProblem, identityOf } from './draft.ts';
import type { Inputs } from './input-table.ts';
import { inputProblem, inputsFile, inputText, readInputFields } from './inputs.ts';
import { readRequestedDraft, readDesiredDraft, type RequestedDeployment, readPushedDraft } from './read-draft.ts';
import type { Environment } from './secret-names.ts';

/** All user input, from any entry point. */
export interface RequestInput {
  /**
   * Kebab-case input names; those that are no fields of a deployment are passed over, but for `config` and
   * `deployment`.
   */
  inputs: Inputs;
  /** The deploy file, where it is there. */
  file?: { text: string; path: string };
  /** Where secrets' values are taken from. Absent: they are not looked up, and the deployment's secrets are left alone. */
  env?: Environment;
  /** The files that smoke tests name. Absent: a test that names one is refused. */
  cases?: CaseFiles;
}

/** Every requested deployment, or every problem with the input. */
export type ReadDeployments<T> = { ok: true; deployments: T[] } | { ok: false; problems: Problem[] };

/**
 * The requested deployments: those of the file, or the one that the input `deployment` selects, or the one that the
 * inputs describe. An input overrides the file's field. Reports every problem at once.
 */
export function readDesired(requested: RequestInput): ReadDeployments<DesiredDeployment> {
  return readEach(requested, (draft) => readDesiredDraft(draft, requested.env));
}

/** The same for `smoke` and `rollback`, which write nothing: no source, no secret has to be there. */
export function readRequested(requested: RequestInput): ReadDeployments<RequestedDeployment> {
  return readEach(requested, readRequestedDraft);
}

function readEach<T extends { notes?: readonly string[] } & Ordered>(
  requested: RequestInput,
  read: (draft: Draft) => { ok: true; value: T } | { ok: false; problems: Problem[] },
): ReadDeployments<T> {
  const { drafts, problems } = draftsOf(requested);
  const deployments: T[] = [];
  for (const draft of drafts) {
    const expanded = expandCases(draft, requested.cases);
    problems.push(...expanded.problems);
    const result = read(expanded.draft);
    if (result.ok) deployments.push(withNotes(withOrder(result.value, draft), expanded.notes));
    else problems.push(...result.problems);
  }
  return problems.length > 0 ? { ok: false, problems: inOrder(problems) } : { ok: true, deployments };
}

/** What the order of environments says of a deployment. */
type Ordered = Pick<FileDraft, 'after' | 'gate'>;

const withOrder = <T extends Ordered>(deployment: T, { after, gate }: Ordered): T => ({
  ...deployment,
  ...(after === undefined ? {} : { after }),
  ...(gate === undefined ? {} : { gate }),
});

const withNotes = <T extends { notes?: readonly string[] }>(deployment: T, notes: readonly string[]): T =>
  notes.length > 0 ? { ...deployment, notes } : deployment;

interface Drafts {
  drafts: (Draft & Ordered)[];
  problems: Problem[];
}

function draftsOf({ inputs, file }: RequestInput): Drafts {
  const { fields, problems } = readInputFields(inputs);
  if (file) {
    const drafts = readDrafts(file.text, file.path);
    if (!drafts.ok) return { drafts: [], problems: [...problems, ...drafts.problems] };
    const chosen = choose(drafts.drafts, inputs, fields);
    return { drafts: chosen.drafts, problems: [...problems, ...chosen.problems] };
  }
  const refused = (field: string, message: string): Drafts => ({
    drafts: [],
    problems: [...problems, inputProblem(field, message)],
  });
  const config = inputText(inputs, 'config')?.trim();
  if (config !== undefined && config !== defaultConfigPath) {
    return refused('config', 'there is no file at the path that `config` gives');
  }
  if (inputText(inputs, 'deployment') !== undefined) {
    const message = `\`deployment\` chooses from a deploy file, and there is no ${defaultConfigPath}: write one, or give the input \`name\` instead`;
    return refused('deployment', message);
  }
  if (!fields.has('name') && !fields.has('deployment-id')) return refused('name', nothingNamed);
  return { drafts: [{ fields, file: inputsFile, place: { line: 1, column: 1 }, within: [] }], problems };
}

const nothingNamed =
  `nothing says which deployment is meant: write ${defaultConfigPath}, or give the inputs, for example ` +
  '`name: support`, `source: github`, `repo-url: https://github.com/acme/agents`, `repo-ref: main` and `graph-config-path: langgraph.json`';

/** The drafts of a file that are meant, with the inputs put over the one that they speak of. */
function choose(drafts: FileDraft[], inputs: Inputs, fields: ReadonlyMap<string, WrittenField>): Drafts {
  const named = inputText(inputs, 'deployment')?.trim();
  const names = drafts.map(nameOf);
  if (named !== undefined) {
    const chosen = drafts.find(({ key }) => key === named) ?? drafts.find((draft) => nameOf(draft) === named);
    if (chosen) return { drafts: [overridden(chosen, fields)], problems: orderProblems(chosen, fields) };
    const message = `the deploy file has no deployment of the name that \`deployment\` gives; it has ${quoted(names)}`;
    return { drafts: [], problems: [inputProblem('deployment', message, didYouMean(named, names))] };
  }
  const [only, ...more] = drafts;
  if (only && more.length === 0) return { drafts: [overridden(only, fields)], problems: orderProblems(only, fields) };
  if (fields.size === 0) return { drafts, problems: duplicateNames(drafts) };
  const message = `${quoted([...fields.keys()])} cannot speak of all deployments of the file: choose one with \`deployment\`, of ${quoted(names)}`;
  return { drafts: [], problems: [inputProblem('deployment', message)] };
}

/** Inputs that would replace what makes a deployment one of its environment. */
function orderProblems({ isOrdered, after }: FileDraft, fields: ReadonlyMap<string, WrittenField>): Problem[] {
  const ofBuild = ['build-on-push', 'source', 'image-uri', 'source-dir', ...fieldsOfBuild];
  return [...(isOrdered ? ['name', 'deployment-id'] : []), ...(after === undefined ? [] : ofBuild)]
    .filter((name) => fields.has(name))
    .map((name) => inputProblem(name, `${name} can't be given here, because ${ordered}`));
}

const ordered = 'the deploy file orders its deployments by `environments`: change it there';

/** Two deployments of one name would be one deployment that is changed twice. */
function duplicateNames(drafts: readonly FileDraft[]): Problem[] {
  const seen = new Set<string>();
  return drafts.flatMap((draft) => {
    const name = nameOf(draft);
    const written = draft.fields.get('name');
    if (seen.has(name) && written)
      return [fieldProblem(written, ['name'], `another deployment of this file is named \`${name}\` too`)];
    seen.add(name);
    return [];
  });
}

/** What a deployment of a file is called, in the file or to a person. */
function nameOf({ key, fields }: FileDraft): string {
  const name = fields.get('name')?.value;
  return typeof name === 'string' ? name : (key ?? 'without a name');
}

/** One deployment of a file: its identity, as far as it is known, and its fields or their problems. */
export interface FileDeployment extends Named {
  /** What it stands under in `deployments`; absent where the file is one deployment. */
  key?: string | undefined;
  read: { ok: true; value: PushedDeployment } | { ok: false; problems: readonly Problem[] };
}

/** The deployments of a file, or what is wrong with the file as a whole. */
type ReadPushed = { ok: true; deployments: FileDeployment[] } | { ok: false; problems: readonly Problem[] };

/**
 * Reads a deploy file for pushes. A deployment with a mistake is reported and does not affect the others; of two with
 * one name the first counts.
 */
export function readPushed(file: { text: string; path: string }, cases?: CaseFiles): ReadPushed {
  const drafts = readDrafts(file.text, file.path);
  if (!drafts.ok) return drafts;
  const seen: FileDraft[] = [];
  const deployments = drafts.drafts.map((draft): FileDeployment => {
    const doubled = duplicateNames([...seen, draft]).slice(duplicateNames(seen).length);
    seen.push(draft);
    const expanded = expandCases(draft, cases);
    const read = readPushedDraft(expanded.draft);
    const wrong = [...doubled, ...expanded.problems, ...(read.ok ? [] : read.problems)];
    const shown = doubled.length > 0 ? doubled : inOrder(wrong);
    const named = { ...identityOf(draft), ...(draft.key === undefined ? {} : { key: draft.key }) };
    if (!read.ok || wrong.length > 0) return { ...named, read: { ok: false, problems: shown } };
    return { ...named, read: { ok: true, value: withNotes(withOrder(read.value, draft), expanded.notes) } };
  });
  return { ok: true, deployments };
}
