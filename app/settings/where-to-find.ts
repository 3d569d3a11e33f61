import type { Variable } from './environment.ts';

const appPage = "GitHub: Settings, Developer settings, GitHub Apps, Edit (an organisation's are in its own settings)";
const secretField = `${appPage}, Webhook, Secret. Make one with: openssl rand -hex 32`;

/** Where a person finds or makes what a variable holds. */
export const whereToFind: Readonly<Record<Variable, string>> = {
  APP_ID: `${appPage}, General, About: App ID. \`npm run setup\` makes an App and writes all of this down.`,
  PRIVATE_KEY: `${appPage}, General, Private keys, Generate a private key. Set PRIVATE_KEY_PATH to the .pem file, or PRIVATE_KEY to what is in it (base64 -w0 FILE makes one line of it).`,
  PRIVATE_KEY_PATH: `The .pem file that GitHub gave you at ${appPage}, General, Private keys.`,
  WEBHOOK_SECRET: `${secretField}, and write the same in both places.`,
  WEBHOOK_SECRET_PREVIOUS:
    'The secret that WEBHOOK_SECRET held before, for as long as deliveries signed with it may come; leave it out otherwise.',
  GITHUB_API_URL:
    'Leave it out for github.com; GitHub Enterprise Server has https://HOST/api/v3, GHE.com https://api.SUBDOMAIN.ghe.com.',
  LANDFALL_BASE_URL:
    'The address of your control service, with its path if it has one. `npm run local` starts one on this machine and prints it.',
  LANDFALL_API_KEY:
    'The settings of your control service, API keys. `npm run local` prints the one of the service on this machine.',
  LANDFALL_TENANT_ID:
    'The settings of your control service, workspace; only keys of an organisation need it. `npm run local` prints it.',
  LANDFALL_FIELD_NAMES: 'Leave it out unless your control service wants the other spelling of its fields.',
  LANDFALL_BUILDER:
    'app: this App requests a revision on each push. service: the hosted service builds pushes by itself, and the App follows them.',
  LANDFALL_BINDINGS:
    'Needed only for a repository that controls a deployment built from another one: owner/name=deployment, one per line.',
  LANDFALL_ALLOW_HTTP: 'Set it to true only where the network between is yours: keys travel in clear.',
  LANDFALL_DATA: 'A folder that this process may write to; the embedded database is kept in it.',
  PUBLIC_URL:
    'The address at which this App is reached from outside; the webhook address at GitHub begins with it. Leave it out where there is none.',
  DATABASE_URL:
    "Your Postgres provider's page, or leave it out: then a Postgres of the App's own runs on this machine.",
  HOST: 'The address of this machine to listen at: 127.0.0.1, or 0.0.0.0 for all, as in a container.',
  PORT: 'The port to listen at; 3000 unless it is taken.',
};
