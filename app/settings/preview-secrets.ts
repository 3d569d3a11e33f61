import * as z from 'zod';
import { fromJson } from '../../src/kit/json-text.ts';
import { fullName, type InstallationRepository } from '../github/github-api.ts';

/** Values by the names of variables, for each repository: its id, or `owner/name` in small letters. */
export type PreviewSecrets = ReadonlyMap<string, ReadonlyMap<string, string>>;

const file = z.record(
  z.string().regex(/^(?:\d{1,15}|[\w.-]+\/[\w.-]+)$/, 'is neither owner/name nor the id of a repository'),
  z.record(z.string().min(1), z.string().min(1)),
);

/** Reads the values of previews. A problem continues the variable's name, and shows no value. */
export function readPreviewSecrets(
  text: string,
): { ok: true; secrets: PreviewSecrets } | { ok: false; problem: string } {
  const read = file.safeParse(fromJson(text));
  if (read.success) {
    const entries = Object.entries(read.data);
    return {
      ok: true,
      secrets: new Map(entries.map(([name, values]) => [name.toLowerCase(), new Map(Object.entries(values))])),
    };
  }
  const place = read.error.issues[0]?.path.map(String).join('.');
  const where = place ? ` (at ${place})` : '';
  return { ok: false, problem: `names a file that is not {"owner/name": {"NAME": "value"}} in JSON${where}` };
}

/** The value for a repository: by its id, which stays its own, before its name, which another one may take. */
export function previewSecretOf(
  secrets: PreviewSecrets,
  repository: InstallationRepository,
  variable: string,
): string | undefined {
  const byId = secrets.get(String(repository.repositoryId))?.get(variable);
  return byId ?? secrets.get(fullName(repository).toLowerCase())?.get(variable);
}
