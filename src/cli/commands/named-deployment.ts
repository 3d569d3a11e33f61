import type { Deployment } from '../../contract/control/deployment.ts';
import { allEntriesOf } from '../../contract/control/pages.ts';
import type { ControlService } from '../../contract/control/service.ts';
import { ifFound } from '../../contract/service-error.ts';
import { defaultConfigPath } from '../../deploy/file/deploy-file.ts';
import { findDeployment } from '../../deploy/machine/find-deployments.ts';
import { readRequested } from '../../deploy/file/read-desired.ts';
import { readTextFile, workspaceCases } from '../../host/workspace.ts';
import { didYouMean } from '../../kit/diagnostics/did-you-mean.ts';
import { formatProblem } from '../../kit/diagnostics/problem.ts';
import { isUuid } from '../../kit/uuid.ts';
import { CommandRefused } from '../problems.ts';

type Control = Pick<ControlService, 'getDeployment' | 'listDeployments'>;

/**
 * The deployment of this name or id. Without a name it is the only one of the deploy file, and without a file the only
 * one of the service. @throws CommandRefused
 */
export async function namedDeployment(
  written: string | undefined,
  { config, entry }: { config: string | undefined; entry: string | undefined },
  control: Control,
): Promise<Deployment> {
  const name = written ?? nameInFile(config?.trim() || defaultConfigPath, config !== undefined, entry);
  if (name !== undefined && isUuid(name)) {
    const found = await ifFound(control.getDeployment(name));
    if (!found) throw new CommandRefused(`The service has no deployment with the id ${name}.`, allDeployments);
    return found;
  }
  if (name !== undefined) {
    const found = await findDeployment({ name }, control);
    if (found.ok) return found.deployment;
    if (found.matches > 0)
      throw new CommandRefused(`The service has ${found.matches} deployments ${name}.`, 'Give the id of one.');
  }
  const all = await allEntriesOf((page) => control.listDeployments(page));
  const names = all.map((each) => each.name);
  if (name !== undefined) {
    const meant = didYouMean(name, names) ?? names.find((each) => each.includes(name));
    throw new CommandRefused(
      `The service has no deployment ${name}.`,
      meant === undefined ? allDeployments : `Did you mean ${meant}? ${allDeployments}`,
    );
  }
  const [only, ...more] = all;
  if (!only) throw new CommandRefused('The service has no deployment.', 'Make the first one with landfall deploy.');
  if (more.length === 0) return control.getDeployment(only.id);
  throw new CommandRefused('The service has more than one deployment.', `Give the name of one: ${listed(names)}.`);
}

const allDeployments = 'landfall list shows all.';
const maxListed = 10;

const listed = (names: readonly string[]): string =>
  names.length > maxListed ? `${names.slice(0, maxListed).join(', ')}, …` : names.join(', ');

/** The name or the id of the only deployment of a deploy file; undefined where there is no file. */
function nameInFile(path: string, isGiven: boolean, entry: string | undefined): string | undefined {
  const file = readTextFile(path);
  if (file.kind === 'unreadable') throw new CommandRefused(formatProblem(file.problem));
  if (file.kind === 'absent') {
    if (isGiven) throw new CommandRefused(`There is no file ${path}.`, 'Give the path of a deploy file.');
    return undefined;
  }
  const read = readRequested({
    inputs: entry === undefined ? {} : { deployment: entry },
    file: { text: file.text, path },
    cases: workspaceCases,
  });
  if (!read.ok) {
    const [first] = read.problems;
    throw new CommandRefused(
      `The deploy file has mistakes${first ? `: ${formatProblem(first)}` : ''}`,
      'Mend it (landfall validate shows all), or give the name of the deployment.',
    );
  }
  const names = read.deployments.flatMap(({ deploymentId, name }) => deploymentId ?? name ?? []);
  const [only, ...more] = names;
  if (more.length === 0) return only;
  throw new CommandRefused(`${path} has more than one deployment.`, `Give the name of one: ${listed(names)}.`);
}
