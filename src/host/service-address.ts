import { readAddress } from '../kit/base-address.ts';

/** A base address without anything but its place: two spellings of it are one text. */
export function addressOf(baseUrl: string): string {
  const read = readAddress(baseUrl, { allowHttp: true });
  return read.ok ? `${read.address.origin}${read.address.prefix}` : read.shown;
}
