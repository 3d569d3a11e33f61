import { readAddress } from '../contract/base-address.ts';
import { fieldSpellings, type FieldSpelling } from '../contract/control/aliases.ts';
import { unfitForHeader } from '../contract/header-value.ts';
import { didYouMean } from '../diagnostics/did-you-mean.ts';
import type { Problem } from '../diagnostics/problem.ts';

const modes = ['deploy', 'plan', 'smoke', 'rollback', 'delete'] as const;
/** The mode of a run: the whole run, only its plan, only its smoke tests, a rollback, or a deletion. */
export type Mode = (typeof modes)[number];

/** The options that every entry point takes besides the deployment: the service's address and how to report. */
export interface EntryOptions {
  baseUrl: string;
  /** Absent: nothing can be sent, which is right only for a fork's pull request. */
  apiKey?: string;
  tenantId?: string;
  spelling: FieldSpelling;
  allowHttp: boolean;
  mode: Mode;
  agentUrl?: string;
  wait: boolean;
  timeoutMs: number;
  pollMs: number;
  onSuperseded: 'fail' | 'pass';
  /** Nothing is written: it is said what would be. */
  dryRun?: boolean;
  /** What `delete` leaves behind: with it, no deployment can be created again under this name. */
  keepTracingProject?: boolean;
}

/** The options, or everything that is wrong with them. */
export type ReadEntryOptions = { ok: true; options: EntryOptions } | { ok: false; problems: Problem[] };

/** Inputs by name; one that is absent or empty was not given. */
export type Inputs = Readonly<Record<string, string | undefined>>;

/** Reads the options, with every problem at once. The fields of the deployment are read separately. */
export function readEntryOptions(inputs: Inputs): ReadEntryOptions {
  const problems: Problem[] = [];
  const given = (name: string): string | undefined => inputs[name]?.trim() || undefined;
  const wrong = (field: string, message: string, suggestion?: string): void => {
    problems.push({ file: 'input', line: 1, column: 1, field, message, ...(suggestion ? { suggestion } : {}) });
  };

  const word = <Word extends string>(name: string, words: readonly Word[], absent: Word): Word => {
    const written = given(name);
    if (written === undefined) return absent;
    const found = words.find((each) => each === written);
    if (found === undefined) wrong(name, `${name} is one of ${words.join(', ')}`, didYouMean(written, words));
    return found ?? absent;
  };
  const flag = (name: string, absent: boolean): boolean => {
    const written = given(name);
    if (written === undefined) return absent;
    if (/^(true|false)$/i.test(written)) return written.toLowerCase() === 'true';
    wrong(name, `${name} is true or false`);
    return absent;
  };
  const time = (name: string, absent: number, least: number, most: number, unitMs: number): number => {
    const written = given(name);
    const count = written === undefined ? absent : Number(written);
    if (!Number.isFinite(count) || count < least || count > most)
      wrong(name, `${name} is a number from ${least} to ${most}`);
    return count * unitMs;
  };
  const allowHttp = flag('allow-http', false);
  const address = (name: string): string | undefined => {
    const written = given(name);
    const read = written === undefined ? undefined : readAddress(written, { allowHttp });
    if (read?.ok === false) wrong(name, `${name}: ${read.problem}`);
    return written;
  };
  const header = (name: string): string | undefined => {
    const written = given(name);
    const problem = unfitForHeader(name, written);
    if (problem !== undefined) wrong(name, problem);
    return written;
  };

  const baseUrl = address('base-url');
  if (baseUrl === undefined) wrong('base-url', 'base-url is missing: give the address of the control service');
  const apiKey = header('api-key');
  const tenantId = header('tenant-id');
  const agentUrl = address('agent-url');
  const mode = word('mode', modes, 'deploy');
  const dryRun = flag('dry-run', false);
  if (dryRun && mode === 'rollback') {
    wrong(
      'dry-run',
      'dry-run is for the modes deploy and delete: the revision of a rollback is only known when it runs',
    );
  }
  const options: EntryOptions = {
    baseUrl: baseUrl ?? '',
    ...(apiKey ? { apiKey } : {}),
    ...(tenantId ? { tenantId } : {}),
    spelling: word('field-names', fieldSpellings, 'contract'),
    allowHttp,
    mode: dryRun && mode === 'deploy' ? 'plan' : mode,
    ...(agentUrl ? { agentUrl } : {}),
    wait: flag('wait', true),
    timeoutMs: time('timeout-minutes', 30, 0.05, 24 * 60, 60_000),
    pollMs: time('poll-seconds', 5, 0.1, 600, 1000),
    onSuperseded: word('on-superseded', ['fail', 'pass'], 'fail'),
    dryRun,
    keepTracingProject: flag('keep-tracing-project', false),
  };
  return problems.length > 0 ? { ok: false, problems } : { ok: true, options };
}
