import type { Logger } from '../../../kit/logger.ts';
import { messageOf } from '../../../kit/errors.ts';
import { systemClock } from '../../../kit/clock.ts';
import type { ProgramEnvironment } from '../../../kit/run-until-signal.ts';
import { createStore } from '../store/store.ts';
import { operatorUsage, readOperatorCommand, type OperatorCommand } from './operator-command.ts';
import { openForOperator } from './operator-database.ts';
import { operatorOf } from './operator.ts';

/** Runs the operator's command; returns the exit code. */
export async function runOperator(
  args: string[],
  { env, say, printError, log }: Pick<ProgramEnvironment, 'env' | 'say' | 'printError'> & { log: Logger },
): Promise<number> {
  const read = readOperatorCommand(args);
  if (!read.ok) {
    printError(`${read.problem}\nAll commands and options: landfall local tenants --help`);
    return 2;
  }
  const { command } = read;
  if (command.kind === 'help') {
    say(operatorUsage);
    return 0;
  }
  try {
    const database = await openForOperator({ databaseUrl: env['DATABASE_URL'], dataDir: command.data, log });
    try {
      const { value, words } = await perform(command, operatorOf(createStore(database.db, systemClock)));
      say(command.json ? JSON.stringify(value) : words);
      return 0;
    } finally {
      await database.close();
    }
  } catch (error) {
    printError(messageOf(error));
    return 1;
  }
}

/** The result: as JSON, and in words. */
async function perform(command: Exclude<OperatorCommand, { kind: 'help' }>, operator: ReturnType<typeof operatorOf>) {
  switch (command.kind) {
    case 'add tenant': {
      const id = await operator.addTenant(command.name);
      return {
        value: { id, name: command.name },
        words: `The tenant ${command.name} is ${id}. It has no key yet: landfall local keys add --tenant ${id} --name NAME`,
      };
    }
    case 'list tenants': {
      const tenants = await operator.listTenants();
      return { value: tenants, words: lines(tenants.map(({ id, name }) => [id, name])) };
    }
    case 'add key': {
      const { scopes, expiresInDays } = command;
      const { id, text, tenants } = await operator.addKey(command.name, command.tenants, {
        scopes,
        expires_at: expiresInDays === undefined ? null : new Date(systemClock.now() + expiresInDays * dayMs),
      });
      const tenant_ids = tenants.map((tenant) => tenant.id);
      const header = tenants.length > 1 ? ' Requests with it name one of them in the header X-Tenant-Id.' : '';
      return {
        value: { id, name: command.name, tenant_ids, key: text },
        words: `${text}\nThis is the key ${command.name} of ${tenants.map(({ name }) => name).join(', ')}. It is shown only once.${header}`,
      };
    }
    case 'list integrations': {
      const installations = await operator.listInstallations();
      const shown = installations.map(({ installation_id, account, is_suspended, is_gone, tenant_ids }) => [
        installation_id,
        account,
        is_gone ? 'gone' : is_suspended ? 'suspended' : 'installed',
        tenant_ids.length === 0 ? 'unbound' : tenant_ids.join(','),
      ]);
      return { value: installations, words: lines(shown) };
    }
    case 'bind integration': {
      const { tenant, account } = await operator.bindInstallation(command.installationId, command.tenant);
      const value = { installation_id: command.installationId, tenant_id: tenant.id };
      return { value, words: `${tenant.name} may build from the repositories of ${account}.` };
    }
    case 'unbind integration': {
      const { tenant } = await operator.unbindInstallation(command.installationId, command.tenant);
      const value = { installation_id: command.installationId, tenant_id: tenant.id };
      return { value, words: `${tenant.name} has the installation ${command.installationId} no more.` };
    }
    case 'list keys': {
      const keys = await operator.listKeys(command.tenant);
      const shown = keys.map(({ id, name, tenant_ids, last_used_at, scopes, expires_at }) => [
        id,
        name,
        tenant_ids.join(','),
        last_used_at === null ? 'never used' : `last used ${last_used_at.toISOString()}`,
        scopes.join(','),
        expires_at === null ? '' : `until ${expires_at.toISOString()}`,
      ]);
      return { value: keys, words: lines(shown) };
    }
    case 'revoke key': {
      const { key, fileRemoved } = await operator.revokeKey(command.id, command.data);
      const next = !key.is_kept
        ? ''
        : fileRemoved
          ? ' It was the key of the installation; its file is removed, and the next start makes another.'
          : ' It was the key of the installation: remove its file, api-key in the data folder, and the next start makes another.';
      return {
        value: { id: key.id, name: key.name },
        words: `The key ${key.id} (${key.name}) opens nothing any more.${next}`,
      };
    }
  }
}

const dayMs = 24 * 60 * 60_000;

/** Formats rows in columns; an empty list gets a message. */
function lines(rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return 'There is none.';
  const widthOf = (column: number): number => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  const lineOf = (row: readonly string[]): string => row.map((word, at) => word.padEnd(widthOf(at))).join('  ');
  return rows.map((row) => lineOf(row).trimEnd()).join('\n');
}
