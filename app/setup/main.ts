import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { serve } from '@hono/node-server';
import { hasCode, messageOf } from '../../src/kit/errors.ts';
import { withoutTrailingSlashes } from '../../src/kit/plain-text.ts';
import { readAddress } from '../../src/kit/base-address.ts';
import { setupApp } from './setup-app.ts';

const usage = `npm run setup -- --public-url https://YOUR-ADDRESS [--organisation NAME] [--name NAME] [--api-url URL] [--port PORT]

Serves a page on this machine with one button, which creates the GitHub App and writes its id, key and webhook secret
to .env here. --public-url is where GitHub will reach the App.`;

const file = resolve('.env');

function readOptions():
  { publicUrl: string; apiUrl: string; organisation?: string; name: string; port: number } | string {
  try {
    const text = { type: 'string' } as const;
    const { values } = parseArgs({
      options: {
        'public-url': text,
        organisation: text,
        name: text,
        'api-url': text,
        port: text,
        help: { type: 'boolean' },
      },
    });
    if (values.help) return '';
    const publicUrl = values['public-url'] && withoutTrailingSlashes(values['public-url']);
    const apiUrl = withoutTrailingSlashes(values['api-url'] ?? 'https://api.github.com');
    const port = Number(values.port ?? 3001);
    if (publicUrl === undefined) return '--public-url is missing.';
    for (const [option, address] of [
      ['public-url', publicUrl],
      ['api-url', apiUrl],
    ] as const) {
      const problem = readAddress(address, { allowHttp: false });
      if (address.startsWith('http:') && !problem.ok)
        return `--${option} must be https: GitHub reaches it over the network.`;
      if (!problem.ok) return `--${option}: ${problem.problem}`;
    }
    if (!Number.isInteger(port) || port < 0 || port > 65_535) return '--port is a number from 0 to 65535.';
    const { organisation, name = 'landfall' } = values;
    return { publicUrl, apiUrl, name, port, ...(organisation === undefined ? {} : { organisation }) };
  } catch (error) {
    return messageOf(error);
  }
}

const options = readOptions();
if (typeof options === 'string') {
  console.error(options === '' ? usage : `${options}\n\n${usage}`);
  process.exitCode = options === '' ? 0 : 2;
} else if (existsSync(file)) {
  console.error(`${file} is there already. Move it away first: it may hold the settings of an App that works.`);
  process.exitCode = 1;
} else {
  let origin = '';
  const app = setupApp({
    ...options,
    origin: () => origin,
    envFile: file,
    done({ id, name, html_url: htmlUrl }) {
      console.log(`${name} (App ${id}) is made; its settings are in ${file}.`);
      console.log(`Install it: ${htmlUrl}/installations/new`);
      console.log('Then add LANDFALL_BASE_URL and LANDFALL_API_KEY to the file, and run: npm start');
      server.close();
    },
  });
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: options.port }, ({ port }) => {
    origin = `http://127.0.0.1:${port}`;
    console.log(`Open ${origin} in a browser on this machine.`);
  });
  server.once('error', (error) => {
    const isTaken = hasCode(error, 'EADDRINUSE');
    console.error(isTaken ? `Port ${options.port} is taken. Give another one with --port.` : error.message);
    process.exitCode = 1;
  });
  process.once('SIGINT', () => server.close()).once('SIGTERM', () => server.close());
}
