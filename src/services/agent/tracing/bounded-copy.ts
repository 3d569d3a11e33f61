import { cutMark } from '../../../kit/plain-text.ts';
import { isExactNumber } from '../../../kit/exact-number.ts';
import { storableText } from '../../../kit/json-text.ts';
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

/** What values are written into; absent while one is, since reading a value may run code of the agent. */
let freeBuffer: Buffer | undefined;

/**
 * Serializes a value of the agent's code, which may change or throw when read, and stops at `maxBytes` (at least
 * `minCopyBytes`), so that a large state costs no more than a small one.
 */
export function boundedCopy(value: unknown, maxBytes: number): BoundedCopy {
  const buffer = freeBuffer && freeBuffer.length >= maxBytes ? freeBuffer : Buffer.allocUnsafe(maxBytes);
  freeBuffer = undefined;
  const copier = new Copier(buffer, maxBytes - minCopyBytes);
  try {
    if (!copier.copy(value, 0)) copier.plain(null);
    return { json: copier.json(), size: maxBytes - minCopyBytes - copier.remainingBytes, isCut: copier.isCut };
  } catch {
    return { json: 'null', size: 4, isCut: true };
  } finally {
    freeBuffer = buffer;
  }
}

/** Writes JSON into a buffer, which takes half the time of copying a value for `JSON.stringify`. */
class Copier {
  /** May end below zero, by `minCopyBytes` at most: what stands for the first value that does not fit. */
  remainingBytes: number;
  isCut = false;
  /** What is written, followed by the characters of the buffer, all ASCII. */
  #written = '';
  readonly #buffer: Buffer;
  #at = 0;

  constructor(buffer: Buffer, maxBytes: number) {
    this.#buffer = buffer;
    this.remainingBytes = maxBytes;
  }

  json(): string {
    this.#append('');
    return this.#written;
  }

  /** Writes nothing, and returns false, for what JSON leaves out. */
  copy(value: unknown, depth: number): boolean {
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
        return false;
    }
  }

  plain(value: number | boolean | null): boolean {
    return this.#literal(String(value));
  }

  #literal(json: string): boolean {
    if (!this.#spend(json.length)) return this.#omit();
    return this.#write(json);
  }

  #object(value: object, depth: number): boolean {
    if (depth > maxDepth || this.remainingBytes < 2) return this.#omit();
    if (Array.isArray(value)) return this.#items(value, depth);
    if (isExactNumber(value)) return this.#literal(value.rawJSON);
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

  #items(items: readonly unknown[], depth: number): boolean {
    this.#spend(2);
    this.#write('[');
    let isFirst = true;
    for (const item of items) {
      if (!this.#spend(1)) break;
      if (!isFirst) this.#write(',');
      isFirst = false;
      if (!this.copy(item, depth + 1)) this.plain(null);
    }
    return this.#write(']');
  }

  #members(object: object, depth: number): boolean {
    this.#spend(2);
    this.#write('{');
    let isFirst = true;
    for (const key of Object.keys(object)) {
      const member: unknown = Reflect.get(object, key);
      if (member === undefined || typeof member === 'function' || typeof member === 'symbol') continue;
      if (!this.#name(key, isFirst)) break;
      isFirst = false;
      if (!this.copy(member, depth + 1)) this.plain(null);
    }
    return this.#write('}');
  }

  /** Writes the name of a member, unless it does not fit. */
  #name(key: string, isFirst: boolean): boolean {
    const json = isPlain(key) ? undefined : jsonOf(key);
    if (!this.#spend((json === undefined ? key.length + 2 : Buffer.byteLength(json)) + 2)) return false;
    if (!isFirst) this.#write(',');
    if (json === undefined) this.#quote(key);
    else this.#append(json);
    return this.#write(':');
  }

  #text(text: string): boolean {
    if (text.length + 2 <= this.remainingBytes && isPlain(text)) {
      this.remainingBytes -= text.length + 2;
      return this.#quote(text);
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
    return this.#append(json);
  }

  #quote(text: string): true {
    this.#write('"');
    if (text.length <= shortText) this.#write(text);
    else this.#append(text);
    return this.#write('"');
  }

  #append(text: string): true {
    this.#written += this.#buffer.toString('latin1', 0, this.#at) + text;
    this.#at = 0;
    return true;
  }

  #write(ascii: string): true {
    for (let index = 0; index < ascii.length; index += 1) this.#buffer[this.#at++] = ascii.charCodeAt(index);
    return true;
  }

  #omit(): boolean {
    this.isCut = true;
    this.remainingBytes -= 4;
    return this.#write('null');
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

/** Texts up to this length are faster to handle character by character. */
const shortText = 40;

/** Whether a text is the same in JSON, with a byte a character, as most are. */
function isPlain(text: string): boolean {
  if (text.length > shortText) return /^[ !#-[\]-~]*$/.test(text);
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return false;
  }
  return true;
}

/** A text as JSON that Postgres can hold. */
const jsonOf = (text: string): string => JSON.stringify(storableText(text));
