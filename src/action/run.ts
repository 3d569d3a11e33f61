import * as core from '@actions/core';
import { context } from '@actions/github';
import { readFileSync } from 'node:fs';
import type { Inputs } from '../config/door-options.ts';
import type { Outcome } from '../deploy/outcome-types.ts';
import { refuse, tellOutcome, writeSummary } from './conclude.ts';
import { inputNames } from './input-names.ts';
import { masksOf } from './masks.ts';
import { Progress } from './progress.ts';
import { version } from './version.ts';
import { readWorkflow } from './workflow.ts';

/** How long a cancelled step may take to end by itself (ms): a runner waits 7.5 s, a person does not like to. */
const goneWithinMs = 1500;

/** The whole step: reads, tells the story, sets the outputs. Only a mistake of ours rejects. */
export async function run(): Promise<void> {
  const inputs: Inputs = Object.fromEntries(inputNames.map((name) => [name, core.getInput(name)]));
  mask([inputs['api-key'] ?? '']);
  const { workflow, withoutSecrets } = readWorkflow(context, process.env['GITHUB_REPOSITORY']);
  if (!inputs['api-key'] && withoutSecrets) return conclude(neutral);
  // Loaded late: a run that has nothing to send needs none of it.
  const [{ readAsk }, { defaultConfigPath }] = await Promise.all([
    import('./ask.ts'),
    import('../config/deploy-file.ts'),
  ]);
  const ask = readAsk({ inputs, ...deployFile(inputs['config'] || defaultConfigPath), env: process.env });
  if (!ask.ok) return conclude(refuse(ask.problems));
  const { options, deployment } = ask;
  mask((deployment.desired.secrets ?? []).map(({ value }) => value));
  if (!options.apiKey) return conclude(keyless);

  const { tellStory } = await import('./tell-story.ts');
  const cancelled = new AbortController();
  const progress = new Progress();
  const leave = (): void => {
    cancelled.abort();
    // The story ends at once by itself; this is for the case that it does not.
    setTimeout(() => process.exit(1), goneWithinMs).unref();
  };
  process.on('SIGINT', leave).on('SIGTERM', leave);
  try {
    const outcome = await tellStory({
      options,
      deployment,
      workflow,
      userAgent: `landfall-action/${version}`,
      signal: cancelled.signal,
      tell: progress.tell,
      mask: (secret) => mask([secret]),
    });
    progress.close();
    await conclude(outcome);
  } finally {
    progress.close();
    process.off('SIGINT', leave).off('SIGTERM', leave);
  }
}

function mask(values: readonly string[]): void {
  for (const each of masksOf(values)) core.setSecret(each);
}

/** The deploy file, relative to the workspace, where it is there. */
function deployFile(path: string): { file?: { text: string; path: string } } {
  try {
    return { file: { text: readFileSync(path, 'utf8'), path } };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw error;
  }
}

async function conclude(outcome: Outcome): Promise<void> {
  tellOutcome(outcome);
  await writeSummary(outcome);
}

const neutral: Outcome = {
  kind: 'neutral',
  passes: true,
  reason: 'this run gets no secrets (a fork or Dependabot), so nothing was asked and nothing was deployed',
  changed: false,
  notes: [],
};

const keyless: Outcome = {
  kind: 'refused',
  passes: false,
  reason: 'api-key is empty',
  advice:
    'Give the key of the control service as api-key, from a secret that this workflow and its environment may read',
  changed: false,
  notes: [],
};
