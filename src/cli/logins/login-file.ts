import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { writeWhole } from '../../host/written-files.ts';
import { hasCode, missingCodes } from '../../kit/errors.ts';
import { fromJson } from '../../kit/json-text.ts';
import { withoutTrailingSlashes } from '../../kit/plain-text.ts';

/** A service that a person logged in to. */
const login = z.object({
  base_url: z.string(),
  api_key: z.string(),
  tenant_id: z.string().optional(),
  allow_http: z.boolean().optional(),
});
export type Login = z.infer<typeof login>;

const loginFile = z.object({
  /** The service of commands that name none. */
  current: z.string().nullable(),
  services: z.record(z.string(), login),
});

/** The services by name, and which of them is meant where none is named. */
export type Logins = z.infer<typeof loginFile>;

/** The login of this name; no property that every object has. */
export const loginOf = (services: Logins['services'], name: string): Login | undefined =>
  Object.hasOwn(services, name) ? services[name] : undefined;

/** Whether a login may have this name: that of a host with its port is one. */
export const isLoginName = (name: string): boolean => /^[a-z\d[][\w.:[\]-]*$/i.test(name);

type Environment = Readonly<Record<string, string | undefined>>;

/** The file of the logins: `services.json` in the user's configuration folder. */
export const loginPath = (env: Environment): string =>
  join(env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config'), 'landfall', 'services.json');

/** The stored logins, none where there is no file; or why the file can't be read. */
export function readLogins(env: Environment): { ok: true; logins: Logins } | { ok: false; problem: string } {
  const path = loginPath(env);
  try {
    const read = loginFile.safeParse(fromJson(readFileSync(path, 'utf8')));
    if (read.success) return { ok: true, logins: read.data };
    return { ok: false, problem: `${path} does not hold logins. Delete it and run landfall login again.` };
  } catch (error) {
    if (hasCode(error, ...missingCodes)) return { ok: true, logins: { current: null, services: {} } };
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    return { ok: false, problem: `${path} can't be read${code}. Check its owner and its mode.` };
  }
}

/** Stores the logins, readable by their owner only. */
export const writeLogins = (logins: Logins, env: Environment): Promise<void> =>
  writeWhole(loginPath(env), `${JSON.stringify(logins, undefined, 2)}\n`, 0o600);

/** Whether two addresses are the same service. */
export const isSameAddress = (one: string, other: string): boolean => comparable(one) === comparable(other);

const comparable = (address: string): string =>
  withoutTrailingSlashes((URL.parse(address.trim())?.href ?? address).trim());
