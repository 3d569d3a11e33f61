import { Refusal, type Who } from './exchange.ts';
import type { Site } from './site.ts';

/**
 * Identifies the caller by the Authorization header: the App by its signed token, an installation, a person. The App's
 * signature is checked by the emulated GitHub, which holds the key.
 *
 * @throws Refusal 401 where the header is of no known caller.
 */
export async function identify(site: Site, authorization: string | undefined): Promise<Who> {
  if (authorization === undefined) return { kind: 'anonymous' };
  const token = authorization.replace(/^(bearer|token)\s+/i, '').trim();
  if (token.startsWith('eyJ')) {
    const { status } = await site.emulated.ask('GET', '/app', authorization);
    if (status === 200) return { kind: 'app' };
    throw new Refusal(401, 'A JSON web token could not be decoded');
  }
  const who = whoseToken(site, token);
  if (!who) throw new Refusal(401, 'Bad credentials');
  return who;
}

/** Who a token belongs to; undefined for one that is unknown, has run out, or whose installation is gone. */
export function whoseToken(site: Site, token: string): Who | undefined {
  for (const [login, known] of site.people) {
    if (known === token) return { kind: 'person', login, token };
  }
  const given = site.tokens.get(token);
  if (!given || given.expiresAt <= site.clock.now()) return undefined;
  const installation = site.installations.find(({ id }) => id === given.installationId);
  if (!installation?.isInstalled) return undefined;
  const { installationId, permissions, repositoryIds } = given;
  return {
    kind: 'installation',
    installationId,
    owner: installation.owner,
    permissions,
    ...(repositoryIds ? { repositoryIds } : {}),
    token,
  };
}
