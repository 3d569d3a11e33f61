import { withoutTrailingSlashes } from '../../kit/plain-text.ts';

/**
 * The page of a revision in the console; undefined where the service has none that a browser may be sent to. Fit for
 * the address of a link in Markdown.
 */
export function revisionPage(
  consoleUrl: string | undefined,
  deploymentId: string,
  revisionId: string,
): string | undefined {
  if (consoleUrl === undefined || !URL.canParse(consoleUrl)) return undefined;
  const { protocol, username, password, origin, pathname } = new URL(consoleUrl);
  if (!/^https?:$/.test(protocol) || username || password) return undefined;
  const [deployment, revision] = [encodeURIComponent(deploymentId), encodeURIComponent(revisionId)];
  const page = `${origin}${withoutTrailingSlashes(pathname)}/deployments/${deployment}/revisions/${revision}`;
  return page.replaceAll('(', '%28').replaceAll(')', '%29');
}
