import type { AgentServerClient } from '../../client/agent.ts';
import { connectControlService, type ControlServiceClient } from '../../client/control.ts';
import { connectOverview, type ControlOverview } from '../../client/overview.ts';
import { agentAddress, type Deployment } from '../../contract/control/deployment.ts';
import { textsToMask } from '../../contract/control/secret.ts';
import { ServiceError } from '../../contract/service-error.ts';
import { readEntryOptions } from '../../deploy/file/entry-options.ts';
import type { Inputs } from '../../deploy/file/input-table.ts';
import { asLine } from '../../deploy/words/sanitize.ts';
import { cancelOnSignal } from '../../host/cancel-on-signal.ts';
import { systemClock } from '../../kit/clock.ts';
import { version } from '../../kit/version.ts';
import { keyOf, keyProblems } from '../issue-key.ts';
import { CommandRefused, exitCodes, refuseFailure, refuseFor, refuseInput, type ExitCode } from '../problems.ts';
import type { Terminal } from '../terminal.ts';
import { namedDeployment } from './named-deployment.ts';
import { type Column, jsonRows, tableLines } from './text-table.ts';

/** What was written after the name of a command. */
export interface Invocation {
  /** The arguments in their order; undefined for one that was left out. */
  args: readonly (string | undefined)[];
  /** The options, those of the service among them; a flag that was given is `true`. */
  options: Inputs;
}

/** The service of a command. */
export interface ServiceSession {
  baseUrl: string;
  control: ControlServiceClient;
  overview: ControlOverview;
  terminal: Terminal;
  /** Aborts at Ctrl-C. */
  signal: AbortSignal;
  /** The agent of a deployment. @throws CommandRefused where it has no address */
  agentOf: (deployment: Deployment) => Promise<AgentServerClient>;
}

/** Connects to the service that the options name, and reports what it refuses. */
export async function withService(
  { options: inputs }: Invocation,
  terminal: Terminal,
  run: (session: ServiceSession) => Promise<ExitCode>,
): Promise<ExitCode> {
  terminal.hide(inputs['api-key'] ?? '');
  const read = readEntryOptions(inputs);
  const problems = [...(read.ok ? [] : read.problems), ...keyProblems(inputs)];
  if (!read.ok || problems.length > 0) return refuseInput(problems, exitCodes.wrongUsage, terminal);
  const key = await keyOf({ ...read.options, timeoutMs: 0 }, terminal);
  if (typeof key === 'number') return key;
  const settings = { ...read.options, apiKey: key.apiKey, userAgent: `landfall-cli/${version}` };
  const [control, overview] = [connectControlService(settings), connectOverview(settings)];
  const opened: { close(): Promise<void> }[] = [control, overview];
  const cancelled = cancelOnSignal();
  const agentOf = async (deployment: Deployment): Promise<AgentServerClient> => {
    const url = agentAddress(deployment);
    if (url === undefined || deployment.active_revision_id === null) {
      throw new CommandRefused(
        `No revision of ${deployment.name} serves, so that its agent can't be reached.`,
        `landfall status ${deployment.name} says how its latest revision ended.`,
      );
    }
    const { connectAgentServer } = await import('../../client/agent.ts');
    const { apiKey, tenantId, allowHttp, userAgent } = settings;
    const agent = connectAgentServer({ url, apiKey, tenantId, allowHttp, userAgent });
    opened.push(agent);
    return agent;
  };
  try {
    return await run({ baseUrl: settings.baseUrl, control, overview, terminal, signal: cancelled.signal, agentOf });
  } catch (error) {
    if (cancelled.signal.aborted) return exitCodes.fails;
    if (error instanceof CommandRefused) {
      return refuseFor(asLine(error.message), error.advice && asLine(error.advice), terminal);
    }
    if (error instanceof ServiceError) return refuseFailure(error, terminal);
    throw error;
  } finally {
    cancelled.end();
    await Promise.all(opened.map((each) => each.close()));
  }
}

/** The same for the deployment that is the first argument, or the only one. No secret of it is printed. */
export function withDeployment(
  invocation: Invocation,
  terminal: Terminal,
  run: (session: ServiceSession, deployment: Deployment) => Promise<ExitCode>,
  { name }: { name: string | undefined } = { name: writtenName(invocation) },
): Promise<ExitCode> {
  return withService(invocation, terminal, async (session) => {
    const { config, deployment: entry } = invocation.options;
    const deployment = await namedDeployment(name, { config, entry }, session.control);
    for (const secret of textsToMask(deployment.secrets)) terminal.hide(secret);
    return run(session, deployment);
  });
}

/** The name or the id of the deployment, by the argument or by an option that a command had before. */
const writtenName = ({ args, options }: Invocation): string | undefined =>
  args[0] ?? options['deployment-id'] ?? options['name'];

/** Prints a list as a table, or under its name as JSON. @param none what is printed where it is empty */
export function printList<Row>(
  { name, columns, none }: { name: string; columns: readonly Column<Row>[]; none: string },
  rows: readonly Row[],
  terminal: Terminal,
): ExitCode {
  if (terminal.isJson) terminal.conclude({ [name]: jsonRows(columns, rows) });
  else if (rows.length === 0) terminal.print(none);
  else {
    const form = { width: terminal.width, now: systemClock.now() };
    for (const line of tableLines(columns, rows, form)) terminal.print(line);
  }
  return exitCodes.passes;
}
