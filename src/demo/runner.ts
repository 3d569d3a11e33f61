import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** One step of a workflow, as a runner gets it. */
export interface Step {
  /** The JavaScript file that `main` of action.yml names. */
  main: string;
  /** The runner's Node executable. */
  node?: string;
  /** The working directory: the checked-out repository. */
  workspace: string;
  inputs: Readonly<Record<string, string>>;
  /** `env:` of the step: where secrets come from. */
  env?: Readonly<Record<string, string>>;
  /** Variables about the run, such as GITHUB_REPOSITORY. */
  github?: Readonly<Record<string, string>>;
  /** The payload of the event, for GITHUB_EVENT_PATH. */
  event?: unknown;
  /** Called with every line that the step prints. */
  onLine?: (line: string) => void;
  /** Cancels the step as a runner does: with SIGINT. */
  cancel?: AbortSignal;
}

/** The result of a step. */
export interface StepResult {
  exitCode: number | null;
  /** All printed lines, including commands to the runner. */
  log: string;
  outputs: Record<string, string>;
  summary: string;
}

/** Runs one step as GitHub's runner does: inputs in the environment, outputs and summary in files. */
export async function runStep(step: Step): Promise<StepResult> {
  const folder = await mkdtemp(join(tmpdir(), 'landfall-runner-'));
  try {
    const paths = {
      output: join(folder, 'output'),
      summary: join(folder, 'summary'),
      event: join(folder, 'event.json'),
    };
    await Promise.all([
      writeFile(paths.output, ''),
      writeFile(paths.summary, ''),
      writeFile(paths.event, JSON.stringify(step.event ?? {})),
    ]);
    const { exitCode, log } = await runProcess(step, {
      GITHUB_OUTPUT: paths.output,
      GITHUB_STEP_SUMMARY: paths.summary,
      GITHUB_EVENT_PATH: paths.event,
      RUNNER_TEMP: folder,
    });
    return {
      exitCode,
      log,
      outputs: readOutputs(await readFile(paths.output, 'utf8')),
      summary: await readFile(paths.summary, 'utf8'),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function runProcess(
  step: Step,
  fileVariables: Record<string, string>,
): Promise<{ exitCode: number | null; log: string }> {
  const inputs = Object.entries(step.inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]);
  const child = spawn(step.node ?? process.execPath, [step.main], {
    cwd: step.workspace,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      GITHUB_WORKSPACE: step.workspace,
      ...step.github,
      ...fileVariables,
      ...step.env,
      ...Object.fromEntries(inputs),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const cancel = (): void => void child.kill('SIGINT');
  step.cancel?.addEventListener('abort', cancel, { once: true });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      step.onLine?.(line);
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode) => {
      step.cancel?.removeEventListener('abort', cancel);
      resolve({ exitCode, log: lines.join('\n') });
    });
  });
}

/** Reads what a step wrote to GITHUB_OUTPUT: `name<<delimiter`, lines, `delimiter`. */
export function readOutputs(text: string): Record<string, string> {
  const outputs: Record<string, string> = {};
  const lines = text.split(/\r?\n/);
  for (let at = 0; at < lines.length; at += 1) {
    const [name = '', delimiter] = (lines[at] ?? '').split('<<', 2);
    const end = delimiter === undefined ? -1 : lines.indexOf(delimiter, at + 1);
    if (end < 0) continue;
    outputs[name] = lines.slice(at + 1, end).join('\n');
    at = end;
  }
  return outputs;
}
