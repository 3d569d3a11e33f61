/** How a registry wants a caller to show who it is. */
export type Challenge =
  | { kind: 'token'; realm: string; service: string | undefined }
  /** A user and a password with every request, or nothing at all: no tokens are made. */
  | { kind: 'no-tokens' };

/** Reads `WWW-Authenticate` of a registry's `GET /v2/`: the first challenge that leads to a token endpoint. */
export function readChallenge(header: string | null): Challenge {
  const bearer = /(?:^|, ?)Bearer ([^\r\n]*)/i.exec(header ?? '')?.[1];
  if (bearer === undefined) return { kind: 'no-tokens' };
  const fields = new Map<string, string>();
  // Fields end where the next challenge begins: a word that no equals sign follows.
  const field = /\s*([a-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))\s*(?:,|$)/iy;
  for (let read = field.exec(bearer); read; read = field.exec(bearer)) {
    const [, name = '', quoted, plain] = read;
    fields.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '');
  }
  const realm = fields.get('realm');
  if (realm === undefined || !URL.canParse(realm)) return { kind: 'no-tokens' };
  return { kind: 'token', realm, service: fields.get('service') };
}
