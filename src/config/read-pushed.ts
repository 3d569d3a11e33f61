import type { Problem } from '../diagnostics/problem.ts';
import { readDrafts, type DraftOfFile } from './deploy-file.ts';
import type { PushedDeployment } from './desired.ts';
import { duplicateNames } from './duplicate-names.ts';
import { readPushedDraft } from './read-draft.ts';

/** One deployment of a file: its identity, as far as it is known, and its fields or their problems. */
export interface PushedOfFile {
  name?: string;
  /** In small letters. */
  deploymentId?: string;
  read: { ok: true; value: PushedDeployment } | { ok: false; problems: readonly Problem[] };
}

/** The deployments of a file, or what is wrong with the file as a whole. */
export type ReadPushed = { ok: true; deployments: PushedOfFile[] } | { ok: false; problems: readonly Problem[] };

/**
 * Reads a deploy file for pushes. A deployment with a mistake is reported and does not affect the others; of two with
 * one name the first counts.
 */
export function readPushed(file: { text: string; path: string }): ReadPushed {
  const drafts = readDrafts(file.text, file.path);
  if (!drafts.ok) return drafts;
  const seen: DraftOfFile[] = [];
  const deployments = drafts.drafts.map((draft): PushedOfFile => {
    const doubled = duplicateNames([...seen, draft]).slice(duplicateNames(seen).length);
    seen.push(draft);
    return { ...whom(draft), read: doubled.length > 0 ? { ok: false, problems: doubled } : readPushedDraft(draft) };
  });
  return { ok: true, deployments };
}

function whom({ fields, key }: DraftOfFile): Pick<PushedOfFile, 'name' | 'deploymentId'> {
  const name = fields.get('name')?.value ?? key;
  const id = fields.get('deployment-id')?.value;
  return {
    ...(typeof name === 'string' ? { name: name.trim() } : {}),
    ...(typeof id === 'string' ? { deploymentId: id.trim().toLowerCase() } : {}),
  };
}
