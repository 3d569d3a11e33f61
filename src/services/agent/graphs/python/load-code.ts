import * as z from 'zod';
import type { GraphLocation, ExportPath } from '../../../../agent-folder/graph-config/graph-path.ts';
import { logWhileLoading, type LoadingOptions } from '../../log-while-loading.ts';
import type { Connection } from './connection.ts';
import { WorkerError } from './worker-error.ts';
import { explainGraph } from './loading-errors.ts';

interface Explained {
  explain: (error: unknown) => unknown;
}

/** The code of an agent that a worker holds. */
export interface CodeOptions extends LoadingOptions {
  folder: string;
  /** Local packages of the configuration, relative to its folder. */
  dependencies: readonly string[];
  graphs: readonly GraphLocation[];
  /** The authorization rules. `explain` makes the error for a person. */
  auth: (ExportPath & Explained) | undefined;
  /** What embeds the texts of the store: an export, or a model of LangChain. */
  embed: ({ named: ExportPath | { model: string } } & Explained) | undefined;
  /** The application beside the server's own routes, which answer `ownPaths` even where it has a route. */
  app: (ExportPath & Explained & { starts: boolean; ownPaths: readonly string[] }) | undefined;
}

const graphFacts = z
  .object({
    is_factory: z.boolean(),
    nodes: z.array(z.string()),
    context: z.object({ names: z.array(z.string()), others: z.enum(['passed over', 'refused', 'taken']) }).nullable(),
  })
  .transform(({ is_factory: isFactory, nodes, context }) => ({
    isFactory,
    nodes,
    contextSchema: context
      ? { shape: Object.fromEntries(context.names.map((name) => [name, {}])), others: context.others, isApart: true }
      : undefined,
  }));
/** What is known of a graph after it is loaded. */
export type GraphFacts = z.infer<typeof graphFacts>;
const authFacts = z.object({ wants_body: z.boolean() }).transform(({ wants_body: wantsBody }) => ({ wantsBody }));
const appFacts = z.object({ is_mounted: z.boolean() }).transform(({ is_mounted: isMounted }) => ({ isMounted }));

/** What is known of the agent's code after it is loaded. */
export interface CodeFacts {
  engine: string;
  graphs: ReadonlyMap<string, GraphFacts>;
  auth: z.infer<typeof authFacts> | undefined;
  embeds: boolean;
  app: z.infer<typeof appFacts> | undefined;
}

/** Loads the code of an agent into a worker. @throws what the `explain` of a part makes of an error of it. */
export async function loadCode(
  connection: Connection,
  { folder, dependencies, graphs: places, auth, embed, app, ...loading }: CodeOptions,
): Promise<Omit<CodeFacts, 'engine'>> {
  const load = async (op: string, what: string, args: object, explain: Explained['explain']): Promise<unknown> => {
    const loaded = connection.ask(op, args).catch((error: unknown) => {
      throw explain(error);
    });
    return (await logWhileLoading(what, loaded, loading)).value;
  };
  await connection.ask('prepare', { folder, dependencies });
  const graphs = new Map<string, GraphFacts>();
  for (const place of places) {
    const args = { graph_id: place.graphId, ...exportArgs(place) };
    const what = `graph "${place.graphId}" of ${place.file}`;
    graphs.set(place.graphId, graphFacts.parse(await load('load', what, args, (error) => explainGraph(error, place))));
  }
  const rules = auth && (await load('load_auth', `\`auth.path\`, ${auth.file}`, exportArgs(auth), auth.explain));
  const known = {
    graphs,
    auth: auth && authFacts.parse(rules),
    embeds: embed !== undefined && (await embeds(embed)),
  };
  if (app === undefined) return { ...known, app: undefined };
  // The last: its startup may use all that the others have made.
  const args = { ...exportArgs(app), own_paths: app.ownPaths, starts: app.starts };
  return { ...known, app: appFacts.parse(await load('load_app', `\`http.app\`, ${app.file}`, args, app.explain)) };

  /** Whether the agent's packages embed: a model needs one that they may lack. */
  async function embeds({ named, explain }: NonNullable<CodeOptions['embed']>): Promise<boolean> {
    const isModel = 'model' in named;
    const args = isModel ? named : exportArgs(named);
    try {
      await load('load_embeddings', '`store.index.embed`', args, (error) => error);
      return true;
    } catch (error) {
      if (isModel && error instanceof WorkerError && error.code === 'embed-package-missing') return false;
      throw explain(error);
    }
  }
}

const exportArgs = ({ file, exportName }: ExportPath) => ({ module: file, export: exportName });
