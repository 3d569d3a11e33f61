import { isObject } from '../../../kit/json-object.ts';

/** An image of a message. One that is not embedded is on the server of others, which learns of every reader. */
export interface MessageImage {
  address: string;
  isEmbedded: boolean;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Types of images that run nothing. */
const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/bmp'];
const embedded = new RegExp(`^data:(?:${imageTypes.join('|')});base64,[A-Za-z0-9+/=_-]+$`);

/** The image at an address that others wrote: a data URL or a page of the web; undefined for all others. */
export function imageAt(address: string): MessageImage | undefined {
  if (address.startsWith('data:')) return embedded.test(address) ? { address, isEmbedded: true } : undefined;
  if (!URL.canParse(address)) return undefined;
  const { protocol, href } = new URL(address);
  return protocol === 'https:' ? { address: href, isEmbedded: false } : undefined;
}

const fromBase64 = (type: unknown, data: unknown): MessageImage | undefined =>
  imageAt(`data:${text(type)};base64,${text(data)}`);

/** The image that a part of a message's content holds, in the forms of OpenAI, Anthropic and LangChain. */
export function imageOf(part: unknown): MessageImage | undefined {
  if (!isObject(part)) return undefined;
  const { type, image_url, source, url, data, base64, mime_type, mimeType } = part;
  if (type === 'image_url' || type === 'input_image')
    return imageAt(text(isObject(image_url) ? image_url['url'] : image_url));
  if (type !== 'image') return undefined;
  if (isObject(source)) {
    return source['type'] === 'url' ? imageAt(text(source['url'])) : fromBase64(source['media_type'], source['data']);
  }
  return text(url) === '' ? fromBase64(mime_type ?? mimeType, data ?? base64) : imageAt(text(url));
}
