import { cutMark } from '../../contract/control/tracing-project.ts';
import { hasMethods, memberOf } from '../members.ts';
import { isMessage } from '../wire.ts';

export interface BoundedCopy {
  /** The value as JSON has it, with messages in the API's form. */
  value: unknown;
  /** The size of its JSON in bytes, at most the bound. */
  size: number;
  /** Whether something was left out or shortened. */
  isCut: boolean;
}

/** Values nested deeper, and cycles, are left out. */
const maxDepth = 32;

/**
 * Copies a value of the agent's code, which may change or throw when read, up to a size of JSON in bytes. Stops there,
 * so that a large state costs no more than a small one.
 */
export function boundedCopy(value: unknown, maxBytes: number): BoundedCopy {
  const copier = new Copier(maxBytes);
  try {
    const copy = copier.copy(value, 0) ?? null;
    return { value: copy, size: maxBytes - Math.max(0, copier.remainingBytes), isCut: copier.isCut };
  } catch {
    return { value: null, size: 4, isCut: true };
  }
}

class Copier {
  remainingBytes: number;
  isCut = false;

  constructor(maxBytes: number) {
    this.remainingBytes = maxBytes;
  }

  /** Returns undefined for what JSON leaves out. */
  copy(value: unknown, depth: number): unknown {
    switch (typeof value) {
      case 'string':
        return this.#text(value);
      case 'bigint':
        return this.#text(String(value));
      case 'number':
      case 'boolean':
        return this.#plain(typeof value === 'number' && !Number.isFinite(value) ? null : value);
      case 'object':
        return value === null ? this.#plain(null) : this.#object(value, depth);
      default:
        return undefined;
    }
  }

  #plain(value: number | boolean | null): unknown {
    return this.#spend(String(value).length) ? value : null;
  }

  #object(value: object, depth: number): unknown {
    if (depth > maxDepth || this.remainingBytes < 2) return this.#omit();
    if (isMessage(value)) {
      const { type, data } = value.toDict();
      return this.#members({ type, ...data }, depth);
    }
    if (ArrayBuffer.isView(value)) return this.#text(`<${value.byteLength} bytes>`);
    if (hasMethods(value, 'toJSON')) {
      const json: unknown = Reflect.apply(Object(memberOf(value, 'toJSON')), value, ['']);
      return json === value ? this.#members(value, depth) : this.copy(json, depth + 1);
    }
    return Array.isArray(value) ? this.#items(value, depth) : this.#members(value, depth);
  }

  #items(items: readonly unknown[], depth: number): unknown[] {
    const copies: unknown[] = [];
    this.#spend(2);
    for (const item of items) {
      if (!this.#spend(2)) break;
      copies.push(this.copy(item, depth + 1) ?? null);
    }
    return copies;
  }

  #members(object: object, depth: number): Record<string, unknown> {
    const copies: [string, unknown][] = [];
    this.#spend(2);
    for (const key of Object.keys(object)) {
      const member: unknown = Reflect.get(object, key);
      if (member === undefined || typeof member === 'function' || typeof member === 'symbol') continue;
      const name = storable(key);
      if (!this.#spend(bytesOf(name) + 2)) break;
      const copy = this.copy(member, depth + 1);
      if (copy !== undefined) copies.push([name, copy]);
    }
    return Object.fromEntries(copies);
  }

  #text(text: string): string {
    let kept = storable(text.slice(0, this.remainingBytes));
    let size = bytesOf(kept);
    while (size > this.remainingBytes && kept !== '') {
      kept = kept
        .slice(0, Math.min(kept.length - 1, Math.floor((kept.length * this.remainingBytes) / size)))
        .toWellFormed();
      size = bytesOf(kept);
    }
    this.remainingBytes -= size;
    if (kept.length >= text.length) return kept;
    this.isCut = true;
    return `${kept.slice(0, -1)}${cutMark}`;
  }

  #omit(): null {
    this.isCut = true;
    return null;
  }

  #spend(bytes: number): boolean {
    if (bytes > this.remainingBytes) {
      this.isCut = true;
      this.remainingBytes = Math.min(this.remainingBytes, 0);
      return false;
    }
    this.remainingBytes -= bytes;
    return true;
  }
}

/** What Postgres can hold in `jsonb`. */
const storable = (text: string): string =>
  text.isWellFormed() && !text.includes('\0') ? text : text.replaceAll('\0', '\uFFFD').toWellFormed();

/** A text that Postgres can hold, with the mark at its end where it was cut. */
export const cutText = (text: string, longest: number): string =>
  text.length <= longest ? storable(text) : `${storable(text.slice(0, Math.max(0, longest - 1)))}${cutMark}`;

/** The bytes of a text in JSON. Most texts need no escapes, and no JSON is made of these. */
const bytesOf = (text: string): number =>
  /^[ !#-[\]-~]*$/.test(text) ? text.length + 2 : Buffer.byteLength(JSON.stringify(text));
