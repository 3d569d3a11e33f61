import { randomUUID } from 'node:crypto';
import { isObject } from '../../contract/json-object.ts';
import { objectAt, textAt, type Answer, type JsonObject } from './exchange.ts';
import type { Site } from './site.ts';

/**
 * The page that receives an App's manifest. Opening it accepts: the App gets the manifest's name, webhook
 * address, permissions and events, and the browser is sent back with a code for the rest.
 *
 * @param sent the form, with the manifest as JSON in its field `manifest`.
 */
export function acceptManifest(site: Site, url: URL, sent: string): Answer {
  const manifest = manifestOf(new URLSearchParams(sent).get('manifest') ?? '');
  const back = textAt(manifest, 'redirect_url');
  if (back === undefined || !URL.canParse(back)) {
    return { status: 422, body: { message: 'The manifest names no redirect_url.' } };
  }
  const { app } = site;
  app.name = textAt(manifest, 'name') ?? app.name;
  app.webhookUrl = textAt(objectAt(manifest, 'hook_attributes'), 'url') ?? app.webhookUrl;
  app.permissions = Object.fromEntries(
    Object.entries(objectAt(manifest, 'default_permissions')).map(([name, level]) => [name, String(level)]),
  );
  const events = manifest['default_events'];
  app.events = Array.isArray(events) ? events.filter((each) => typeof each === 'string') : [];
  const code = randomUUID().replaceAll('-', '');
  site.codes.add(code);
  const to = new URL(back);
  to.searchParams.set('code', code);
  const state = url.searchParams.get('state');
  if (state !== null) to.searchParams.set('state', state);
  return { status: 302, headers: { location: to.href } };
}

function manifestOf(text: string): JsonObject {
  try {
    const read: unknown = JSON.parse(text);
    return isObject(read) ? read : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
