/**
 * The host (and port, where one is written) below which people and git reach the repositories of the GitHub whose API
 * this is: `https://api.github.com` serves `github.com`, `https://HOST/api/v3` serves HOST.
 */
export function webHostOf(apiUrl: string): string {
  const { host } = new URL(apiUrl);
  return host === 'api.github.com' || /^api\..+\.ghe\.com$/.test(host) ? host.slice('api.'.length) : host;
}
