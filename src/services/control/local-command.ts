import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../../kit/errors.ts';
import { createProgramLogger } from '../../kit/program-logger.ts';
import { systemClock } from '../../kit/clock.ts';
import { readAddress } from '../../kit/base-address.ts';
import { fieldSpellings } from '../../contract/control/aliases.ts';
import { githubIssuer } from '../../contract/control/trust-policy.ts';
import { areIsolated } from './gateway/agents-origin.ts';
import { computeKinds } from './compute/local-compute.ts';
import { readGithubSettings } from './integrations/github-settings.ts';
import { readRegistryAddress, registryFrom } from './registry/registry-address.ts';
import { watchWords } from './pushes/watch-pushes.ts';
import { hostings } from './deployments/validation/value-problems.ts';
import { isOperators, operatorsWords } from './api-keys/operator-command.ts';
import { runOperator } from './api-keys/run-operator.ts';
import { startLocal, type LocalServices } from './local.ts';
import { usualDataFolder } from './data-folder.ts';
import { wrongArguments } from './wrong-arguments.ts';
import { runProgram, type ProgramEnvironment } from '../../kit/run-until-signal.ts';

/** The default port: fixed, so that agents keep their addresses. */
export const usualPort = 8420;

export const localUsage = `Runs the control service and its agents on this machine.

  --port P           the port on 127.0.0.1, 0 for a free one (${usualPort})
  --data DIR         the folder of the database, the builds and the API key (${usualDataFolder()})
  --allow-git DIR    lets repo_url name repositories below this folder; may be repeated
  --watch-git WHICH  which repositories are watched for pushes where build_on_push is on: folders of this machine, all,
                     or off (folders); the GitHub App reports pushes to remote repositories
  --hosting WHERE    the kind of hosting that it reports, which decides the allowed sources: any, cloud or self-hosted
                     (any)
  --registry HOST    the image registry of internal_docker, as in HOST/PATH; its user and password, or a refresh
                     token, in LANDFALL_REGISTRY_USER and LANDFALL_REGISTRY_PASSWORD, or LANDFALL_REGISTRY_TOKEN
  --github-app-id ID the GitHub App whose installations are the integrations (APP_ID)
  --github-private-key-file FILE
                     its private key, a .pem file (PRIVATE_KEY_PATH, or the key itself in PRIVATE_KEY)
  --github-api-url URL
                     the API of another GitHub than github.com (GITHUB_API_URL)
  --compute BY       what runs builds: process or container (process); images always run in containers
  --container-engine NAME
                     docker, podman, or the path of a compatible command (the first of the two that responds)
  --container-image IMAGE
                     the image that runs builds with --compute container (an official image of Node.js)
  --max-previews N   the most previews of pull requests of one tenant, from 0 (any number)
  --private-webhooks lets agents' webhooks reach private networks, this machine included
  --base-path PATH   the prefix of all paths, as in /api-host
  --public-url URL   the public address behind a web server with TLS, used in the addresses of agents and uploads
  --agents-url URL   the public address at which the console reaches agents, of another host name than --public-url
                     (http://agents.localhost:P without --public-url)
  --trusted-proxy IP the address of a web server in front, whose X-Forwarded-For names the callers whose wrong keys are
                     counted; may be repeated
  --oidc-issuer URL  an issuer whose tokens are exchanged for keys by trust policies, beside GitHub; may be repeated
  --field-names WORD the spelling of responses: contract or public (contract); requests may use
                     either
  --graph-config-later
                     lets a deployment from uploads be created before its graph configuration file is named, as public
                     clients do
  --json             one line of JSON when ready: {"url", "api_key", "tenant_id", "sign_in_link"}
  --help

DATABASE_URL names your own Postgres; without it one is started here. LANDFALL_SECRETS_KEY may hold the key that encrypts
secrets (32 bytes in base64 or hexadecimal digits), LANDFALL_SECRETS_KEYS_OLD former ones; without it one is kept in the
data folder. LOG_LEVEL (debug, info, warn, error, silent) and LOG_FORMAT (json, pretty) set what is logged and how. Tenants,
keys and integrations: landfall local tenants --help.`;

