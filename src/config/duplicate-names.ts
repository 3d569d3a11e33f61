import type { Problem } from '../diagnostics/problem.ts';
import type { DraftOfFile } from './deploy-file.ts';
import { fieldProblem } from './draft.ts';

/** Two deployments of one name would be one deployment that is changed twice. */
export function duplicateNames(drafts: readonly DraftOfFile[]): Problem[] {
  const seen = new Set<string>();
  return drafts.flatMap((draft) => {
    const name = nameOf(draft);
    const written = draft.fields.get('name');
    if (seen.has(name) && written)
      return [fieldProblem(written, ['name'], `another deployment of this file is named \`${name}\` too`)];
    seen.add(name);
    return [];
  });
}

/** What a deployment of a file is called, in the file or to a person. */
export function nameOf({ key, fields }: DraftOfFile): string {
  const name = fields.get('name')?.value;
  return typeof name === 'string' ? name : (key ?? 'without a name');
}
