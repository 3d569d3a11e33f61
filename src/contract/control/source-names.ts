const image =
  /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?\/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/i;

/** What is wrong with `image_uri`, phrased to follow the field's name, without a full stop; undefined if valid. */
export const imageUriProblem = (uri: string): string | undefined =>
  uri.length <= 512 && image.test(uri)
    ? undefined
    : 'must be the address of an image, as in registry.example.com/team/agent:1.2';

/** The same for `graph_config_path`, a path inside the repository. */
export function graphConfigPathProblem(path: string): string | undefined {
  if (/[\\\u0000-\u001f\u007f]/.test(path)) return 'must not contain backslashes or control characters';
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return "is relative to the repository's root";
  if (path.split('/').includes('..')) return 'may not lead out of the repository';
  return /(^|\/)\.?$/.test(path) ? 'must name a file' : undefined;
}
