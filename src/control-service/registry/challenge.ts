/** How a registry authenticates its callers. */
export type Challenge =
  | { kind: 'token'; realm: string; service: string | undefined }
  /** By user and password in every request, or not at all: without tokens. */
  | { kind: 'no-tokens' };

/** Parses `WWW-Authenticate` of a registry's `GET /v2/`: the first challenge with a token endpoint. */
export function readChallenge(header: string | null): Challenge {
  const bearer = /(?:^|, ?)Bearer ([^\r\n]*)/i.exec(header ?? '')?.[1];
  if (bearer === undefined) return { kind: 'no-tokens' };
  const fields = new Map<string, string>();
  // The fields end at the next challenge: a word without an equals sign.
  const field = /\s*([a-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))\s*(?:,|$)/iy;
  for (let read = field.exec(bearer); read; read = field.exec(bearer)) {
    const [, name = '', quoted, plain] = read;
    fields.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '');
  }
  const realm = fields.get('realm');
  if (realm === undefined || !URL.canParse(realm)) return { kind: 'no-tokens' };
  return { kind: 'token', realm, service: fields.get('service') };
}
