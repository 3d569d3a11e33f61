import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ControlStore } from '../store/store.ts';
import type { ListedKey, NewKey } from './repository.ts';
import type { Tenant } from './operator-database.ts';
import { hashApiKey, makeApiKey, readApiKey } from './api-key.ts';
import { readSecretFile } from './secret-file.ts';

class OperatorError extends Error {
  override readonly name = 'OperatorError';
}

const by = { kind: 'operator' } as const;

/** The operator's commands on an installation. */
export function operatorOf(store: ControlStore) {
  /** Finds a tenant by its id or by its name. */
  async function tenant(word: string): Promise<Tenant> {
    const all = await store.listTenants();
    const found = all.filter(({ id, name }) => id === word.toLowerCase() || name === word);
    if (found[0] && found.length === 1) return found[0];
    throw new OperatorError(
      found.length === 0
        ? `There is no tenant ${word}. See: landfall local tenants list.`
        : `Several tenants are named ${word}. Name the one you mean by its id: landfall local tenants list.`,
    );
  }

  return {
    listTenants: () => store.listTenants(),

    listInstallations: () => store.listInstallations(),

    async bindInstallation(installationId: number, word: string): Promise<{ tenant: Tenant; account: string }> {
      const bound = await tenant(word);
      const known = (await store.listInstallations()).find((one) => Number(one.installation_id) === installationId);
      const account = known?.account ?? String(installationId);
      await store.once({ tenantId: bound.id, by, operation: 'bind integration' }, async (within, record) => {
        await within.bindInstallation(bound.id, installationId, account);
        await record({ installation_id: String(installationId), account });
      });
      return { tenant: bound, account };
    },

    /** Unbinds an installation from a tenant, whose deployments can't clone its private repositories any more. */
    async unbindInstallation(installationId: number, word: string): Promise<{ tenant: Tenant }> {
      const bound = await tenant(word);
      await store.once({ tenantId: bound.id, by, operation: 'unbind integration' }, async (within, record) => {
        if (!(await within.unbindInstallation(bound.id, installationId))) {
          throw new OperatorError(
            `${bound.name} does not have the installation ${installationId}. See: landfall local integrations list.`,
          );
        }
        await record({ installation_id: String(installationId) });
      });
      return { tenant: bound };
    },

    /** Creates a tenant with a unique name; returns its id. */
    async addTenant(name: string): Promise<string> {
      if ((await store.listTenants()).some((one) => one.name === name)) {
        throw new OperatorError(`There is a tenant named ${name} already. Choose another name.`);
      }
      const id = randomUUID();
      await store.once({ tenantId: id, by, operation: 'add tenant' }, async (within, record) => {
        await within.addTenant(name, id);
        await record({ tenant_name: name });
      });
      return id;
    },

    /** All valid keys, or those of one tenant. */
    listKeys: async (word?: string): Promise<ListedKey[]> =>
      store.listKeys(word === undefined ? undefined : (await tenant(word)).id),

    /** Creates a key for one or more tenants. `text` is returned only here. */
    async addKey(
      name: string,
      words: readonly string[],
      rights: Pick<NewKey, 'scopes' | 'expires_at'> = {},
    ): Promise<{ id: string; text: string; tenants: Tenant[] }> {
      const tenants = await Array.fromAsync(words, tenant);
      const [first, ...others] = new Set(tenants.map(({ id }) => id));
      if (first === undefined) throw new OperatorError('Name the tenant of the key: --tenant NAME.');
      const key = makeApiKey();
      const operation = 'create api key';
      const subject = { api_key_id: key.id, api_key_name: name };
      await store.once({ tenantId: first, by, operation }, async (within, record) => {
        await within.addKey({
          id: key.id,
          tenant_id: first,
          other_tenants: others,
          hash: hashApiKey(key),
          name,
          ...rights,
        });
        await record(subject);
        for (const tenantId of others) await within.recordChange({ tenantId, by, operation, subject });
      });
      return { id: key.id, text: key.text, tenants };
    },

    /** Revokes any key. Also removes the file of the installation's: the next start creates another one. */
    async revokeKey(id: string, dataDir: string): Promise<{ key: ListedKey; fileRemoved: boolean }> {
      const key = (await store.listKeys()).find((one) => one.id === id);
      if (!key) throw new OperatorError(`There is no key ${id} that opens anything. See: landfall local keys list.`);
      const operation = 'revoke api key';
      const subject = { api_key_id: id, api_key_name: key.name };
      const [first = '', ...others] = key.tenant_ids;
      await store.once({ tenantId: first, by, operation }, async (within, record) => {
        await within.revokeKey(id);
        await record(subject);
        for (const tenantId of others) await within.recordChange({ tenantId, by, operation, subject });
      });
      return { key, fileRemoved: await removeKeptFile(join(dataDir, 'api-key'), id) };
    },
  };
}

async function removeKeptFile(file: string, id: string): Promise<boolean> {
  const line = await readSecretFile(file);
  if (line === undefined || readApiKey(line)?.id !== id) return false;
  await rm(file);
  return true;
}
