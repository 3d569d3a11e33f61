import { Probot } from 'probot';
import { AppOctokit } from './github/octokit.ts';
import type { Settings } from './settings/settings.ts';
import type { AppContext } from './context.ts';

/** Registers what is done about each event, at a Probot app. */
export type RegisterHandlers = (app: Probot, context: AppContext) => void;

/**
 * The App for Probot: `app.on('push', ...)` and the rest. Probot's own server is not used: ours stores deliveries
 * first, and each delivery's job passes it to `probot.receive`.
 */
export const landfall =
  (context: AppContext, register: RegisterHandlers): ((app: Probot) => void) =>
  (app) =>
    register(app, context);

/** A Probot without a server: event types, and an Octokit for each installation. It logs nothing. */
export const createProbot = ({ appId, privateKey, webhookSecrets: [secret], apiUrl }: Settings['github']): Probot =>
  new Probot({ appId, privateKey, secret, baseUrl: apiUrl, logLevel: 'fatal', Octokit: AppOctokit });
