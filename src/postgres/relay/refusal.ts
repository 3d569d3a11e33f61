const fields = [
  'SFATAL',
  'VFATAL',
  'C53300',
  'MThis deployment has too many connections to its database. Close some of them, or raise db_max_connections.',
];
const body = Buffer.from(`${fields.join('\0')}\0\0`);
const length = Buffer.alloc(4);
length.writeUInt32BE(body.length + 4);

/** What a client of Postgres reads as the error 53300, whatever it was about to say (ErrorResponse of the protocol). */
export const tooManyConnections: Buffer = Buffer.concat([Buffer.from('E'), length, body]);
