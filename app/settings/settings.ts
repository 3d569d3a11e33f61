import type { FieldSpelling } from '../../src/contract/control/aliases.ts';

/** A repository that the operator lets act on a deployment whose `repo_url` is another's. */
export interface Binding {
  /** `owner/name` in lower case, as GitHub compares names. */
  repository: string;
  /** The deployment's id or name. */
  deployment: string;
}

/** How the App is set up: everything that its operator decides. Keys and secrets in it are never shown. */
export interface Settings {
  github: {
    appId: number;
    /** PEM with its line breaks. */
    privateKey: string;
    /** The one that GitHub signs with; behind it the former one, while it is changed. */
    webhookSecrets: readonly [string, ...string[]];
    /** Without a slash at its end. */
    apiUrl: string;
  };
  service: {
    baseUrl: string;
    apiKey: string;
    tenantId: string | undefined;
    spelling: FieldSpelling;
  };
  /** Who makes the revision of a push. */
  builder: 'app' | 'service';
  bindings: readonly Binding[];
  /** Where people and agents reach this App, without a slash at its end. */
  publicUrl: string | undefined;
  /** With user and password; the embedded database where it is absent. */
  databaseUrl: string | undefined;
  /** Where the embedded database lies. */
  dataDir: string;
  host: string;
  port: number;
  /** Plain http is allowed off loopback, too. */
  allowHttp: boolean;
}
