/** The longest name of a deployment, in characters: it must fit into a host name, as on the hosted service. */
export const longestDeploymentName = 63;

/**
 * What is wrong with the name of a new deployment, phrased to follow the field's name, without a full stop; undefined if
 * valid. control-service.md leaves it open; this is what the public service accepts.
 *
 * @param longest the service's limit in characters; some have a lower one.
 */
export function deploymentNameProblem(name: string, longest: number = longestDeploymentName): string | undefined {
  if (name.length > longest) return `may have at most ${longest} characters; this one has ${name.length}`;
  if (!/^[a-z0-9-]+$/.test(name)) return 'may hold lower-case letters, digits and hyphens only';
  return /^-|-$/.test(name) ? 'may not begin or end with a hyphen' : undefined;
}