const localFlags = {
  port: { type: 'string' },
  data: { type: 'string' },
  'allow-git': { type: 'string', multiple: true },
  compute: { type: 'string' },
  'container-engine': { type: 'string' },
  'container-image': { type: 'string' },
  'max-previews': { type: 'string' },
  'private-webhooks': { type: 'boolean' },
  'base-path': { type: 'string' },
  'public-url': { type: 'string' },
  'agents-url': { type: 'string' },
  'trusted-proxy': { type: 'string', multiple: true },
  'oidc-issuer': { type: 'string', multiple: true },
  'field-names': { type: 'string' },
  'graph-config-later': { type: 'boolean' },
  'watch-git': { type: 'string' },
  hosting: { type: 'string' },
  registry: { type: 'string' },
  'github-app-id': { type: 'string' },
  'github-private-key-file': { type: 'string' },
  'github-api-url': { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/** Parses the command line, or returns what is wrong with it. */
export function readLocalCommand(args: string[]) {
  const wrong = (problem: string) => ({ ok: false as const, problem });
  let values;
  try {
    ({ values } = parseArgs({ args, options: localFlags }));
  } catch (error) {
    return wrong(wrongArguments(error, Object.keys(localFlags), operatorsWords));
  }
  const {
    port = String(usualPort),
    data = usualDataFolder(),
    'base-path': basePath = '',
    'public-url': publicUrl,
  } = values;
  const { 'container-engine': engine, 'container-image': image } = values;
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) return wrong(`--port ${port} is no port.`);
  if (!/^(\/[\w.-]+)*$/.test(basePath)) {
    return wrong('--base-path begins with a slash and ends with none, as in /api-host.');
  }
  const reached = publicUrl === undefined ? undefined : readAddress(publicUrl, { allowHttp: true });
  if (reached?.ok === false) return wrong(`--public-url ${reached.shown}: ${reached.problem}.`);
  const apart = values['agents-url'] === undefined ? undefined : readAddress(values['agents-url'], { allowHttp: true });
  if (apart?.ok === false) return wrong(`--agents-url ${apart.shown}: ${apart.problem}.`);
  if (apart && !(reached && areIsolated(reached.address, apart.address))) {
    return wrong(
      '--agents-url needs --public-url, and has another host name, not of this machine, with the same scheme.',
    );
  }
  const trustedProxies = values['trusted-proxy'] ?? [];
  const notAnIp = trustedProxies.find((proxy) => isIP(proxy) === 0);
  if (notAnIp !== undefined)
    return wrong(
      `--trusted-proxy ${notAnIp} is not an IP address. Give the address that the web server connects from.`,
    );
  const oidcIssuers = [githubIssuer, ...(values['oidc-issuer'] ?? [])];
  for (const issuer of oidcIssuers) {
    // On another machine an issuer over plain http could be anybody.
    const address = readAddress(issuer, { allowHttp: false });
    if (!address.ok) return wrong(`--oidc-issuer ${address.shown}: ${address.problem}.`);
  }
  if (data === '') return wrong('--data is empty.');
  if (values['allow-git']?.includes('')) return wrong('--allow-git is empty.');
  const fieldNames = fieldSpellings.find((word) => word === (values['field-names'] ?? 'contract'));
  if (!fieldNames) return wrong(`--field-names is ${fieldSpellings.join(' or ')}.`);
  const kind = computeKinds.find((word) => word === (values.compute ?? 'process'));
  if (!kind) return wrong(`--compute is ${computeKinds.join(' or ')}.`);
  if (engine === '' || image === '') return wrong('--container-engine and --container-image name something.');
  const hosting = hostings.find((word) => word === (values.hosting ?? 'any'));
  if (!hosting) return wrong(`--hosting is ${hostings.join(' or ')}.`);
  const watchGit = watchWords.find((word) => word === (values['watch-git'] ?? 'folders'));
  if (!watchGit) return wrong(`--watch-git is ${watchWords.join(' or ')}.`);
  const { 'max-previews': maxPreviews } = values;
  if (maxPreviews !== undefined && !/^\d{1,6}$/.test(maxPreviews)) {
    return wrong(`--max-previews ${maxPreviews} is no number of previews. Give one from 0 to 999999.`);
  }
  const registry = values.registry === undefined ? undefined : readRegistryAddress(values.registry);
  if (values.registry !== undefined && !registry) {
    return wrong('--registry is a host, with a path where images lie below one, as in registry.example.com/agents.');
  }
  const command = {
    port: Number(port),
    data,
    allowGit: values['allow-git'] ?? [],
    basePath,
    publicUrl: reached && `${reached.address.origin}${reached.address.prefix}`,
    agentsUrl: apart && `${apart.address.origin}${apart.address.prefix}`,
    trustedProxies,
    oidcIssuers,
    fieldNames,
    graphConfigLater: values['graph-config-later'] ?? false,
    watchGit,
    hosting,
    maxPreviews: maxPreviews === undefined ? undefined : Number(maxPreviews),
    registry,
    running: { kind, engine, image, privateWebhooks: values['private-webhooks'] ?? false },
    github: {
      appId: values['github-app-id'],
      keyFile: values['github-private-key-file'],
      apiUrl: values['github-api-url'],
    },
    json: values.json ?? false,
    help: values.help ?? false,
  };
  return { ok: true as const, command };
}

/** Runs the services until they must shut down; returns the exit code. */
export async function runLocal(args: string[], environment: ProgramEnvironment): Promise<number> {
  const { env, say, printError, isTerminal = false, leave } = environment;
  const log = createProgramLogger({ name: 'control-service', env, isTerminal, write: printError });
  if (isOperators(args)) return runOperator(args, { env, say, printError, log });
  const read = readLocalCommand(args);
  if (!read.ok) {
    printError(`${read.problem}\nAll options: landfall local --help`);
    return 2;
  }
  const { data, json, help, registry: registryAddress, github: githubFlags, ...command } = read.command;
  if (help) {
    say(localUsage);
    return 0;
  }
  const registry = registryAddress && registryFrom(registryAddress, env);
  if (registry?.kind === 'problem') {
    printError(registry.problem);
    return 2;
  }
  const github = readGithubSettings(githubFlags, env, (path) => readFileSync(path, 'utf8'));
  if (github.kind === 'problem') {
    printError(github.problem);
    return 2;
  }
  let services: LocalServices;
  try {
    services = await startLocal({
      ...command,
      dataDir: data,
      databaseUrl: env['DATABASE_URL'],
      env,
      registry,
      github: github.kind === 'app' ? github.app : undefined,
      clock: systemClock,
      log,
    });
  } catch (error) {
    printError(`The services did not start: ${messageOf(error)}`);
    return 1;
  }
  const { url, apiKey, tenantId } = services;
  const link = services.signInLink();
  say(
    json
      ? JSON.stringify({ url, api_key: apiKey, tenant_id: tenantId, sign_in_link: link })
      : banner(services, data, link),
  );
  await leave;
  log.info('Shutting down: agents finish their runs.');
  await services.close();
  return 0;
}

/** The command line by its path: the agent is in another folder, where nothing else finds it. */
const program = join(import.meta.dirname, import.meta.filename.endsWith('.ts') ? '../../../bin' : '..', 'landfall.cjs');

const banner = ({ url, apiKey, tenantId }: LocalServices, data: string, link: string): string =>
  [
    `Open the console: ${link} (valid once)`,
    '',
    `The control service answers at ${url}`,
    `  X-Api-Key:   ${apiKey}`,
    `  X-Tenant-Id: ${tenantId}`,
    `  Everything is kept in ${data}. End it with Ctrl-C.`,
    '',
    'Deploy from a second terminal, in a folder with a langgraph.json:',
    `  export LANDFALL_BASE_URL=${url} LANDFALL_API_KEY="$(cat '${resolve(data, 'api-key')}')"`,
    `  node '${program}' init`,
    `  node '${program}' deploy`,
    '',
    // By a pipe: every user of the machine can read the arguments of a command.
    `  printf 'X-Api-Key: %s' "$(cat '${resolve(data, 'api-key')}')" | curl -H @- ${url}/v2/deployments`,
  ].join('\n');

/** Runs the services in this process until a signal, then exits. `args` as for `npm run local --`. */
export const runLocalProgram = (args: readonly string[]): Promise<never> =>
  runProgram((environment) => runLocal([...args], environment));
