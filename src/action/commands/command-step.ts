import { steadyClock } from '../../kit/clock.ts';
import { defaultConfigPath } from '../../deploy/file/deploy-file.ts';
import { type EntryOptions, readEntryOptions } from '../../deploy/file/entry-options.ts';
import { inputs as inputTable, type Inputs } from '../../deploy/file/input-table.ts';
import { inputProblem } from '../../deploy/file/inputs.ts';
import type { Outcome } from '../../deploy/machine/outcome-types.ts';
import type { GitHubClient } from '../../github/client.ts';
import { git } from '../../host/git-head.ts';
import { annotated } from '../../host/workspace.ts';
import { version } from '../../kit/version.ts';
import type { StepInput } from '../read-step.ts';
import { readStep } from '../read-step.ts';
import { refusal, refuse } from '../report-outcome.ts';
import type { RunEvent } from '../run-event.ts';
import type { WorkflowRun } from '../workflow.ts';
import { readCommand } from './given-command.ts';
import type { BoundRun, Performance } from './performance.ts';
import { passedOver, runCommand } from './run-command.ts';

/** What a step about a command is given. */
interface CommandStep {
  event: RunEvent;
  workflowRun: WorkflowRun;
  /** The value of an input. */
  getInput: (name: string) => string;
  connect: (token: string) => Promise<GitHubClient>;
  /** The options with a key, or why there is none. */
  withKey: (options: EntryOptions) => Promise<EntryOptions | Outcome>;
  carryOut: (input: StepInput, bound: Partial<BoundRun>) => Promise<Outcome>;
  signal: AbortSignal;
  warn: (message: string) => void;
}

/** What the comment and the deploy file say, and no input. */
const saidElsewhere = [
  'name',
  'deployment-id',
  'source',
  'repo-url',
  'repo-ref',
  'commit',
  'pull-request',
  'approved-commit',
  'plan-file',
];

/** How long one call of the control service may take with all its repetitions (ms). */
const callMs = 20_000;

/** Carries out the command of the comment that started this run. */
export async function runCommandStep(step: CommandStep): Promise<Outcome> {
  const { event, getInput, signal, warn } = step;
  const read = readCommand(event);
  if (read.kind === 'none' && !read.isWrongEvent) return passedOver(`Nothing was done: ${read.why}`);
  if (read.kind === 'none') return refusal(read.why, 'Run it in a workflow with on: issue_comment: types: [created]');
  const inputs: Inputs = Object.fromEntries([...inputTable.keys()].map((name) => [name, getInput(name).trim()]));
  const options = readEntryOptions(inputs);
  const given = saidElsewhere.filter((name) => inputs[name]);
  const token = inputs['github-token'];
  const problems = [
    ...(options.ok ? [] : options.problems),
    ...given.map((name) =>
      inputProblem(name, `${name} is not for mode command: the comment and the deploy file say it`),
    ),
    ...(token ? [] : [inputProblem('github-token', 'mode command needs github-token: give github.token')]),
  ];
  if (!options.ok || !token || problems.length > 0) return refuse(problems);
  const checkedOut = (await git(['rev-parse', 'HEAD']))?.trim();
  if (checkedOut !== undefined && event.sha !== '' && checkedOut !== event.sha) return otherCheckout;
  const [owner = '', name = ''] = event.repository.split('/');
  const close: (() => Promise<void>)[] = [];
  let apiKey = inputs['api-key'];
  try {
    return await runCommand({
      given: read.given,
      github: { client: await step.connect(token), repository: { owner, name } },
      path: annotated(inputs['config'] || defaultConfigPath),
      sha: event.sha,
      only: inputs['deployment'] || undefined,
      rerunBy: event.runAttempt > 1 ? process.env['GITHUB_TRIGGERING_ACTOR'] || 'a person' : undefined,
      runUrl: step.workflowRun.workflow?.runUrl,
      now: () => Date.now(),
      options: () => ({ signal, deadline: steadyClock.now() + callMs }),
      connect: async () => {
        const keyed = await step.withKey(options.options);
        if ('kind' in keyed) return { ok: false, outcome: keyed };
        apiKey = keyed.apiKey;
        const { connectControlService } = await import('../../client/control.ts');
        const control = connectControlService({ ...keyed, userAgent: `landfall-action/${version}` });
        close.push(() => control.close());
        return { ok: true, control };
      },
      run: (over, bound, at) =>
        step.carryOut(boundInput(step, { ...inputs, 'api-key': apiKey, ...over }, bound, at), bound),
      warn,
    });
  } finally {
    await Promise.all(close.map((each) => each()));
  }
}

const otherCheckout = refusal(
  'This step has a checkout of another commit than that of the default branch, which alone may carry out commands',
  'Run actions/checkout without ref before it: a preview needs no files of the pull request',
);

/** The input of the run that carries out a command. */
function boundInput(
  { event, workflowRun }: CommandStep,
  inputs: Inputs,
  { smokeTests }: Partial<BoundRun>,
  { file, branch }: Parameters<Performance['run']>[2],
): StepInput {
  // The comment on a preview is its own; anything else is said in the answer.
  const comment = inputs['mode'] === 'preview' ? inputs['comment'] : 'false';
  const given: Inputs = { ...inputs, comment, config: file.path };
  const run = branch === undefined ? workflowRun : onBranch(workflowRun, branch, inputs['commit'] ?? event.sha);
  const text = { kind: 'read', text: file.text } as const;
  const input = readStep(
    (name) => given[name] ?? '',
    run,
    process.env,
    () => text,
  );
  const { request } = input;
  if (!smokeTests || !request.ok || request.subject.mode === 'preview') return input;
  return { ...input, request: { ...request, subject: { ...request.subject, smokeTests } } };
}

/** A run that is about a branch, and not about the pull request that it was requested on. */
const onBranch = ({ workflow, ...run }: WorkflowRun, branch: string, sha: string): WorkflowRun => ({
  ...run,
  isPullRequest: false,
  workflow: workflow && {
    repository: workflow.repository,
    serverUrl: workflow.serverUrl,
    ref: `refs/heads/${branch}`,
    sha,
    ...(workflow.runUrl === undefined ? {} : { runUrl: workflow.runUrl }),
  },
});
