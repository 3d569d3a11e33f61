import { dirname } from 'node:path';
import * as z from 'zod';
import type { Command } from '../../../../contract/agent/run.ts';
import { isInPython, embedderOf } from '../../../../agent-folder/graph-config/language.ts';
import type { AgentAuth } from '../../auth/agent-auth.ts';
import type { Configuration } from '../../configuration.ts';
import type { Engine } from '../javascript/engine.ts';
import { graphSchemaSet, type GraphSchemaSet } from '../graph.ts';
import type { LoadedGraph } from '../javascript/load.ts';
import type { LoadingOptions } from '../../log-while-loading.ts';
import { readPrepared } from '../../prepared.ts';
import type { Fetch } from '../../protocols/internal-api.ts';
import type { Embeddings } from '../../store/embeddings.ts';
import { explainField } from './loading-errors.ts';
import type { CustomApp } from '../../http/custom-app.ts';
import { opaqueSerializer } from './checkpoint-requests.ts';
import { pythonApp } from './python-app.ts';
import { pythonAuth } from './python-auth.ts';
import { PythonGraph, WorkerMemory } from './python-graph.ts';
import { PythonCommand } from './python-run.ts';
import { runWorkers, type GraphHost } from './run-workers.ts';
import type { CodeFacts } from './load-code.ts';
import { WorkerHost, type WorkerHostOptions } from './worker-host.ts';
import { toPlainNumber } from '../../../../kit/exact-number.ts';
import { splitExportPath, type ExportPath } from '../../../../agent-folder/graph-config/graph-path.ts';

/** The code of an agent that is in Python, and the worker that holds it. */
export interface PythonCode {
  graphs: readonly LoadedGraph[];
  /** The version of their engine; undefined if no graph is in Python. */
  engine: string | undefined;
  /** The authorization rules, where these are in Python. */
  auth: AgentAuth | undefined;
  /** What embeds the texts of the store, where the worker does. */
  embeddings: Embeddings | undefined;
  /** The application of `http.app`, where it is in Python. */
  app: CustomApp | undefined;
  /** Ends the worker until it is needed again. */
  rest(): Promise<void>;
  /** Starts it at once, not with the first request. */
  wake(): void;
  close(): Promise<void>;
}

/**
 * Starts a worker with what the configuration has in Python; undefined if that is nothing. @param loading `python`: the
 * interpreter of the agent's environment. @throws StartupError for what can't be loaded.
 */
export async function loadPython(
  configuration: Configuration,
  configPath: string,
  loading: LoadingOptions & {
    python: string;
    revisionId?: string | undefined;
    fetch?: Fetch | undefined;
    startsApp?: boolean;
  },
): Promise<PythonCode | undefined> {
  const { places, file } = configuration;
  const inPython = places.filter((place) => isInPython(place.file));
  const auth = exportIn(file.auth?.path);
  const embed = embedIn(file.store?.index?.embed, inPython.length === places.length);
  const app = exportIn(file.http?.app);
  if (inPython.length === 0 && auth === undefined && embed === undefined && app === undefined) return undefined;
  const options: WorkerHostOptions = {
    ...loading,
    folder: dirname(configPath),
    dependencies: file.dependencies ?? [],
    graphs: inPython,
    auth: auth && { ...auth, explain: (error) => explainField(error, configuration, ['auth', 'path'], auth, anAuth) },
    embed: embed && {
      named: embed,
      explain: (error) => explainField(error, configuration, ['store', 'index', 'embed'], embed, embeddings),
    },
    app: app && {
      ...app,
      starts: loading.startsApp ?? true,
      // Every application of FastAPI has these of its own.
      ownPaths: file.http?.disable_meta === true ? [] : ['/docs', '/openapi.json'],
      explain: (error) => explainField(error, configuration, ['http', 'app'], app, anApp),
    },
    environment: { ...process.env, LANDFALL_REVISION_ID: loading.revisionId },
  };
  const host = new WorkerHost(options);
  const workers = runWorkers({
    shared: host,
    makeDedicated: () => new WorkerHost({ ...options, isDedicated: true }),
    log: loading.log,
  });
  const kept = readPrepared(configPath, 'python-schemas', z.record(z.string(), graphSchemaSet)) ?? {};
  const known = await host.load().catch(async (error: unknown) => {
    await host.close();
    throw error;
  });
  return {
    graphs: inPython.map((place) => loadedGraph(place, workers.host, known, kept[place.graphId])),
    engine: inPython.length === 0 ? undefined : known.engine,
    auth: known.auth && pythonAuth(host, { ...known.auth, trustsStudio: file.auth?.disable_studio_auth === false }),
    embeddings: known.embeds ? pythonEmbeddings(host) : undefined,
    app: known.app && pythonApp({ host, log: loading.log }, known.app),
    rest: () => host.rest(),
    wake: () => void host.connection().catch(() => undefined),
    close: async () => void (await Promise.all([workers.close(), host.close()])),
  };
}

const anAuth =
  'no `Auth` with a handler that authenticates: export `Auth()` of `langgraph_sdk`, with `@auth.authenticate`';
const anApp = 'no application: export one of FastAPI or Starlette, or any other callable of ASGI';
const embeddings =
  "no embeddings: export a function that takes a list of texts, or an object of LangChain's `Embeddings`";

function exportIn(path: string | undefined): ExportPath | undefined {
  if (path === undefined) return undefined;
  const named = splitExportPath(path);
  return isInPython(named.file) ? named : undefined;
}

/** What embeds: an export in Python, or a model that LangChain knows where all graphs are in Python. */
function embedIn(embed: string | undefined, isAllPython: boolean): ExportPath | { model: string } | undefined {
  if (embed === undefined) return undefined;
  if (embedderOf(embed).kind === 'model') return isAllPython ? { model: embed } : undefined;
  return exportIn(embed);
}

function loadedGraph(
  { graphId, description }: Pick<LoadedGraph, 'graphId' | 'description'>,
  host: GraphHost,
  { graphs }: CodeFacts,
  schemas: GraphSchemaSet | undefined,
): LoadedGraph {
  const known = graphs.get(graphId);
  if (!known) throw new Error(`Graph "${graphId}" is not loaded.`);
  const same = new PythonGraph(graphId, host, { ...known, schemas });
  return {
    graphId,
    description,
    engine: pythonEngine(host),
    make: async (madeFor) => (known.isFactory ? new PythonGraph(graphId, host, known, madeFor) : same),
  };
}

/** An engine in the worker: this server keeps its values as they are. */
const pythonEngine = (host: GraphHost): Engine => ({
  language: 'python',
  serializer: opaqueSerializer,
  keepsPendingSends: false,
  memoryCheckpoints: () => new WorkerMemory(host),
  command: (command: Command) => new PythonCommand(command),
  schemaReaders: async () => undefined,
  joinsMessages: undefined,
});

const pythonEmbeddings = (host: GraphHost): Embeddings => ({
  embedDocuments: (texts, signal) => embed(host, texts, false, signal),
  async embedQuery(text, signal) {
    const found = await embed(host, [text], true, signal);
    return Array.isArray(found) ? found[0] : undefined;
  },
});

async function embed(host: GraphHost, texts: string[], isQuery: boolean, signal: AbortSignal): Promise<unknown> {
  const { value } = await (await host.connection()).ask('embed', { texts, is_query: isQuery }, { signal });
  return Array.isArray(value) ? value.map(plainVector) : value;
}

const plainVector = (vector: unknown): unknown => (Array.isArray(vector) ? vector.map(toPlainNumber) : vector);
