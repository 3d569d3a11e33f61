import { isObject } from '../../../kit/json-object.ts';

/** An image of a message. One that is not embedded is on a foreign server, which sees every request for it. */
export interface MessageImage {
  url: string;
  isEmbedded: boolean;
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Types of images that can't contain scripts. */
const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/bmp'];
const embeddedImage = new RegExp(`^data:(?:${imageTypes.join('|')});base64,[A-Za-z0-9+/=_-]+$`);

/** The image at an untrusted URL: a data URL of an image, or an `https` URL; undefined for all others. */
export function imageAt(url: string): MessageImage | undefined {
  if (url.startsWith('data:')) return embeddedImage.test(url) ? { url, isEmbedded: true } : undefined;
  if (!URL.canParse(url)) return undefined;
  const { protocol, href } = new URL(url);
  return protocol === 'https:' ? { url: href, isEmbedded: false } : undefined;
}

const fromBase64 = (type: unknown, data: unknown): MessageImage | undefined =>
  imageAt(`data:${asText(type)};base64,${asText(data)}`);

/** The image that a part of a message's content holds, in the forms of OpenAI, Anthropic and LangChain. */
export function imageOf(part: unknown): MessageImage | undefined {
  if (!isObject(part)) return undefined;
  const { type, image_url, source, url, data, base64, mime_type, mimeType } = part;
  if (type === 'image_url' || type === 'input_image')
    return imageAt(asText(isObject(image_url) ? image_url['url'] : image_url));
  if (type !== 'image') return undefined;
  if (isObject(source)) {
    return source['type'] === 'url' ? imageAt(asText(source['url'])) : fromBase64(source['media_type'], source['data']);
  }
  return asText(url) === '' ? fromBase64(mime_type ?? mimeType, data ?? base64) : imageAt(asText(url));
}
