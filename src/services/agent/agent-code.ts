import { dirname } from 'node:path';
import * as z from 'zod';
import { isInProcess } from './graphs/javascript/agent-globals.ts';
import { loadAuth, type AgentAuth } from './auth/agent-auth.ts';
import { patchSdkClient, sdkClients } from './auth/in-process-caller.ts';
import type { Configuration } from './configuration.ts';
import { loadGraphs, type LoadedGraph } from './graphs/javascript/load.ts';
import { isInPython } from '../../agent-folder/graph-config/language.ts';
import { loadPython, type PythonCode } from './graphs/python/load.ts';
import { loadCustomApp, type CustomApp } from './http/custom-app.ts';
import { readPrepared } from './prepared.ts';
import { staticSchemas, type StaticSchemas } from './graphs/javascript/static-schemas/static-schemas.ts';
import { type UiBundles, UiBuildError, uiBundle } from './ui/ui-bundles.ts';
import type { Fetch } from './protocols/internal-api.ts';
import { logWhileLoading, type LoadingOptions } from './log-while-loading.ts';
import type { Embeddings } from './store/embeddings.ts';
import { loadEmbeddings } from './store/load-embeddings.ts';
import type { GraphConfig } from '../../agent-folder/graph-config/schema.ts';
import { StartupError } from './startup-error.ts';

/** The agent's code that the configuration file names. */
export interface AgentCode {
  graphs: readonly LoadedGraph[];
  /** What the build read from the graphs' types in TypeScript; undefined without one. */
  types: StaticSchemas | undefined;
  auth: AgentAuth | undefined;
  app: CustomApp | undefined;
  /** What `store.index.embed` names. */
  embeddings: Embeddings | undefined;
  ui: UiBundles;
  /** The process that holds what is in Python, if anything is. */
  python: Pick<PythonCode, 'engine' | 'rest' | 'wake' | 'close'> | undefined;
}

/** Loads the code from the agent's folder. @throws StartupError for the first module that can't be loaded or used. */
export async function loadAgentCode(
  configuration: Configuration,
  configPath: string,
  loading: LoadingOptions & { revisionId?: string | undefined; python?: string | undefined; fetch?: Fetch | undefined },
): Promise<AgentCode> {
  const { auth: rules, http, store } = configuration.file;
  const { places } = configuration;
  const python =
    loading.python === undefined
      ? undefined
      : await loadPython(configuration, configPath, { ...loading, python: loading.python });
  const here = await loadGraphs(
    places.filter(({ file }) => !isInPython(file)),
    configPath,
    loading,
  );
  const all = new Map([...here, ...(python?.graphs ?? [])].map((graph) => [graph.graphId, graph]));
  const graphs = places.flatMap(({ graphId }) => all.get(graphId) ?? []);
  const auth =
    python?.auth ??
    (await logWhileLoading(`\`auth.path\`, ${rules?.path}`, loadAuth(configuration, configPath), loading));
  const app =
    python?.app ??
    (await logWhileLoading(`\`http.app\`, ${http?.app}`, loadCustomApp(configuration, configPath), loading));
  if (auth) for (const Client of await sdkClients(configuration, configPath)) patchSdkClient(Client, isInProcess);
  const embed = `\`store.index.embed\`, ${store?.index?.embed}`;
  const embeddings =
    python?.embeddings ?? (await logWhileLoading(embed, loadEmbeddings(configuration, configPath, loading), loading));
  const ui = await loadUi(configuration.file, configPath, loading);
  return { graphs, types: readPrepared(configPath, 'schemas', staticSchemas), auth, app, embeddings, ui, python };
}

/**
 * The user interfaces of an agent: those that its build made, else bundled now. @throws StartupError with every
 * problem, but not for a revision, whose build may be older than `ui` and must go on working.
 */
async function loadUi(
  { ui, ui_config, http }: Pick<GraphConfig, 'ui' | 'ui_config' | 'http'>,
  configPath: string,
  loading: LoadingOptions & { revisionId?: string | undefined },
): Promise<UiBundles> {
  if (http?.disable_ui === true || Object.keys(ui ?? {}).length === 0) return new Map();
  const built = readPrepared(configPath, 'ui', z.record(z.string(), uiBundle));
  if (built) return new Map(Object.entries(built));
  const { bundleUi } = await import('./ui/bundle-ui.ts');
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
