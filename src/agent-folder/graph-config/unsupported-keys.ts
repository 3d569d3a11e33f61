import type { FieldPath } from '../../kit/diagnostics/problem.ts';
import { graphLocations, splitExportPath } from './graph-path.ts';
import { graphLanguage, isModuleName, embedderOf } from './language.ts';
import type { GraphConfig } from './schema.ts';

/** The major version of Node.js that agents run on here. */
export const nodeMajor = 24;

/** A key that our agent server does not support. */
export interface UnsupportedKey {
  path: FieldPath;
  /** Continues the key's name. */
  message: string;
}

/** The keys of a configuration that our agent server does not support. */
export interface UnsupportedKeys {
  /** Ignored keys, without which the agent runs the same. */
  ineffective: UnsupportedKey[];
  /** Keys with which the server refuses to start, because ignoring them would change the agent's behavior. */
  refused: UnsupportedKey[];
}

const noEffect = "has no effect on Landfall's agent server";
const notOffered = "is not offered by Landfall's agent server";
const ofPython = `${noEffect}: it is about Python, and these graphs are not`;
const ofSerializer = `${noEffect}: checkpoints are read as the agent's own langgraph reads them`;
const ofImages = `${noEffect}: no image is built, the agent is a process of its own`;
const ofPackages = `${noEffect}: the packages are those of package.json and its lock file`;

/** Top-level keys that have no effect here. */
const keysWithoutEffect: readonly [key: keyof GraphConfig, message: string][] = [
  ['image_distro', ofImages],
  ['api_version', `${noEffect}: \`GET /info\` returns its API version`],
  ['_INTERNAL_docker_tag', ofImages],
];

/** Top-level keys that only have an effect on graphs in Python. */
const pythonOnlyKeys: readonly [key: keyof GraphConfig, message: string][] = [
  ['python_version', ofPython],
  ['dependencies', ofPackages],
  ['source', ofPython],
  ['dockerfile_lines', ofImages],
  ['base_image', ofImages],
  ['pip_config_file', ofPython],
  ['pip_installer', ofPython],
  ['keep_pkg_tools', ofPython],
];

/** Finds the keys that our agent server does not support. */
export function findUnsupportedKeys(config: GraphConfig): UnsupportedKeys {
  const { http, auth, checkpointer, store, encryption } = config;
  const languages = graphLocations(config).map(({ file }) => graphLanguage(file));
  const hasNoPython = !languages.includes('python');
  const keys = hasNoPython
    ? [...keysWithoutEffect, ...pythonOnlyKeys]
    : [...keysWithoutEffect, ['keep_pkg_tools', ofImages] satisfies (typeof keysWithoutEffect)[number]];
  return {
    ineffective: selectUnsupported([
      [
        isOtherNode(config.node_version) && languages.some((each) => each !== 'python'),
        ['node_version'],
        `${noEffect}: agents run on Node.js ${nodeMajor}`,
      ],
      ...keys.map(([key, message]): Row => [isSet(config[key]), [key], message]),
      [isSet(checkpointer?.serde), ['checkpointer', 'serde'], hasNoPython ? ofPython : ofSerializer],
      [isSet(auth?.cache), ['auth', 'cache'], `${noEffect}: every request is authenticated anew`],
      [
        auth?.path === undefined && isSet(auth?.disable_studio_auth),
        ['auth', 'disable_studio_auth'],
        'has no effect without `auth.path`',
      ],
      [
        auth?.path !== undefined && auth.disable_studio_auth === false,
        ['auth', 'disable_studio_auth'],
        'lets everybody with a key of the service call past `authenticate`, with `X-Auth-Scheme: langsmith`',
      ],
      ...(['middleware_order', 'enable_custom_route_auth'] as const).map((key): Row => [
        isSet(http?.[key]) && (http?.app === undefined || auth?.path === undefined),
        ['http', key],
        'has no effect without both `http.app` and `auth.path`',
      ]),
    ]),
    refused: selectUnsupported([
      [isSet(encryption), ['encryption'], `${notOffered}: what is stored would not be encrypted`],
      [
        isSet(checkpointer?.path),
        ['checkpointer', 'path'],
        `${notOffered}: checkpoints go to the deployment's database`,
      ],
      [isSet(store?.path), ['store', 'path'], `${notOffered}: the store is in the deployment's database`],
      [hasNoPython && isPythonFile(store?.index?.embed), ['store', 'index', 'embed'], inPython],
      [
        hasNoPython && isUnknownModel(store?.index?.embed),
        ['store', 'index', 'embed'],
        "must name an export of the agent's, such as `./src/embed.ts:embed`, or a model of OpenAI's interface, `openai:MODEL`",
      ],
      [hasNoPython && isPython(auth?.path), ['auth', 'path'], inPython],
      [
        !isRegex(http?.cors?.allow_origin_regex ?? ''),
        ['http', 'cors', 'allow_origin_regex'],
        'must be a regular expression of JavaScript',
      ],
      [hasNoPython && isPython(http?.app), ['http', 'app'], inPython],
    ]),
  };
}

/** A key that is unsupported if the condition is true. */
type Row = readonly [condition: boolean, path: FieldPath, message: string];

const selectUnsupported = (rows: readonly Row[]): UnsupportedKey[] =>
  rows.flatMap(([condition, path, message]) => (condition ? [{ path, message }] : []));

const inPython = 'is written in Python, and no graph of this configuration is';

const isPython = (path: string | undefined): boolean =>
  path !== undefined && graphLanguage(splitExportPath(path).file) === 'python';

/** Like `isPython`, but for a key in which a dotted name is a model and not a module. */
const isPythonFile = (path: string | undefined): boolean =>
  isPython(path) && !isModuleName(splitExportPath(path ?? '').file);

function isUnknownModel(embed: string | undefined): boolean {
  const embedder = embed === undefined ? undefined : embedderOf(embed);
  return embedder?.kind === 'model' && (embedder.provider !== 'openai' || embedder.model === '');
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null;

const isOtherNode = (version: GraphConfig['node_version']): boolean =>
  isSet(version) && Number.parseInt(String(version), 10) !== nodeMajor;

function isRegex(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
