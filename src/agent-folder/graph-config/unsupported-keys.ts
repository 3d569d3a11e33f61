import type { FieldPath } from '../../kit/diagnostics/problem.ts';
import { splitExportPath } from './export-path.ts';
import { graphLocations } from './graph-path.ts';
import { graphLanguage, isModuleName, embedderOf } from './language.ts';
import type { GraphConfig } from './schema.ts';

/** The major version of Node.js that agents run on here. */
export const nodeMajor = 24;

/** A key that an agent server of ours does not carry out. */
export interface UnsupportedKey {
  path: FieldPath;
  /** Goes on from the key's name. */
  message: string;
}

/** What a configuration requests and our agent server does not do. */
export interface UnsupportedKeys {
  /** Ignored: the agent runs the same without it. */
  ineffective: UnsupportedKey[];
  /** The server refuses to start: without it, the agent would not behave as its file says. */
  refused: UnsupportedKey[];
}

const noEffect = "has no effect on Landfall's agent server";
const notOffered = "is not offered by Landfall's agent server";
const ofPython = `${noEffect}: it is about Python, and these graphs are not`;
const ofSerializer = `${noEffect}: checkpoints are read as the agent's own langgraph reads them`;
const ofImages = `${noEffect}: no image is built, the agent is a process of its own`;
const ofPackages = `${noEffect}: the packages are those of package.json and its lock file`;

/** Keys at the top of the file whose effect is on other machines. */
const notHere: readonly [key: keyof GraphConfig, message: string][] = [
  ['image_distro', ofImages],
  ['api_version', `${noEffect}: \`GET /info\` returns its API version`],
  ['_INTERNAL_docker_tag', ofImages],
];

/** Those that graphs in Python need, where there are none. */
const withoutPython: readonly [key: keyof GraphConfig, message: string][] = [
  ['python_version', ofPython],
  ['dependencies', ofPackages],
  ['source', ofPython],
  ['dockerfile_lines', ofImages],
  ['base_image', ofImages],
  ['pip_config_file', ofPython],
  ['pip_installer', ofPython],
  ['keep_pkg_tools', ofPython],
];

/** What of a configuration an agent server of ours does not carry out. */
export function findUnsupportedKeys(config: GraphConfig): UnsupportedKeys {
  const { http, auth, checkpointer, store, encryption } = config;
  const languages = graphLocations(config).map(({ file }) => graphLanguage(file));
  const noPython = !languages.includes('python');
  const keys = noPython
    ? [...notHere, ...withoutPython]
    : [...notHere, ['keep_pkg_tools', ofImages] satisfies (typeof notHere)[number]];
  return {
    ineffective: selectUnsupported([
      [
        isOtherNode(config.node_version) && languages.some((each) => each !== 'python'),
        ['node_version'],
        `${noEffect}: agents run on Node.js ${nodeMajor}`,
      ],
      ...keys.map(([key, message]): Row => [isSaid(config[key]), [key], message]),
      [isSaid(checkpointer?.serde), ['checkpointer', 'serde'], noPython ? ofPython : ofSerializer],
      [isSaid(auth?.cache), ['auth', 'cache'], `${noEffect}: every request is authenticated anew`],
      [
        auth?.path === undefined && isSaid(auth?.disable_studio_auth),
        ['auth', 'disable_studio_auth'],
        'has no effect without `auth.path`',
      ],
      [
        auth?.path !== undefined && auth.disable_studio_auth === false,
        ['auth', 'disable_studio_auth'],
        'lets everybody with a key of the service call past `authenticate`, with `X-Auth-Scheme: langsmith`',
      ],
      ...(['middleware_order', 'enable_custom_route_auth'] as const).map((key): Row => [
        isSaid(http?.[key]) && (http?.app === undefined || auth?.path === undefined),
        ['http', key],
        'has no effect without both `http.app` and `auth.path`',
      ]),
    ]),
    refused: selectUnsupported([
      [isSaid(encryption), ['encryption'], `${notOffered}: what is stored would not be encrypted`],
      [
        isSaid(checkpointer?.path),
        ['checkpointer', 'path'],
        `${notOffered}: checkpoints go to the deployment's database`,
      ],
      [isSaid(store?.path), ['store', 'path'], `${notOffered}: the store is in the deployment's database`],
      [noPython && isPythonFile(store?.index?.embed), ['store', 'index', 'embed'], inPython],
      [
        noPython && isUnknownModel(store?.index?.embed),
        ['store', 'index', 'embed'],
        "must name an export of the agent's, such as `./src/embed.ts:embed`, or a model of OpenAI's interface, `openai:MODEL`",
      ],
      [noPython && isPython(auth?.path), ['auth', 'path'], inPython],
      [
        !isRegex(http?.cors?.allow_origin_regex ?? ''),
        ['http', 'cors', 'allow_origin_regex'],
        'must be a regular expression of JavaScript',
      ],
      [noPython && isPython(http?.app), ['http', 'app'], inPython],
    ]),
  };
}

/** A key that is lacking where the condition holds. */
type Row = readonly [condition: boolean, path: FieldPath, message: string];

const selectUnsupported = (rows: readonly Row[]): UnsupportedKey[] =>
  rows.flatMap(([condition, path, message]) => (condition ? [{ path, message }] : []));

const inPython = 'is written in Python, and no graph of this configuration is';

const isPython = (path: string | undefined): boolean =>
  path !== undefined && graphLanguage(splitExportPath(path).file) === 'python';

/** The same where a name without a path is a model's. */
const isPythonFile = (path: string | undefined): boolean =>
  isPython(path) && !isModuleName(splitExportPath(path ?? '').file);

function isUnknownModel(embed: string | undefined): boolean {
  const embedder = embed === undefined ? undefined : embedderOf(embed);
  return embedder?.kind === 'model' && (embedder.provider !== 'openai' || embedder.model === '');
}

const isSaid = (value: unknown): boolean => value !== undefined && value !== null;

const isOtherNode = (version: GraphConfig['node_version']): boolean =>
  isSaid(version) && Number.parseInt(String(version), 10) !== nodeMajor;

function isRegex(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
