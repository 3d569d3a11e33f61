import { dirname } from 'node:path';
import * as z from 'zod';
import type { GraphConfig } from '../../graph-config/schema.ts';
import { logWhileLoading, type LoadingOptions } from '../log-while-loading.ts';
import { readPrepared } from '../prepared.ts';
import { StartupError } from '../startup-error.ts';
import { UiBuildError } from './ui-build-error.ts';
import { uiBundle, type UiBundles } from './ui-bundles.ts';

/**
 * The user interfaces of an agent: those that its build made, or for an agent without a build, bundled now.
 *
 * @throws StartupError with every problem and its line.
 */
export async function loadUi(
  { ui, ui_config, http }: Pick<GraphConfig, 'ui' | 'ui_config' | 'http'>,
  configPath: string,
  loading: LoadingOptions,
): Promise<UiBundles> {
  if (http?.disable_ui === true || Object.keys(ui ?? {}).length === 0) return new Map();
  const built = readPrepared(configPath, 'ui', z.record(z.string(), uiBundle));
  if (built) return new Map(Object.entries(built));
  const { bundleUi } = await import('./bundle-ui.ts');
  const bundling = bundleUi({ ui, ui_config }, dirname(configPath)).catch((error: unknown) => {
    throw error instanceof UiBuildError ? new StartupError('ui-invalid', error.lines, { cause: error }) : error;
  });
  return logWhileLoading('`ui`', bundling, loading);
}
