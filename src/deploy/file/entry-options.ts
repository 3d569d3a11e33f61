import { readAddress } from '../../kit/base-address.ts';
import type { FieldNameSetting } from '../../contract/control/aliases.ts';
import { invalidInHeader } from '../../kit/base-address.ts';
import type { Problem } from '../../kit/diagnostics/problem.ts';
import { optionInputs, type Inputs } from './input-table.ts';
import { inputProblem } from './inputs.ts';
import { OptionReader } from './option-reader.ts';

/** The mode of a run: the whole run, only its plan, only its smoke tests, a rollback, a deletion, or the preview of a pull request. */
export type Mode = (typeof optionInputs.mode.words)[number];

/** The options that every entry point takes besides the deployment: the service's address and how to report. */
export interface EntryOptions {
  baseUrl: string;
  /** Absent: nothing can be sent, which is right only for a fork's pull request. */
  apiKey?: string | undefined;
  tenantId?: string;
  spelling: FieldNameSetting;
  allowHttp: boolean;
  mode: Mode;
  agentUrl?: string;
  wait: boolean;
  timeoutMs: number;
  pollMs: number;
  onSuperseded: (typeof optionInputs)['on-superseded']['words'][number];
  /** The file of its journal. */
  journalPath?: string | undefined;
  /** The file of the plan that is written, or applied. */
  planPath?: string | undefined;
  /** The file for its receipt. */
  receiptPath?: string | undefined;
  /** Nothing is written: it is said what would be. */
  dryRun?: boolean;
  /** It is deployed although the environment is frozen. */
  ignoresFreeze?: boolean;
  /** What `delete` leaves behind: with it, no deployment can be created again under this name. */
  keepTracingProject?: boolean;
}

/** The options, or everything that is wrong with them. */
export type ReadEntryOptions = { ok: true; options: EntryOptions } | { ok: false; problems: Problem[] };

/** Reads the options, with every problem at once. The fields of the deployment are read separately. */
export function readEntryOptions(inputs: Inputs): ReadEntryOptions {
  const read = new OptionReader(inputs);
  const allowHttp = read.flag('allow-http');
  const address = (name: 'base-url' | 'agent-url'): string | undefined => {
    const written = read.text(name);
    const parsed = written === undefined ? undefined : readAddress(written, { allowHttp });
    if (parsed?.ok === false) read.addProblem(name, `${name}: ${parsed.problem}`);
    return written;
  };
  const header = (name: 'api-key' | 'tenant-id'): string | undefined => {
    const written = read.text(name);
    const problem = invalidInHeader(name, written);
    if (problem !== undefined) read.addProblem(name, problem);
    return written;
  };

  const baseUrl = address('base-url');
  if (baseUrl === undefined) {
    const message = 'base-url is missing: give the address of the control service';
    read.problems.push({ ...inputProblem('base-url', message), missing: 'base-url' });
  }
  const apiKey = header('api-key');
  const tenantId = header('tenant-id');
  const agentUrl = address('agent-url');
  const mode = read.word('mode', optionInputs.mode);
  const dryRun = read.flag('dry-run');
  const journalPath = read.text('journal');
  const receiptPath = read.text('receipt');
  const planPath = read.text('plan-file');
  if (planPath !== undefined && mode !== 'plan' && mode !== 'deploy') {
    read.addProblem('plan-file', 'plan-file is for the modes plan and deploy');
  }
  if (dryRun && mode === 'rollback') {
    read.addProblem(
      'dry-run',
      'dry-run is for the modes deploy and delete: the revision of a rollback is only known when it runs',
    );
  }
  if (mode === 'preview' || mode === 'command') {
    if (dryRun) read.addProblem('dry-run', 'dry-run is for the modes deploy and delete');
    if (journalPath && mode === 'command')
      read.addProblem(
        'journal',
        'journal is for deploys and rollbacks: a command is kept in the comment that answers it',
      );
    else if (journalPath)
      read.addProblem('journal', 'journal is for deploys and rollbacks: a preview is found by its mark');
  }
  const options: EntryOptions = {
    baseUrl: baseUrl ?? '',
    ...(apiKey ? { apiKey } : {}),
    ...(tenantId ? { tenantId } : {}),
    spelling: read.word('field-names', optionInputs['field-names']),
    allowHttp,
    mode: dryRun && mode === 'deploy' ? 'plan' : mode,
    ...(agentUrl ? { agentUrl } : {}),
    wait: read.flag('wait'),
    timeoutMs: read.number('timeout-minutes') * 60_000,
    pollMs: read.number('poll-seconds') * 1000,
    ...(journalPath ? { journalPath } : {}),
    ...(receiptPath ? { receiptPath } : {}),
    ...(planPath ? { planPath } : {}),
    onSuperseded: read.word('on-superseded', optionInputs['on-superseded']),
    dryRun,
    ignoresFreeze: read.flag('ignore-freeze'),
    keepTracingProject: read.flag('keep-tracing-project'),
  };
  return read.problems.length > 0 ? { ok: false, problems: read.problems } : { ok: true, options };
}
