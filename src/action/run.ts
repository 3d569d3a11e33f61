import * as core from '@actions/core';
import { context } from '@actions/github';
import type { Inputs } from '../config/door-options.ts';
import type { Outcome } from '../deploy/outcome-types.ts';
import { refuse, tellOutcome, writeSummary } from './conclude.ts';
import { inputNames } from './input-names.ts';
import { masksOf } from './masks.ts';
import { Progress } from './progress.ts';
import { version } from './version.ts';
import { readWorkflow } from './workflow.ts';
import { readWorkspaceFile } from './workspace-file.ts';

/** How long a cancelled step may take to end by itself (ms): a runner waits 7.5 s, a person does not like to. */
const goneWithinMs = 1500;

/** The whole step: reads, tells the story, sets the outputs. Only a mistake of ours rejects. */
export async function run(): Promise<void> {
  const cancelled = new AbortController();
  const leave = (): void => {
    cancelled.abort();
    // The story ends at once by itself; this is for the case that it does not.
    setTimeout(() => process.exit(1), goneWithinMs).unref();
  };
  // Before anything else: a step that is cancelled while it loads has outputs to set as well.
  process.on('SIGINT', leave).on('SIGTERM', leave);
  try {
    const outcome = await ended(cancelled.signal);
    tellOutcome(outcome);
    await writeSummary(outcome);
  } finally {
    process.off('SIGINT', leave).off('SIGTERM', leave);
  }
}

async function ended(signal: AbortSignal): Promise<Outcome> {
  const inputs: Inputs = Object.fromEntries(inputNames.map((name) => [name, core.getInput(name)]));
  mask([inputs['api-key'] ?? '']);
  const { workflow, withoutSecrets } = readWorkflow(context, process.env['GITHUB_REPOSITORY']);
  if (!inputs['api-key'] && withoutSecrets) return neutral;
  // Loaded late: a run that has nothing to send needs none of it.
  const [{ readAsk }, { defaultConfigPath }, { inputProblem }] = await Promise.all([
    import('./ask.ts'),
    import('../config/deploy-file.ts'),
    import('../config/inputs.ts'),
  ]);
  const deployFile = readWorkspaceFile(inputs['config'] || defaultConfigPath);
  if (deployFile.kind === 'unreadable') return refuse([inputProblem('config', `config ${deployFile.why}`)]);
  const file = deployFile.kind === 'read' ? { file: deployFile.file } : {};
  const ask = readAsk({ inputs, ...file, env: process.env });
  if (!ask.ok) {
    const lacksFile = deployFile.kind === 'absent' && ask.problems.some(({ field }) => fromFile.has(field));
    return refuse(ask.problems, lacksFile ? checkOut(inputs['config'] || defaultConfigPath) : undefined);
  }
  const { options, deployment } = ask;
  mask((deployment.desired.secrets ?? []).map(({ value }) => value));
  if (!options.apiKey) return keyless;

  const { tellStory } = await import('./tell-story.ts');
  const progress = new Progress();
  try {
    return await tellStory({
      options,
      deployment,
      workflow,
      userAgent: `landfall-action/${version}`,
      signal,
      tell: progress.tell,
      mask: (secret) => mask([secret]),
    });
  } finally {
    progress.close();
  }
}

function mask(values: readonly string[]): void {
  for (const each of masksOf(values)) core.setSecret(each);
}

const neutral: Outcome = {
  kind: 'neutral',
  passes: true,
  reason: 'this run gets no secrets (a fork or Dependabot), so nothing was asked and nothing was deployed',
  changed: false,
  notes: [],
};

/** What may be wrong because the deploy file is not there. */
const fromFile: ReadonlySet<string> = new Set(['config', 'deployment', 'name']);

const checkOut = (path: string): string =>
  `Correct what is named above; where a deploy file is meant, there is none at ${path}: let actions/checkout come before this step. Nothing was sent`;

const keyless: Outcome = {
  kind: 'refused',
  passes: false,
  reason: 'api-key is empty',
  advice:
    'Give the key of the control service as api-key, from a secret that this workflow and its environment may read',
  changed: false,
  notes: [],
};
