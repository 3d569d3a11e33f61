import type { ApiKeyScope } from '../../../contract/control/api-key-scopes.ts';
import type { FieldSpelling } from '../../../contract/control/aliases.ts';
import type { OpenApiDocument } from '../../../kit/http/openapi.ts';
import type { OurControlService } from '../service.ts';
import type { CurrentSession } from '../sessions/admit-session.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { TracedRunsIntake } from '../tracing-projects/receive-runs.ts';
import type { ExchangeToken } from '../trust/exchange.ts';
import type { Uploads } from '../uploads/uploads.ts';

/** What operations read besides the service of the caller. */
export interface ApiSettings {
  fieldNames: FieldSpelling;
  /** Aborts when the service ends: streams of logs end then. */
  leaving?: AbortSignal | undefined;
  describe: (spelling: FieldSpelling) => OpenApiDocument;
  /** Receives source tarballs; without it there are no uploads. */
  uploads?: Uploads | undefined;
  /** Receives the runs of agents; without it there is no endpoint for them. */
  runs?: TracedRunsIntake | undefined;
  /** Exchanges tokens of issuers for keys; without it there is no such endpoint. */
  exchangeToken?: ExchangeToken | undefined;
  /** The sessions of browsers; without it there are none. */
  sessions?: Sessions | undefined;
  /** Whether the service can hold revisions before traffic. */
  holds?: boolean | undefined;
  consoleUrl?: string | undefined;
}

export interface Env {
  /** The connection of the request; absent where no server received it. */
  Bindings: { incoming?: { socket: { remoteAddress?: string | undefined } } };
  Variables: {
    settings: ApiSettings;
    /** The service of the key's tenant; not set in open operations. */
    service: OurControlService;
    /** Whether the caller would be admitted now as well: a stream outlives a key. Not set in open operations. */
    isStillAdmitted: () => Promise<boolean>;
    /** What the caller's key may do. Not set in open operations. */
    scopes: readonly ApiKeyScope[];
    /** The session of the request, where it has one in the place of a key. */
    session: CurrentSession | undefined;
  };
}
