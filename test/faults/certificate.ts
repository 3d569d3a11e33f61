import { generateKeyPairSync, sign } from 'node:crypto';

/** A certificate that signed itself, for one host, made for one test: there is no key to keep anywhere. */
export interface TestCertificate {
  key: string;
  cert: string;
}

const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const length =
    body.length < 128 ? Buffer.from([body.length]) : Buffer.from([0x82, body.length >> 8, body.length & 0xff]);
  return Buffer.concat([Buffer.from([tag]), length, body]);
};
const sequence = (...parts: Buffer[]): Buffer => der(0x30, ...parts);
const hex = (text: string): Buffer => Buffer.from(text, 'hex');

const ECDSA_WITH_SHA256 = sequence(der(0x06, hex('2a8648ce3d040302')));
const COMMON_NAME = der(0x06, hex('550403'));
const SUBJECT_ALT_NAME = der(0x06, hex('551d11'));

/** X.509 version 3 by hand (RFC 5280, 4.1): valid from yesterday to tomorrow, for `host` by name. */
export function selfSigned(host: string): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(host)))));
  const day = 24 * 60 * 60 * 1000;
  const time = (ms: number): Buffer =>
    der(0x17, Buffer.from(`${new Date(ms).toISOString().replace(/\D/g, '').slice(2, 14)}Z`));
  const names = sequence(der(0x82, Buffer.from(host)));
  const body = sequence(
    der(0xa0, der(0x02, hex('02'))),
    der(0x02, hex('01')),
    ECDSA_WITH_SHA256,
    name,
    sequence(time(Date.now() - day), time(Date.now() + day)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(SUBJECT_ALT_NAME, der(0x04, names)))),
  );
  const signature = der(0x03, hex('00'), sign('sha256', body, privateKey));
  const certificate = sequence(body, ECDSA_WITH_SHA256, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.match(/.{1,64}/g)?.join('\n')}\n-----END CERTIFICATE-----\n`,
  };
}
