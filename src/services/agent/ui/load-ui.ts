import { dirname } from 'node:path';
import * as z from 'zod';
import type { GraphConfig } from '../../../agent-folder/graph-config/schema.ts';
import { logWhileLoading, type LoadingOptions } from '../log-while-loading.ts';
import { readPrepared } from '../prepared.ts';
import { StartupError } from '../startup-error.ts';
import { UiBuildError } from './ui-build-error.ts';
import { uiBundle, type UiBundles } from './ui-bundles.ts';

/**
 * The user interfaces of an agent: those that its build made, else bundled now.
 *
 * @throws StartupError with every problem and its line; not for a revision, whose build may be older than `ui` and must
 *   go on working.
 */
export async function loadUi(
  { ui, ui_config, http }: Pick<GraphConfig, 'ui' | 'ui_config' | 'http'>,
  configPath: string,
  loading: LoadingOptions & { revisionId?: string | undefined },
): Promise<UiBundles> {
  if (http?.disable_ui === true || Object.keys(ui ?? {}).length === 0) return new Map();
  const built = readPrepared(configPath, 'ui', z.record(z.string(), uiBundle));
  if (built) return new Map(Object.entries(built));
  const { bundleUi } = await import('./bundle-ui.ts');
  const bundling = bundleUi({ ui, ui_config }, dirname(configPath));
  try {
    return await logWhileLoading('`ui`', bundling, loading);
  } catch (error) {
    if (!(error instanceof UiBuildError)) throw error;
    if (loading.revisionId === undefined) throw new StartupError('ui-invalid', error.lines, { cause: error });
    for (const line of error.lines) loading.log.error(`No UI is served: ${line}`);
    return new Map();
  }
}
