import { cutMark } from '../../contract/cut-mark.ts';
import { memberOf } from '../members.ts';
import { isMessage } from '../wire.ts';

export interface BoundedCopy {
  /** The value as JSON, with messages in the API's form. */
  json: string;
  /** At least the bytes of the JSON, at most the bound. */
  size: number;
  /** Whether something was left out or shortened. */
  isCut: boolean;
}

/** Values nested deeper, and cycles, are left out. */
const maxDepth = 32;

/** The smallest bound: what stands for a value that does not fit is a cut mark in quotes, or `null`. */
export const minCopyBytes = Buffer.byteLength(JSON.stringify(cutMark));

/**
 * Serializes a value of the agent's code, which may change or throw when read, up to a size in bytes. Stops there, so
 * that a large state costs no more than a small one.
 *
 * @param maxBytes at least `minCopyBytes`.
 */
export function boundedCopy(value: unknown, maxBytes: number): BoundedCopy {
  const copier = new Copier(maxBytes - minCopyBytes);
  try {
    const json = copier.copy(value, 0) ?? copier.plain(null);
    return { json, size: maxBytes - minCopyBytes - copier.remainingBytes, isCut: copier.isCut };
  } catch {
    return { json: 'null', size: 4, isCut: true };
  }
}

class Copier {
  /** May end below zero, by `minCopyBytes` at most: what stands for the first value that does not fit. */
  remainingBytes: number;
  isCut = false;

  constructor(maxBytes: number) {
    this.remainingBytes = maxBytes;
  }

  /** Returns undefined for what JSON leaves out. */
  copy(value: unknown, depth: number): string | undefined {
    switch (typeof value) {
      case 'string':
        return this.#text(value);
      case 'bigint':
        return this.#text(String(value));
      case 'number':
      case 'boolean':
        return this.plain(typeof value === 'number' && !Number.isFinite(value) ? null : value);
      case 'object':
        return value === null ? this.plain(null) : this.#object(value, depth);
      default:
        return undefined;
    }
  }

  plain(value: number | boolean | null): string {
    const json = String(value);
    return this.#spend(json.length) ? json : this.#omit();
  }

  #object(value: object, depth: number): string | undefined {
    if (depth > maxDepth || this.remainingBytes < 2) return this.#omit();
    if (Array.isArray(value)) return this.#items(value, depth);
    if (isMessage(value)) {
      const { type, data } = value.toDict();
      return this.#members({ type, ...data }, depth);
    }
    if (ArrayBuffer.isView(value)) return this.#text(`<${value.byteLength} bytes>`);
    const toJson = memberOf(value, 'toJSON');
    if (typeof toJson === 'function') {
      const json: unknown = Reflect.apply(toJson, value, ['']);
      return json === value ? this.#members(value, depth) : this.copy(json, depth + 1);
    }
    return this.#members(value, depth);
  }

  #items(items: readonly unknown[], depth: number): string {
    let copies = '';
    this.#spend(2);
    for (const item of items) {
      if (!this.#spend(1)) break;
      copies += `${copies === '' ? '' : ','}${this.copy(item, depth + 1) ?? this.plain(null)}`;
    }
    return `[${copies}]`;
  }

  #members(object: object, depth: number): string {
    let copies = '';
    this.#spend(2);
    for (const key of Object.keys(object)) {
      const member: unknown = Reflect.get(object, key);
      if (member === undefined || typeof member === 'function' || typeof member === 'symbol') continue;
      const plain = isPlain(key);
      const name = plain ? `"${key}"` : jsonOf(key);
      if (!this.#spend((plain ? name.length : Buffer.byteLength(name)) + 2)) break;
      const copy = this.copy(member, depth + 1);
      if (copy !== undefined) copies += `${copies === '' ? '' : ','}${name}:${copy}`;
    }
    return `{${copies}}`;
  }

  #text(text: string): string {
    if (text.length + 2 <= this.remainingBytes && isPlain(text)) {
      this.remainingBytes -= text.length + 2;
      return `"${text}"`;
    }
    const fits = Math.max(0, this.remainingBytes);
    let kept = text.slice(0, fits);
    let json = jsonOf(kept);
    let size = Buffer.byteLength(json);
    while (size > fits && kept !== '') {
      kept = kept.slice(0, Math.min(kept.length - 1, Math.floor((kept.length * fits) / size)));
      json = jsonOf(kept);
      size = Buffer.byteLength(json);
    }
    if (kept.length < text.length || size > fits) {
      this.isCut = true;
      json = `${json.slice(0, -1)}${cutMark}"`;
      size += minCopyBytes - 2;
    }
    this.remainingBytes -= size;
    return json;
  }

  #omit(): string {
    this.isCut = true;
    this.remainingBytes -= 4;
    return 'null';
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

/** Whether a text is the same in JSON, with a byte a character, as most are. */
function isPlain(text: string): boolean {
  if (text.length > 40) return /^[ !#-[\]-~]*$/.test(text);
  // Faster for short texts.
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return false;
  }
  return true;
}

/** A text as JSON that Postgres can hold. */
const jsonOf = (text: string): string => JSON.stringify(storable(text));
