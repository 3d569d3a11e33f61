import { openApi } from '../../../kit/http/shape.ts';
import { recorded } from '../../../recorded.ts';

/** The public server's description. */
export const publicDocument = openApi.parse(recorded('public-agent-server/openapi.json'));
