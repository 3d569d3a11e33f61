import { fstatSync } from 'node:fs';
import { stackOf } from '../../kit/errors.ts';
import { systemClock } from '../../kit/clock.ts';
import { takeCommands } from './commands.ts';
import { runLimitOf, takeEnvironment, tracingOf } from './environment.ts';
import { RunOwnershipLost } from './storage/retry-policy.ts';
import { createLogger } from '../../kit/logger.ts';
import { startAgentServer } from './server.ts';
import { StartupError, startupLines } from './startup-error.ts';

const log = createLogger({ name: 'agent-server', level: process.env['LOG_LEVEL'], destination: process.stdout });

// The parent may be gone. Its output is lost then, and the runs still finish.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

// An unhandled rejection in one graph must not end the runs of others.
process.on('unhandledRejection', (reason) => {
  if (reason instanceof RunOwnershipLost) return;
  log.error(`Unhandled promise rejection in the agent's code: ${stackOf(reason)}`);
});
// A rejection that is handled late needs no message.
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
    python: environment.LANDFALL_PYTHON,
    atOnce: environment.LANDFALL_MAX_RUNS,
    drainMs: environment.LANDFALL_DRAIN_MS,
    unknownNodes: environment.LANDFALL_UNKNOWN_NODES,
    runLimitMs: runLimitOf(environment),
    leaseMs: environment.LANDFALL_LEASE_MS,
    revisionId: environment.LANDFALL_REVISION_ID,
    deploymentId: environment.LANDFALL_DEPLOYMENT_ID,
    holdUntil: environment.LANDFALL_HOLD_UNTIL === undefined ? undefined : new Date(environment.LANDFALL_HOLD_UNTIL),
    tracing: tracingOf(environment),
    webhooks: { privateNetworks: environment.LANDFALL_WEBHOOK_PRIVATE === 'allow' },
    log,
    clock: systemClock,
  });
  const leave = async (): Promise<void> => {
    await server.close().catch((error: unknown) => {
      log.error(`Shutdown failed: ${stackOf(error)}`);
      process.exit(1);
    });
    process.exit(0);
  };
  process.once('SIGTERM', () => void leave());
  process.once('SIGINT', () => void leave());
  const sendEvent = (event: object): void => void process.stdout.write(`${JSON.stringify(event)}\n`);
  // Exit when the parent dies, even while a command is running.
  if (isPipe()) process.stdin.once('close', () => void leave());
  sendEvent({ event: 'listening', port: server.port });
  if (isPipe()) await takeCommands(process.stdin, server, sendEvent);
} catch (error) {
  for (const line of error instanceof StartupError ? startupLines(error) : [stackOf(error)])
    process.stderr.write(`${line}\n`);
  process.exit(1);
}

/** Whether the input is a pipe to a parent: only then its end means that the parent is gone. */
function isPipe(): boolean {
  const input = fstatSync(0);
  return input.isFIFO() || input.isSocket();
}
