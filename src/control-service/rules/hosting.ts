import type { Source } from '../../contract/control/source.ts';

/** Where a service says that it runs: nowhere in particular, as Cloud SaaS, or self-hosted. */
export const hostings = ['any', 'cloud', 'self-hosted'] as const;
export type Hosting = (typeof hostings)[number];

/**
 * The sentence against a source that is not there with a hosting (control-service.md, DeploymentCreateRequest: `github` is
 * only available for Cloud SaaS, `external_docker` only for self-hosted deployments; the document names no other).
 */
export function hostingProblem(source: Source, hosting: Hosting): string | undefined {
  if (source === 'github' && hosting === 'self-hosted') return unavailable(source, 'Cloud SaaS', hosting);
  if (source === 'external_docker' && hosting === 'cloud') return unavailable(source, 'self-hosted', hosting);
  return undefined;
}

const unavailable = (source: Source, where: string, hosting: Hosting): string =>
  `source ${source} is only available for ${where} deployments, and this service was started with --hosting ${hosting}.`;
