/** The longest name of a deployment, in characters: it must fit into a host name, as on the hosted service. */
export const maxDeploymentNameLength = 63;

/**
 * What is wrong with the name of a new deployment, phrased to follow the field's name, without a full stop; undefined
 * if valid. The contract leaves it open; this is what the public service accepts.
 *
 * @param maxLength the service's limit in characters; some have a lower one.
 */
export function deploymentNameProblem(name: string, maxLength: number = maxDeploymentNameLength): string | undefined {
  if (name.length > maxLength) return `may have at most ${maxLength} characters; this one has ${name.length}`;
  if (!/^[a-z0-9-]+$/.test(name)) return 'may hold lower-case letters, digits and hyphens only';
  return /^-|-$/.test(name) ? 'may not begin or end with a hyphen' : undefined;
}

const image =
  /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?\/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/i;

/** What is wrong with `image_uri`, phrased to follow the field's name, without a full stop; undefined if valid. */
export const imageUriProblem = (uri: string): string | undefined =>
  uri.length <= 512 && image.test(uri)
    ? undefined
    : 'must be the address of an image, as in registry.example.com/team/agent:1.2';

/** What is wrong with `graph_config_path`, a path inside the repository; undefined if valid. */
export function graphConfigPathProblem(path: string): string | undefined {
  if (/[\\\u0000-\u001f\u007f]/.test(path)) return 'must not contain backslashes or control characters';
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return "is relative to the repository's root";
  if (path.split('/').includes('..')) return 'may not lead out of the repository';
  return /(^|\/)\.?$/.test(path) ? 'must name a file' : undefined;
}

/**
 * What `install_command` and `build_command` must not contain, with names for people. The contract leaves it open; this
 * is what the public service refuses.
 */
const forbiddenInCommand: readonly (readonly [pattern: RegExp, called: string])[] = [
  [/['"`]/, 'a quote'],
  [/\\/, 'a backslash'],
  [/[\r\n]/, 'a line break'],
  [/\t/, 'a tab'],
  [/[|;$<>]/, 'one of | ; $ < >'],
  [/(?<!&)&(?!&)|&{3,}/, 'a single &'],
  [/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/, 'a control character'],
];

/** The forbidden parts of a command; empty if it consists of plain words and `&&`. */
export const refusedInCommand = (command: string): string[] =>
  forbiddenInCommand.filter(([pattern]) => pattern.test(command)).map(([, called]) => called);

/** The secret that marks a deployment as the preview of a pull request; no other deployment may have it. */
export const previewMark = 'LANDFALL_PREVIEW';

/** The `reservedNames` that self-hosted services accept as secrets. */
export const selfHostedNames: ReadonlySet<string> = new Set([
  'POSTGRES_URI_CUSTOM',
  'REDIS_URI_CUSTOM',
  'LANGSMITH_API_KEY',
  'LANGSMITH_ENDPOINT',
]);

/** Environment variables that the platform sets itself: secrets can't have these names (the public service's list). */
export const reservedNames: ReadonlySet<string> = new Set([
  'PATH',
  'PORT',
  'MOUNT_PREFIX',
  'LOG_JSON',
  'LOG_DICT_TRACEBACKS',
  'POSTGRES_URI',
  'POSTGRES_URI_CUSTOM',
  'POSTGRES_PASSWORD',
  'DATABASE_URI',
  'REDIS_URI',
  'REDIS_URI_CUSTOM',
  'LANGCHAIN_API_KEY',
  'LANGCHAIN_CALLBACKS_BACKGROUND',
  'LANGCHAIN_ENDPOINT',
  'LANGCHAIN_PROJECT',
  'LANGCHAIN_TRACING_V2',
  'LANGGRAPH_AUTH_TYPE',
  'LANGGRAPH_CLOUD_LICENSE_KEY',
  'LANGGRAPH_GIT_REPO_PATH',
  'LANGSMITH_API_KEY',
  'LANGSMITH_AUTH_ENDPOINT',
  'LANGSMITH_AUTH_VERIFY_TENANT_ID',
  'LANGSMITH_CONTROL_PLANE_API_KEY',
  'LANGSMITH_DEPLOYMENT_NAME',
  'LANGSMITH_ENDPOINT',
  'LANGSMITH_HOST_PROJECT_ID',
  'LANGSMITH_HOST_PROJECT_NAME',
  'LANGSMITH_HOST_REVISION_ID',
  'LANGSMITH_LANGGRAPH_GIT_REF',
  'LANGSMITH_LANGGRAPH_GIT_REF_SHA',
  'LANGSMITH_LANGGRAPH_GIT_REPO',
  'LANGSMITH_PROJECT',
  'LANGSMITH_TENANT_ID',
  'LANGSMITH_TRACING_V2',
]);
