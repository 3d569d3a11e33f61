import { connectControlService } from '../../client/control.ts';
import { ServiceError } from '../../contract/service-error.ts';
import { OptionReader } from '../../deploy/file/option-reader.ts';
import { didYouMean } from '../../kit/diagnostics/did-you-mean.ts';
import { messageOf } from '../../kit/errors.ts';
import { readAddress } from '../../kit/base-address.ts';
import { version } from '../../kit/version.ts';
import { isLoginName, loginOf, loginPath, type Logins, readLogins, writeLogins } from '../logins/login-file.ts';
import { exitCodes, refuseFailure, refuseFor, refuseUsage, type ExitCode } from '../problems.ts';
import { readSecret } from '../read-secret.ts';
import type { Terminal } from '../terminal.ts';
import { printList, type Invocation } from './service-session.ts';
import type { Column } from './text-table.ts';

/** Checks a key at a service, and stores both for the other commands. */
export async function login({ args, options }: Invocation, terminal: Terminal): Promise<ExitCode> {
  const [url = ''] = args;
  const allowHttp = new OptionReader(options).flag('allow-http');
  const address = readAddress(url, { allowHttp });
  if (!address.ok) return refuseUsage(`${address.shown}: ${address.problem}.`, terminal);
  const name = options['service'] ?? nameOf(url);
  if (!isLoginName(name)) {
    return refuseUsage('--service takes a name of letters, digits and . : _ -, such as team.', terminal);
  }
  const stored = readLogins(process.env);
  if (!stored.ok) return refuseFor(stored.problem, undefined, terminal);
  const apiKey = (await readSecret(`Key of ${url} (not shown): `)).trim();
  terminal.hide(apiKey);
  if (apiKey === '') return refuseFor('No key was given.', 'Type it, or pipe it to the command.', terminal);
  const tenantId = options['tenant-id'];
  const settings = { baseUrl: url, apiKey, tenantId, allowHttp, userAgent: `landfall-cli/${version}` };
  const control = connectControlService({ ...settings, spelling: 'auto' });
  try {
    await control.listDeployments({ limit: 1 });
  } catch (error) {
    if (error instanceof ServiceError) return refuseFailure(error, terminal);
    throw error;
  } finally {
    await control.close();
  }
  const made = {
    base_url: url,
    api_key: apiKey,
    ...(tenantId === undefined ? {} : { tenant_id: tenantId }),
    ...(allowHttp ? { allow_http: true } : {}),
  };
  const { services } = stored.logins;
  const failure = await store({ current: name, services: { ...services, [name]: made } }, terminal);
  if (failure !== undefined) return failure;
  terminal.print(`Logged in to ${url} as ${name}. Commands without --service use it from now on.`);
  terminal.conclude({ service: name, url, file: loginPath(process.env) });
  return exitCodes.passes;
}

/** Forgets the login of a service: the key stays valid. */
export async function logout({ options }: Invocation, terminal: Terminal): Promise<ExitCode> {
  const stored = readLogins(process.env);
  if (!stored.ok) return refuseFor(stored.problem, undefined, terminal);
  const { current, services } = stored.logins;
  const name = options['service'] ?? current;
  if (name === null) return refuseFor('There is no login.', 'Log in with landfall login.', terminal);
  if (loginOf(services, name) === undefined) return refuseUnknown(name, services, terminal);
  const others = Object.fromEntries(Object.entries(services).filter(([each]) => each !== name));
  const [next = null] = name === current ? Object.keys(others) : [current];
  const failure = await store({ current: next, services: others }, terminal);
  if (failure !== undefined) return failure;
  terminal.print(`The login of ${name} is deleted here. Its key stays valid: revoke it where it was made.`);
  terminal.conclude({ service: name, current: next });
  return exitCodes.passes;
}

/** A login of the list. */
interface ListedLogin {
  name: string;
  url: string;
  isCurrent: boolean;
}

/** The fields of `landfall services list`: a key is never shown. */
export const loginColumns: readonly Column<ListedLogin>[] = [
  { field: 'name', heading: 'NAME', value: ({ name }) => name },
  {
    field: 'current',
    heading: 'CURRENT',
    value: ({ isCurrent }) => isCurrent,
    text: ({ isCurrent }) => (isCurrent ? 'yes' : ''),
  },
  { field: 'url', heading: 'ADDRESS', value: ({ url }) => url },
];

/** Lists the services that a person logged in to. */
export async function listLogins(_: Invocation, terminal: Terminal): Promise<ExitCode> {
  const stored = readLogins(process.env);
  if (!stored.ok) return refuseFor(stored.problem, undefined, terminal);
  const { current, services } = stored.logins;
  const rows = Object.entries(services).map(([name, { base_url: url }]) => ({
    name,
    url,
    isCurrent: name === current,
  }));
  return printList(
    { name: 'services', columns: loginColumns, none: 'There is no login. Log in with landfall login.' },
    rows,
    terminal,
  );
}

/** Makes one of the services the current one. */
export async function chooseService({ args: [name = ''] }: Invocation, terminal: Terminal): Promise<ExitCode> {
  const stored = readLogins(process.env);
  if (!stored.ok) return refuseFor(stored.problem, undefined, terminal);
  const { services } = stored.logins;
  if (loginOf(services, name) === undefined) return refuseUnknown(name, services, terminal);
  const failure = await store({ current: name, services }, terminal);
  if (failure !== undefined) return failure;
  terminal.print(`Commands without --service use ${name} from now on.`);
  terminal.conclude({ current: name });
  return exitCodes.passes;
}

function refuseUnknown(name: string, services: Logins['services'], terminal: Terminal): ExitCode {
  const meant = didYouMean(name, Object.keys(services));
  const advice = meant === undefined ? 'landfall services list shows all.' : `Did you mean ${meant}?`;
  return refuseFor(`There is no login for the service ${name}.`, advice, terminal);
}

/** Stores the logins; the exit code where that fails. */
async function store(logins: Logins, terminal: Terminal): Promise<ExitCode | undefined> {
  try {
    await writeLogins(logins, process.env);
    return undefined;
  } catch (error) {
    const advice = 'Make its folder writable, or name another with XDG_CONFIG_HOME.';
    return refuseFor(`${loginPath(process.env)} can't be written: ${messageOf(error)}.`, advice, terminal);
  }
}

/** What a service is called where no name is given: its host, and `local` on this machine. */
function nameOf(url: string): string {
  const { hostname, host } = new URL(url);
  return /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname) ? 'local' : host;
}
