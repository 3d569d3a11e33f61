import type { Command } from 'commander';
import { didYouMean } from '../../kit/diagnostics/did-you-mean.ts';
import { exitCodes } from '../problems.ts';
import { isSameAddress, type Login, loginOf, readLogins } from './login-file.ts';

/**
 * Sets the options of a command that neither the command line nor the environment sets from a stored login: the one
 * that `--service` names, else that of the address, else the current one. The key of a login goes to its address only.
 * @throws CommanderError where the named service is unknown
 */
export function useLogin(command: Command, env: NodeJS.ProcessEnv): void {
  const textOf = (attribute: string): string | undefined => {
    const value: unknown = command.getOptionValue(attribute);
    return typeof value === 'string' && value.trim() !== '' ? value : undefined;
  };
  const refuse = (problem: string): never => command.error(`error: ${problem}`, { exitCode: exitCodes.wrongUsage });
  const [chosen, address] = [textOf('service'), textOf('baseUrl')];
  const isWritten = (attribute: string): boolean => command.getOptionValueSource(attribute) === 'cli';
  if (chosen !== undefined && isWritten('baseUrl')) refuse('--service and --base-url name two services. Give one.');
  const read = readLogins(env);
  if (!read.ok) return chosen === undefined && address !== undefined ? undefined : refuse(read.problem);
  const { current, services } = read.logins;
  if (chosen !== undefined && loginOf(services, chosen) === undefined) {
    const meant = didYouMean(chosen, Object.keys(services));
    const advice = meant === undefined ? 'Log in to it with landfall login.' : `Did you mean ${meant}?`;
    refuse(`There is no login for the service ${chosen}. ${advice}`);
  }
  const ofAddress = (): Login | undefined =>
    address === undefined
      ? loginOf(services, current ?? '')
      : Object.values(services).find(({ base_url }) => isSameAddress(base_url, address));
  const login = chosen === undefined ? ofAddress() : loginOf(services, chosen);
  if (login === undefined) return;
  const set = (attribute: string, value: string | undefined): void => {
    const isKept =
      chosen === undefined && address !== undefined ? textOf(attribute) !== undefined : isWritten(attribute);
    if (!isKept) command.setOptionValueWithSource(attribute, value, 'config');
  };
  const hasToken = (env['LANDFALL_OIDC_TOKEN']?.trim() ?? '') !== '' && chosen === undefined;
  set('baseUrl', login.base_url);
  if (!hasToken) set('apiKey', login.api_key);
  set('tenantId', login.tenant_id);
  if (login.allow_http) set('allowHttp', 'true');
}
