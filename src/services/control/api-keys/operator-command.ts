import { usualDataFolder } from '../data-folder.ts';
import { parseArgs } from 'node:util';
import { apiKeyScopes, type ApiKeyScope } from '../../../contract/control/api-key-scopes.ts';
import { didYouMeanClause, wrongArguments } from '../wrong-arguments.ts';

export const operatorUsage = `Looks after the tenants, the API keys and the integrations of an installation, while its service runs or not.

  landfall local tenants add NAME
  landfall local tenants list
  landfall local keys add --tenant TENANT --name NAME   prints the key, this once; --tenant may be repeated
      --scope SCOPE          read, deploy, agent or admin (the default); may be repeated
      --expires-in-days N    it is refused from then on
  landfall local keys list [--tenant TENANT]
  landfall local keys revoke KEY_ID
  landfall local integrations list              the GitHub App's installations, and whose they are
  landfall local integrations bind INSTALLATION --tenant TENANT
  landfall local integrations unbind INSTALLATION --tenant TENANT

  --data DIR         the data folder of the service (${usualDataFolder()})
  --json             one line of JSON
  --help

TENANT is the id or the name of a tenant. DATABASE_URL has to be the one that the service has, or none as there.`;

export type OperatorCommand = { data: string; json: boolean } & (
  | { kind: 'help' }
  | { kind: 'add tenant'; name: string }
  | { kind: 'list tenants' }
  | {
      kind: 'add key';
      name: string;
      tenants: string[];
      scopes: ApiKeyScope[] | undefined;
      expiresInDays: number | undefined;
    }
  | { kind: 'list keys'; tenant: string | undefined }
  | { kind: 'revoke key'; id: string }
  | { kind: 'list integrations' }
  | { kind: 'bind integration' | 'unbind integration'; installationId: number; tenant: string }
);

/** The operator's resources, each with its commands. */
const verbs: ReadonlyMap<string, readonly string[]> = new Map([
  ['tenants', ['add', 'list']],
  ['keys', ['add', 'list', 'revoke']],
  ['integrations', ['list', 'bind', 'unbind']],
]);

/** The first words of the operator's commands. */
export const operatorsWords: readonly string[] = [...verbs.keys()];

/** Whether a command line of `landfall local` is an operator's command. */
export const isOperators = ([first]: readonly string[]): boolean => first !== undefined && verbs.has(first);

const flags = {
  tenant: { type: 'string', multiple: true },
  name: { type: 'string' },
  scope: { type: 'string', multiple: true },
  'expires-in-days': { type: 'string' },
  data: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/** Parses the operator's command line, or returns what is wrong with it. */
export function readOperatorCommand(
  args: string[],
): { ok: true; command: OperatorCommand } | { ok: false; problem: string } {
  let read;
  try {
    read = parseArgs({ args, allowPositionals: true, options: flags });
  } catch (error) {
    return { ok: false, problem: wrongArguments(error, Object.keys(flags)) };
  }
  const { tenant: tenants = [], name, scope, data = usualDataFolder(), json = false, help = false } = read.values;
  const days = read.values['expires-in-days'];
  const [what = '', verb = '', word, ...more] = read.positionals;
  const common = { data, json };
  const wrong = (problem: string) => ({ ok: false as const, problem });
  const command = (requested: OperatorCommand) => ({ ok: true as const, command: requested });
  if (help) return command({ ...common, kind: 'help' });
  if (data === '') return wrong('--data is empty.');
  if (more.length > 0) return wrong(`Unexpected argument ${more[0]}.`);
  if (name !== undefined && !isName(name)) return wrong('--name is one line of 1 to 100 characters.');
  switch (`${what} ${verb}`) {
    case 'tenants add':
      if (word === undefined || !isName(word)) return wrong('Name the tenant: one line of 1 to 100 characters.');
      return command({ ...common, kind: 'add tenant', name: word });
    case 'tenants list':
      return command({ ...common, kind: 'list tenants' });
    case 'keys add': {
      if (name === undefined || tenants.length === 0) return wrong('A key takes --tenant and --name.');
      const scopes = scope?.flatMap((one) => apiKeyScopes.find((known) => known === one) ?? []);
      if (scopes?.length !== scope?.length) return wrong(`--scope is one of ${apiKeyScopes.join(', ')}.`);
      if (days !== undefined && !/^[1-9]\d{0,3}$/.test(days))
        return wrong('--expires-in-days is a number of days, 1 to 9999.');
      const expiresInDays = days === undefined ? undefined : Number(days);
      return command({ ...common, kind: 'add key', name, tenants, scopes, expiresInDays });
    }
    case 'keys list':
      if (tenants.length > 1) return wrong('keys list takes one --tenant.');
      return command({ ...common, kind: 'list keys', tenant: tenants[0] });
    case 'keys revoke':
      if (word === undefined) return wrong('Name the key by its id, the 16 digits after lf_.');
      return command({ ...common, kind: 'revoke key', id: keyId(word) });
    case 'integrations list':
      return command({ ...common, kind: 'list integrations' });
    case 'integrations bind':
    case 'integrations unbind': {
      const [tenant, another] = tenants;
      const isNumber = word !== undefined && /^[1-9]\d{0,14}$/.test(word);
      if (!isNumber) return wrong('Name the installation by its number: landfall local integrations list.');
      if (tenant === undefined || another !== undefined) return wrong(`integrations ${verb} takes one --tenant.`);
      const kind = verb === 'bind' ? 'bind integration' : 'unbind integration';
      return command({ ...common, kind, installationId: Number(word), tenant });
    }
    default:
      if (verb === '') return wrong(`${what} has no command without a word.`);
      return wrong(`${what} has no ${verb}${didYouMeanClause(verb, verbs.get(what) ?? [])}`);
  }
}

const isName = (text: string): boolean => /^[^\p{Cc}]{1,100}$/u.test(text) && text.trim() !== '';

/** A whole key is accepted in place of its id; only the id is used. */
const keyId = (word: string): string => /^lf_([0-9a-f]{16})_/.exec(word)?.[1] ?? word;
