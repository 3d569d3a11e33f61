import type { Source } from '../../../../contract/control/source.ts';

/** The kind of hosting that a service reports: any, Cloud SaaS, or self-hosted. */
export const hostings = ['any', 'cloud', 'self-hosted'] as const;
export type Hosting = (typeof hostings)[number];

/**
 * The problem with a source that a hosting does not offer (control-service.md, DeploymentCreateRequest: `github` is
 * only available for Cloud SaaS, `external_docker` only for self-hosted deployments; the document names no other).
 */
export function hostingProblem(source: Source, hosting: Hosting): string | undefined {
  if (source === 'github' && hosting === 'self-hosted') return unavailable(source, 'Cloud SaaS', hosting);
  if (source === 'external_docker' && hosting === 'cloud') return unavailable(source, 'self-hosted', hosting);
  return undefined;
}

const unavailable = (source: Source, where: string, hosting: Hosting): string =>
  `source ${source} is only available for ${where} deployments, and this service was started with --hosting ${hosting}.`;
