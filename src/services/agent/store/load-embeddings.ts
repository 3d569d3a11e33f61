import type { Clock } from '../../../kit/clock.ts';
import { embedderOf } from '../../../agent-folder/graph-config/language.ts';
import type { Logger } from '../../../kit/logger.ts';
import { agentExport } from '../graphs/javascript/agent-export.ts';
import type { Configuration } from '../configuration.ts';
import { hasMethods, memberOf } from '../members.ts';
import type { Embeddings } from './embeddings.ts';
import { OpenAiEmbeddings } from './openai-embeddings.ts';

const path = ['store', 'index', 'embed'];

/**
 * Loads what `store.index.embed` names: a function or an object of the agent, or a model of an address with OpenAI's
 * interface.
 *
 * @throws StartupError with the line in the configuration file.
 */
export async function loadEmbeddings(
  configuration: Configuration,
  configPath: string,
  { clock, log }: { clock: Clock; log: Logger },
): Promise<Embeddings | undefined> {
  const embed = configuration.file.store?.index?.embed;
  if (embed === undefined) return undefined;
  const embedder = embedderOf(embed);
  if (embedder.kind === 'model') {
    return new OpenAiEmbeddings({ ...openAiAccess(configuration), model: embedder.model, clock, log });
  }
  const exported = await agentExport(configuration, path, embed, configPath);
  const embeddings = embeddingsOf(exported);
  if (embeddings !== undefined) return embeddings;
  const advice = 'export a function that takes a list of texts, or an object with `embedDocuments` and `embedQuery`';
  throw configuration.invalid(path, `\`store.index.embed\` can't embed: ${advice}`);
}

/** The address and the key of the environment. Neither is in an error: both may hold a secret. */
function openAiAccess({ invalid }: Pick<Configuration, 'invalid'>) {
  const key = process.env['OPENAI_API_KEY']?.trim() || undefined;
  const address = process.env['OPENAI_BASE_URL']?.trim() || undefined;
  if (key === undefined && address === undefined)
    throw invalid(path, '`store.index.embed` needs a key. Set the secret OPENAI_API_KEY');
  if (key !== undefined && !/^[!-~]+$/.test(key))
    throw invalid(path, "`store.index.embed` can't use OPENAI_API_KEY. A key has no spaces and only ASCII characters");
  if (address !== undefined && !isPlainAddress(address)) {
    const advice =
      'Set it to an http or https address without a user and a query, such as https://models.example.test/v1';
    throw invalid(path, `\`store.index.embed\` can't use OPENAI_BASE_URL. ${advice}`);
  }
  return { key, address };
}

function embeddingsOf(exported: unknown): Embeddings | undefined {
  if (isFunction(exported)) {
    return {
      embedDocuments: async (texts) => exported(texts),
      embedQuery: async (text) => first(await exported([text])),
    };
  }
  const [embedDocuments, embedQuery] = [memberOf(exported, 'embedDocuments'), memberOf(exported, 'embedQuery')];
  if (!hasMethods(exported, 'embedDocuments') || !isFunction(embedDocuments) || !isFunction(embedQuery))
    return undefined;
  return {
    embedDocuments: async (texts) => embedDocuments.call(exported, texts),
    embedQuery: async (text) => embedQuery.call(exported, text),
  };
}

const isFunction = (value: unknown): value is (argument: unknown) => unknown => typeof value === 'function';

const first = (list: unknown): unknown => (Array.isArray(list) ? list[0] : undefined);

/** A user in an address could be shown by errors, and `fetch` refuses it. Paths are appended, which a query prevents. */
function isPlainAddress(address: string): boolean {
  const url = URL.parse(address);
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    [url.username, url.password, url.search, url.hash].every((part) => part === '')
  );
}
