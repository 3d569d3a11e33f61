import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';

/** A value in the agent's own serialisation, which this server stores and never reads. */
export class Opaque {
  readonly type: string;
  readonly bytes: Uint8Array;

  constructor(type: string, bytes: Uint8Array) {
    this.type = type;
    this.bytes = bytes;
  }
}

/** Passes opaque values on. Others are the server's own, such as the answer that it withdraws: JSON. */
export const opaqueSerializer: SerializerProtocol = {
  async dumpsTyped(value: unknown) {
    if (value instanceof Opaque) return [value.type, value.bytes];
    return ['json', new TextEncoder().encode(JSON.stringify(value))];
  },
  async loadsTyped(type: string, stored: string | Uint8Array) {
    return new Opaque(type, typeof stored === 'string' ? new TextEncoder().encode(stored) : stored);
  },
};
