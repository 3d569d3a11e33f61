import type { Hosting } from './hosting.ts';

/** The longest name of a deployment: what fits into a host name, and what the public service takes where it is self-hosted. */
export const longestName = (hosting: Hosting): number => (hosting === 'self-hosted' ? 21 : 63);

/** The sentence against a deployment's name, where there is one: `[a-z0-9-]`, as on the hosted service. */
export function nameProblem(name: string, hosting: Hosting): string | undefined {
  const longest = longestName(hosting);
  if (name.length > longest) return `name may have at most ${longest} characters; this one has ${name.length}.`;
  if (!/^[a-z0-9-]+$/.test(name)) return 'name may hold lower-case letters, digits and hyphens only.';
  return /^-|-$/.test(name) ? 'name may not begin or end with a hyphen.' : undefined;
}

/** The sentence against `graph_config_path`, where there is one: a path inside the repository. */
export function graphConfigPathProblem(path: string): string | undefined {
  const field = 'source_revision_config.graph_config_path';
  if (/[\\\u0000-\u001f\u007f]/.test(path)) return `${field} may not hold backslashes or control characters.`;
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return `${field} is relative to the repository's root.`;
  if (path.split('/').includes('..')) return `${field} may not lead out of the repository.`;
  return /(^|\/)\.?$/.test(path) ? `${field} must name a file.` : undefined;
}

const image =
  /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?\/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/i;

/** The sentence against `image_uri`, where there is one. */
export function imageProblem(uri: string): string | undefined {
  if (uri.length <= 512 && image.test(uri)) return undefined;
  return 'source_revision_config.image_uri must be the address of an image, as in registry.example.com/team/agent:1.2.';
}

/** The sentence against `custom_url`, where there is one. */
export function customUrlProblem(address: string): string | undefined {
  const { protocol, username, password } = URL.canParse(address)
    ? new URL(address)
    : { protocol: '', username: '', password: '' };
  if (/^https?:$/.test(protocol) && !username && !password) return undefined;
  return 'source_config.custom_url must be an http or https address without a user or a password.';
}
