import * as z from 'zod';
import { textPaths } from '../../contract/agent/text-path.ts';
import { splitExportPath } from './export-path.ts';
import { graphLanguage, isModuleName } from './language.ts';

/** The maximum length of an embedding: that of pgvector. */
const mostDims = 16_000;

/** What makes the store's items findable by their meaning. */
export const storeIndex = z.strictObject({
  /** The length of an embedding. */
  dims: z.int().min(1).max(mostDims),
  /** An export of the agent, `./src/embed.ts:embed`, or a model, `provider:model`. */
  embed: z.string().min(1),
  /** The paths of the texts of a value that are embedded; the whole value by default. */
  fields: textPaths.nullable().optional(),
});
export type StoreIndexConfig = z.infer<typeof storeIndex>;

/** What `embed` names. */
export type Embedder = { kind: 'export'; file: string } | { kind: 'model'; provider: string; model: string };

/** Whether `embed` names an export, by the extension of the file or the beginning of its path, or a model. */
export function embedderOf(embed: string): Embedder {
  const { file } = splitExportPath(embed);
  if ((graphLanguage(file) !== 'unknown' && !isModuleName(file)) || /^[./\\]/.test(file))
    return { kind: 'export', file };
  const [provider = ''] = embed.split(':', 1);
  return { kind: 'model', provider, model: embed.slice(provider.length + 1) };
}
