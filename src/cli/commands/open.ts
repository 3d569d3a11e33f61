import { spawn } from 'node:child_process';
import type { Deployment } from '../../contract/control/deployment.ts';
import type { ControlService } from '../../contract/control/service.ts';
import { deploymentPage } from '../../deploy/machine/console-page.ts';
import { withoutTrailingSlashes } from '../../kit/plain-text.ts';
import { CommandRefused, exitCodes, type ExitCode } from '../problems.ts';
import type { Terminal } from '../terminal.ts';
import { type Invocation, withDeployment } from './service-session.ts';

/** Prints the address of a deployment's page in the console, and opens it in the browser. */
export function openConsole(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  return withDeployment(invocation, terminal, async (session, deployment) => {
    const url = await consoleAddress(deployment, session);
    if (url === undefined) {
      throw new CommandRefused('The service has no console.', 'Only the service of this project has one.');
    }
    terminal.print(url);
    const isOpened = terminal.width !== undefined && (await openInBrowser(url));
    terminal.conclude({ url, opened: isOpened });
    return exitCodes.passes;
  });
}

/** The console's page of a deployment; undefined where the service has no console. */
export async function consoleAddress(
  { id }: Pick<Deployment, 'id'>,
  { control, baseUrl }: { control: Pick<ControlService, 'features'>; baseUrl: string },
): Promise<string | undefined> {
  const { consoleUrl, verdicts } = await control.features();
  // A service of this machine announces no address, because only this machine reaches it.
  const home = consoleUrl ?? (verdicts ? `${withoutTrailingSlashes(baseUrl)}/console` : undefined);
  return deploymentPage(home, id);
}

/** The system's own opener. The address is an argument of its own, which no shell reads. */
const openers = new Map<NodeJS.Platform, readonly [string, ...string[]]>([
  ['darwin', ['open']],
  ['win32', ['rundll32', 'url.dll,FileProtocolHandler']],
]);

/** Opens an address in the browser; false where the system has no opener. */
function openInBrowser(url: string): Promise<boolean> {
  const [program, ...args] = openers.get(process.platform) ?? ['xdg-open'];
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  return new Promise((resolve) => {
    child.on('error', () => resolve(false));
    child.on('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
