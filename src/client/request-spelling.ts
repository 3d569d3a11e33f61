import type { CallOptions } from '../contract/call-options.ts';
import {
  fieldAliases,
  spellFields,
  spellingOfNames,
  type FieldNameSetting,
  type FieldSpelling,
} from '../contract/control/aliases.ts';
import { isObject } from '../kit/json-object.ts';
import { fromJson } from '../kit/json-text.ts';
import { ServiceError } from '../contract/service-error.ts';
import { call } from './call.ts';
import type { Connection } from './connection.ts';

/** The timeout (ms) of each query about the spelling. */
const queryTimeoutMs = 10_000;

/**
 * Spells the fields of requests as the service expects. With `auto` it is learned before such a field is sent: from the
 * service's responses, else from its OpenAPI document, else from its newest deployment. If none of these shows it, the
 * specification's names are sent; a refusal that names only the public ones leads to one more attempt with those.
 */
export class RequestSpelling {
  readonly #link: Connection;
  readonly #setting: FieldNameSetting;
  #learned: FieldSpelling | undefined;
  #hasQueried = false;

  constructor(link: Connection, setting: FieldNameSetting) {
    this.#link = link;
    this.#setting = setting;
  }

  /** Takes note of a response. */
  observe(json: unknown): void {
    if (this.#learned !== undefined) return;
    const names = aliasedNames(json);
    this.#learned = spellingOfNames((name) => names.includes(name));
  }

  /** Sends a request, renaming its fields first. */
  async send<T>(body: unknown, send: (spelled: unknown) => Promise<T>, options: CallOptions | undefined): Promise<T> {
    if (aliasedNames(body).length === 0) return send(body);
    const isAuto = this.#setting === 'auto';
    if (isAuto) await this.#learn(options);
    const spelling = this.#setting === 'auto' ? (this.#learned ?? 'contract') : this.#setting;
    try {
      return await send(spellFields(body, spelling));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const serviceSpelling = spellingInRefusal(error);
      if (serviceSpelling === undefined || serviceSpelling === spelling) throw error;
      if (isAuto && this.#learned === undefined) {
        const answer = await send(spellFields(body, serviceSpelling));
        this.#learned = serviceSpelling;
        return answer;
      }
      if (!isAuto) await this.#learn(options);
      throw isAuto || this.#learned !== serviceSpelling ? error : withAdvice(error, serviceSpelling);
    }
  }

  async #learn(options: CallOptions | undefined): Promise<void> {
    if (this.#learned !== undefined || this.#hasQueried) return;
    const document = await this.#read('read the OpenAPI document', '/openapi.json', '', options);
    this.#learned = spellingOfNames((name) => new RegExp(`"${name}"\\s*:`).test(document));
    if (this.#learned === undefined) {
      this.observe(fromJson(await this.#read('list deployments', '/v2/deployments', '?limit=1', options)));
    }
    this.#hasQueried = true;
  }

  /** The text of a response; empty if the service does not answer. */
  async #read(name: string, path: string, query: string, { signal, deadline }: CallOptions = {}): Promise<string> {
    const until = Math.min(deadline ?? Infinity, this.#link.clock.now() + queryTimeoutMs);
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

/** The spelling of the fields that a refusal names, if the refused request had no effect. */
function spellingInRefusal({ kind, effect, message }: ServiceError): FieldSpelling | undefined {
  if (kind !== 'rejected' || effect !== 'none') return undefined;
  return spellingOfNames((name) => new RegExp(`\\b${name}\\b`).test(message));
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

/** The refusal, with the `field-names` that would have avoided it. */
function withAdvice(error: ServiceError, serviceSpelling: FieldSpelling): ServiceError {
  const { kind, operation, method, address, status, detail, problems, retryAfterMs, effect } = error;
  const problem = {
    loc: ['field-names'],
    msg: `this service uses the "${serviceSpelling}" names; set field-names to auto or ${serviceSpelling}`,
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
