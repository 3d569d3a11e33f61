import type { CallOptions } from '../contract/call-options.ts';
import {
  fieldAliases,
  spellFields,
  spellingIn,
  type FieldNameSetting,
  type FieldSpelling,
} from '../contract/control/aliases.ts';
import { isObject } from '../contract/json-object.ts';
import { fromJson } from '../contract/json-text.ts';
import { ServiceError } from '../contract/service-error.ts';
import { call } from './call.ts';
import type { Connection } from './connection.ts';

/** The timeout (ms) of a question about the spelling; a service that does not answer it is not asked again. */
const questionMs = 10_000;

/**
 * Spells the fields of requests as the service expects. With `auto` it is learned before such a field is sent: from the
 * service's responses, else from its OpenAPI document, else from any of its deployments. A service that shows none of
 * these gets the specification's names, and tells by its refusal if it has the others.
 */
export class RequestSpelling {
  readonly #link: Connection;
  readonly #setting: FieldNameSetting;
  #learned: FieldSpelling | undefined;
  #hasAsked = false;

  constructor(link: Connection, setting: FieldNameSetting) {
    this.#link = link;
    this.#setting = setting;
  }

  /** Takes note of a response. */
  see(json: unknown): void {
    this.#learned ??= spellingIn(aliasedNames(json).join(' '));
  }

  /** Sends a request with its fields spelled. A refusal that names the other spelling's fields had no effect. */
  async send<T>(body: unknown, send: (spelled: unknown) => Promise<T>, options: CallOptions | undefined): Promise<T> {
    if (aliasedNames(body).length === 0) return send(body);
    const spelling = this.#setting === 'auto' ? await this.#learn(options) : this.#setting;
    try {
      return await send(spellFields(body, spelling));
    } catch (error) {
      const theirs = error instanceof ServiceError && error.kind === 'rejected' ? spellingIn(error.message) : undefined;
      if (theirs === undefined || theirs === spelling) throw error;
      if (this.#setting !== 'auto') throw error instanceof ServiceError ? withAdvice(error, theirs) : error;
      this.#learned = theirs;
      return send(spellFields(body, theirs));
    }
  }

  async #learn(options: CallOptions | undefined): Promise<FieldSpelling> {
    if (this.#learned === undefined && !this.#hasAsked) {
      this.#learned = spellingIn(await this.#read('read the OpenAPI document', '/openapi.json', '', options));
      if (this.#learned === undefined) {
        this.see(fromJson(await this.#read('list deployments', '/v2/deployments', '?limit=1', options)));
      }
      this.#hasAsked = true;
    }
    return this.#learned ?? 'contract';
  }

  /** The text of a response; empty if the service does not answer. */
  async #read(name: string, path: string, query: string, { signal, deadline }: CallOptions = {}): Promise<string> {
    const until = Math.min(deadline ?? Infinity, this.#link.clock.now() + questionMs);
    try {
      return await call(
        this.#link,
        { name, method: 'GET', path, query },
        ({ body }) => ({ ok: true, value: body.toString('utf8') }),
        { signal, deadline: until },
      );
    } catch (error) {
      if (error instanceof ServiceError) return '';
      throw error;
    }
  }
}

/** The aliased names in a body of the control service, in its own spelling. */
function aliasedNames(json: unknown): string[] {
  if (!isObject(json)) return [];
  const { resources, source_config: config } = json;
  if (Array.isArray(resources)) return resources.flatMap(aliasedNames);
  return [json, config].flatMap((holder) =>
    fieldAliases.flatMap(({ within, contract, public: other }) => {
      const inner = isObject(holder) ? holder[within] : undefined;
      return isObject(inner) ? [contract, other].filter((name) => name in inner) : [];
    }),
  );
}

/** The refusal, with the input that would have avoided it. */
function withAdvice(error: ServiceError, theirs: FieldSpelling): ServiceError {
  const { kind, operation, method, address, status, detail, problems, retryAfterMs, effect } = error;
  const problem = {
    loc: ['field-names'],
    msg: `this service has the names of "${theirs}", and "auto" finds them by itself`,
    type: '',
  };
  return new ServiceError({
    kind,
    operation,
    method,
    address,
    status,
    retryAfterMs,
    effect,
    cause: error,
    ...(problems.length > 0
      ? { detail, problems: [...problems, problem] }
      : { detail: [detail, `field-names: ${problem.msg}`].filter(Boolean).join('; ') }),
  });
}
