import type { Manifest } from './manifest.ts';

/** Text inside HTML and its attributes. */
const html = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`);

const page = (title: string, body: readonly string[]): string =>
  [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${html(title)}</title>`,
    '<style>body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem}code{background:#eee;padding:0 .2em}button{font:inherit;padding:.4em 1em}</style>',
    '</head>',
    '<body>',
    `<h1>${html(title)}</h1>`,
    ...body,
    '</body>',
    '</html>',
    '',
  ].join('\n');

/** The page with the button that posts the manifest to GitHub. It needs no script. */
export function startPage(manifest: Manifest, action: string): string {
  const requested = Object.entries(manifest.default_permissions).map(([name, level]) => `${name}: ${level}`);
  return page('Create the GitHub App', [
    `<p>GitHub shows the requested permissions, and creates the App under the name that you choose there. GitHub sends its events to <code>${html(manifest.hook_attributes.url)}</code>.</p>`,
    `<p>Permissions: <code>${html(requested.join(', '))}</code>.</p>`,
    `<p>Events: <code>${html(manifest.default_events.join(', '))}</code>.</p>`,
    `<form action="${html(action)}" method="post">`,
    `<input type="hidden" name="manifest" value="${html(JSON.stringify(manifest))}">`,
    '<button type="submit">Create it on GitHub</button>',
    '</form>',
  ]);
}

/** The page after the App was made and its settings were written. */
export const donePage = (name: string, file: string, installUrl: string): string =>
  page(`${name} is made`, [
    `<p>Its id, key and webhook secret are in <code>${html(file)}</code>, which only you can read.</p>`,
    `<p>Next: <a href="${html(installUrl)}">install it</a> on the repositories that deploy agents, add the settings of your control service to the same file, and run <code>npm start</code>.</p>`,
  ]);

/** The error page. */
export const problemPage = (problem: string): string =>
  page('That did not work', [`<p>${html(problem)}</p>`, '<p><a href="/">Start again</a></p>']);
