import { readPreview } from '../host/read-preview.ts';
import { runPreviewOf } from '../host/run-preview.ts';
import { cancelOnSignal } from '../host/cancel-on-signal.ts';
import { version } from '../kit/version.ts';
import { readTextFile } from '../host/workspace.ts';
import { defaultConfigPath } from '../deploy/file/deploy-file.ts';
import type { Inputs } from '../deploy/file/input-table.ts';
import type { Environment } from '../deploy/file/secret-names.ts';
import { inputProblem } from '../deploy/file/inputs.ts';
import { sameRepository, webAddressOf } from '../deploy/file/repository-url.ts';
import type { PullRequest } from '../deploy/machine/preview.ts';
import { outcomeLines, eventLines } from '../deploy/words/event-lines.ts';
import { toResultJson } from '../deploy/words/result-json.ts';
import type { Outcome } from '../deploy/machine/outcome-types.ts';
import type { Problem } from '../kit/diagnostics/problem.ts';
import { stackOf } from '../kit/errors.ts';
import { keyOf, keyProblems } from './issue-key.ts';
import { exitCodes, refuseInput, type ExitCode } from './problems.ts';
import type { Terminal } from './terminal.ts';
import type { PullRequestOption } from './deploy-flags.ts';

/** The input of `preview`. */
export interface PreviewCommand {
  inputs: Inputs;
  /** What was given of the pull request. */
  pull: Partial<Record<PullRequestOption, string | undefined>>;
  labels: readonly string[];
  /** The pull request is closed: its previews are removed. */
  isClosed: boolean;
}

/** The whole command: creates, updates or removes the preview of a pull request of any host. */
export async function previewCommand(command: PreviewCommand, terminal: Terminal): Promise<ExitCode> {
  terminal.hide(command.inputs['api-key'] ?? '');
  const request = readCommand(command);
  if (!request.ok) return refuseInput(request.problems, exitCodes.wrongUsage, terminal);
  const { options, subject, pull } = request;
  const { secrets = [], forkSecrets = [] } = subject.deployment?.preview ?? {};
  for (const { from } of [...secrets, ...forkSecrets]) terminal.hide(process.env[from] ?? '');
  const cancelled = cancelOnSignal();
  try {
    const key = await keyOf({ ...options, mode: 'deploy' }, terminal);
    if (typeof key === 'number') return key;
    const outcome = await runPreviewOf({
      options: { ...options, apiKey: key.apiKey },
      subject,
      pull,
      approvedSha: command.pull['approved-commit'],
      // A CI job runs for each push: what the file has on command is requested by a person.
      isRequested: true,
      valueOfVariable: (variable) => process.env[variable],
      // No host is asked here.
      isClosed: async () => undefined,
      userAgent: `landfall-cli/${version}`,
      receipt: undefined,
      signal: cancelled.signal,
      emit: (event) => {
        for (const line of eventLines(event)) terminal.print(line);
      },
      mask: (secret) => terminal.hide(secret),
      refuse: (problems) => refusalOf(problems),
    });
    for (const line of outcomeLines(outcome)) terminal.print(line);
    terminal.conclude(toResultJson(outcome));
    return outcome.passes ? exitCodes.passes : exitCodes.fails;
  } catch (error) {
    // A bug is printed with its stack, in which secrets are masked.
    terminal.complain(stackOf(error));
    return exitCodes.fails;
  } finally {
    cancelled.end();
  }
}

const refusalOf = (problems: readonly Problem[]): Outcome => ({
  kind: 'refused',
  passes: false,
  reason: problems.map(({ field, message }) => `${field}: ${message}`).join('; '),
  advice: 'Correct what is named; nothing was sent',
  changed: false,
  notes: [],
});

/** Reads the command line, or every problem with it. */
function readCommand({ inputs, pull, labels, isClosed }: PreviewCommand) {
  const path = inputs['config']?.trim() || defaultConfigPath;
  const file = readTextFile(path);
  const request = readPreview(
    { inputs: { ...inputs, mode: 'preview' }, ...(file.kind === 'read' ? { file: { text: file.text, path } } : {}) },
    { isClosed },
  );
  const given = withHostsOwn(pull, process.env);
  const problems = [
    ...(file.kind === 'unreadable' && !isClosed ? [file.problem] : request.ok ? [] : request.problems),
    ...keyProblems(inputs),
    ...pullProblems(given, isClosed),
  ];
  if (!request.ok || problems.length > 0) return { ok: false, problems } as const;
  const [repositoryUrl, headUrl] = [addressIn(given['repository-url']), addressIn(given['head-url'])];
  const read: PullRequest = {
    repositoryId: Number(given['repository-id']),
    number: Number(given['pull-request']),
    repositoryUrl,
    headUrl,
    headRef: given['head-ref'] ?? '',
    headSha: given.commit ?? '',
    isFork: !sameRepository(headUrl, repositoryUrl),
    imageUri: inputs['image-uri']?.trim() || undefined,
    isOpen: !isClosed,
    labels,
  };
  return { ok: true, options: request.options, subject: request.subject, pull: read } as const;
}

/** The web address of a remote: previews of a repository are known by its host. */
const addressIn = (remote = ''): string => webAddressOf(remote) ?? remote;

/** What the CI systems of hosts say of themselves. */
export function withHostsOwn(pull: PreviewCommand['pull'], env: Environment): PreviewCommand['pull'] {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = env;
  const given = (...values: (string | undefined)[]): string | undefined =>
    values.map((value) => value?.trim()).find(Boolean);
  return {
    ...pull,
    'repository-id': given(pull['repository-id'], env['GITHUB_REPOSITORY_ID'], env['CI_PROJECT_ID']),
    'repository-url': given(
      pull['repository-url'],
      server && repository && `${server}/${repository}`,
      env['CI_MERGE_REQUEST_PROJECT_URL'],
      env['CI_PROJECT_URL'],
    ),
    'head-url': given(pull['head-url'], env['CI_MERGE_REQUEST_SOURCE_PROJECT_URL']),
  };
}

function pullProblems(pull: PreviewCommand['pull'], isClosed: boolean): Problem[] {
  const isNumber = (text: string | undefined): boolean => /^[1-9]\d{0,14}$/.test(text ?? '');
  const isSha = (text: string | undefined): boolean => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(text ?? '');
  const isAddress = (text: string | undefined): boolean =>
    text !== undefined && (webAddressOf(text) !== undefined || URL.canParse(text));
  const rules: readonly [name: keyof PreviewCommand['pull'], isRight: boolean, problem: string][] = [
    ['pull-request', isNumber(pull['pull-request']), 'give the number of the pull request'],
    ['repository-id', isNumber(pull['repository-id']), 'give the number of the repository at its host'],
    ['repository-url', isAddress(pull['repository-url']), 'give the address of the repository that it is to'],
    [
      'head-url',
      isClosed || isAddress(pull['head-url']),
      'give the address of the repository that the commit comes from: that of a fork needs an approval',
    ],
    ['commit', isClosed || isSha(pull.commit), 'give the full SHA of the head, of 40 characters'],
    ['head-ref', isClosed || Boolean(pull['head-ref']), 'give the branch of the head'],
    [
      'approved-commit',
      pull['approved-commit'] === undefined || isSha(pull['approved-commit']),
      'give the full SHA of a commit, of 40 characters',
    ],
  ];
  return rules.filter(([, isRight]) => !isRight).map(([name, , problem]) => inputProblem(name, problem));
}
