import type { Deployment } from '../../contract/control/deployment.ts';
import { knownSecrets, type Secret } from '../../contract/control/secret.ts';
import { didYouMean } from '../../kit/diagnostics/did-you-mean.ts';
import { CommandRefused, exitCodes, type ExitCode } from '../problems.ts';
import { readSecret } from '../read-secret.ts';
import type { Terminal } from '../terminal.ts';
import { changeOptions, followRevision } from './follow-revision.ts';
import { type Invocation, printList, type ServiceSession, withDeployment } from './service-session.ts';
import type { Column } from './text-table.ts';

/** The fields of `landfall secrets list`: a value is never shown. */
export const secretColumns: readonly Column<{ name: string }>[] = [
  { field: 'name', heading: 'NAME', value: ({ name }) => name },
];

/** Lists the names of the secrets of a deployment. */
export function listSecrets(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  return withDeployment(invocation, terminal, async (_, { name, secrets }) => {
    if (!secrets) throw new CommandRefused('The service does not list secrets.', 'Set them with landfall deploy.');
    const rows = secrets.toSorted((one, other) => (one.name < other.name ? -1 : 1));
    const none = `Deployment ${name} has no secret. landfall secrets set NAME sets one.`;
    return printList({ name: 'secrets', columns: secretColumns, none }, rows, terminal);
  });
}

/** Sets a secret to the value from standard input, which makes a revision. */
export function setSecret(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const [name = '', deploymentName] = invocation.args;
  const change = async (session: ServiceSession, deployment: Deployment): Promise<ExitCode> => {
    const known = valuesOf(deployment);
    const value = await readSecret(`Value of ${name} (not shown): `);
    terminal.hide(value);
    if (value === '') throw new CommandRefused(`No value of ${name} was given.`, 'Type it, or pipe it to the command.');
    if (known.some((secret) => secret.name === name && secret.value === value)) {
      return unchanged(`${name} has this value already.`, deployment, terminal);
    }
    const others = known.filter((secret) => secret.name !== name);
    return patchSecrets([...others, { name, value }], deployment, session, invocation);
  };
  return withDeployment(invocation, terminal, change, { name: deploymentName });
}

/** Removes a secret, which makes a revision. */
export function removeSecret(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const [name = '', deploymentName] = invocation.args;
  const change = async (session: ServiceSession, deployment: Deployment): Promise<ExitCode> => {
    const known = valuesOf(deployment);
    const others = known.filter((secret) => secret.name !== name);
    if (others.length < known.length) return patchSecrets(others, deployment, session, invocation);
    const names = known.map((secret) => secret.name);
    const meant = didYouMean(name, names);
    const advice =
      meant === undefined ? `landfall secrets list ${deployment.name} shows all.` : `Did you mean ${meant}?`;
    throw new CommandRefused(`Deployment ${deployment.name} has no secret ${name}.`, advice);
  };
  return withDeployment(invocation, terminal, change, { name: deploymentName });
}

/** The secrets with their values, which a change of one sends again. @throws CommandRefused if the service hides them */
function valuesOf({ name, secrets }: Deployment): Secret[] {
  const known = knownSecrets(secrets);
  if (known && secrets) return known;
  throw new CommandRefused(
    `The service hides the values of the secrets of ${name}, and a change replaces all of them.`,
    'Set all together with landfall deploy --secrets.',
  );
}

async function patchSecrets(
  secrets: Secret[],
  deployment: Deployment,
  session: ServiceSession,
  invocation: Invocation,
): Promise<ExitCode> {
  const options = { ...(await changeOptions(deployment, session.control)), signal: session.signal };
  const changed = await session.control.patchDeployment(deployment.id, { secrets }, options);
  if (changed.latest_revision_id === null || changed.latest_revision_id === deployment.latest_revision_id) {
    return unchanged('The secrets are stored for the first revision.', deployment, session.terminal);
  }
  return followRevision(changed, session, invocation);
}

function unchanged(sentence: string, { id, active_revision_id }: Deployment, terminal: Terminal): ExitCode {
  terminal.print(sentence);
  terminal.conclude({
    deployment_id: id,
    revision_id: active_revision_id,
    status: null,
    message: sentence,
    passes: true,
  });
  return exitCodes.passes;
}
