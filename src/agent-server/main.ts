import { fstatSync } from 'node:fs';
import { systemClock } from '../clock.ts';
import { takeCommands } from './commands.ts';
import { runLimitOf, takeEnvironment, tracingOf } from './environment.ts';
import { NotKept } from './graphs/not-kept.ts';
import { isForStandardError } from './log-level.ts';
import { logLine } from './log-line.ts';
import { startAgentServer } from './server.ts';
import { StartupError, startupLines } from './startup-error.ts';

const log = (line: string): void =>
  void (isForStandardError(line) ? process.stderr : process.stdout).write(logLine(line));
const complain = (line: string): void => void process.stderr.write(`${line}\n`);

// A parent that is gone reads no more. What is said then is lost, and the runs still end.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

// A promise that somebody's graph forgot is no reason to end the runs of others.
process.on('unhandledRejection', (reason) => {
  if (reason instanceof NotKept) return;
  complain(
    `A promise of the agent was rejected and nobody took it: ${reason instanceof Error ? reason.stack : String(reason)}`,
  );
});
// One that somebody takes later is no news.
process.on('rejectionHandled', () => undefined);

try {
  const environment = takeEnvironment(process.env);
  const server = await startAgentServer({
    configPath: environment.LANDFALL_GRAPH_CONFIG,
    databaseUrl: environment.DATABASE_URI,
    host: environment.HOST,
    port: environment.PORT,
    socket: environment.LANDFALL_AGENT_SOCKET,
    token: environment.LANDFALL_AGENT_TOKEN,
    atOnce: environment.LANDFALL_MAX_RUNS,
    drainMs: environment.LANDFALL_DRAIN_MS,
    runLimitMs: runLimitOf(environment),
    leaseMs: environment.LANDFALL_LEASE_MS,
    revisionId: environment.LANDFALL_REVISION_ID,
    deploymentId: environment.LANDFALL_DEPLOYMENT_ID,
    tracing: tracingOf(environment),
    webhooks: { privateNetworks: environment.LANDFALL_WEBHOOK_PRIVATE === 'allow' },
    log,
    clock: systemClock,
  });
  const leave = async (): Promise<void> => {
    await server.close().catch((error: unknown) => {
      complain(`Leaving failed: ${String(error)}`);
      process.exit(1);
    });
    process.exit(0);
  };
  process.once('SIGTERM', () => void leave());
  process.once('SIGINT', () => void leave());
  const logEvent = (event: object): void => log(JSON.stringify(event));
  // A parent that is killed while a command is carried out is no reason to wait for its end.
  if (isPipe()) process.stdin.once('close', () => void leave());
  logEvent({ event: 'listening', ...(server.port === undefined ? {} : { port: server.port }) });
  if (isPipe()) await takeCommands(process.stdin, server, logEvent);
} catch (error) {
  for (const line of error instanceof StartupError
    ? startupLines(error)
    : [String(error instanceof Error ? error.stack : error)])
    complain(line);
  process.exit(1);
}

/** Whether a parent holds the other end of our input: only then does its end mean that the parent is gone. */
function isPipe(): boolean {
  const input = fstatSync(0);
  return input.isFIFO() || input.isSocket();
}
