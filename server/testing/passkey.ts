import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type { Browser, BrowserResponse } from './console.ts'

/** A software passkey. It signs like a device that has verified the user. */
export interface Passkey {
  /** Adds it to the account of the signed-in person. */
  register(browser: Browser, name: string): Promise<BrowserResponse>
  /** Starts a registration and returns its challenge. */
  begin(browser: Browser): Promise<{ challenge: string }>
  /** Completes a registration. */
  finish(browser: Browser, name: string, options: { challenge: string }): Promise<BrowserResponse>
  signIn(browser: Browser): Promise<BrowserResponse>
  /** Confirms the identity of the signed-in person. */
  confirm(browser: Browser): Promise<BrowserResponse>
  /** The signature of a challenge that the browser got. */
  signed(challenge: string): object
}

const post = (body: object = {}) => ({ method: 'POST', body })
const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest()
const bytesOf = (text = '') => Buffer.from(text, 'base64url')

/** `origin` is the public URL of the service: `http://parley.test` in a test server. */
export function newPasskey(origin = 'http://parley.test'): Passkey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = randomBytes(16)
  let counter = 0

  const clientData = (type: string, challenge: string) => Buffer.from(JSON.stringify({ type, challenge, origin }))
  const authenticatorData = (flags: number, more: Buffer = Buffer.alloc(0)) => {
    const rest = Buffer.alloc(5)
    rest.writeUInt8(flags)
    rest.writeUInt32BE(++counter, 1)
    return Buffer.concat([sha256(new URL(origin).hostname), rest, more])
  }
  const credential = (response: Record<string, Buffer>) => ({
    id: id.toString('base64url'),
    rawId: id.toString('base64url'),
    type: 'public-key',
    clientExtensionResults: {},
    response: Object.fromEntries(Object.entries(response).map(([name, bytes]) => [name, bytes.toString('base64url')])),
  })
  /** The credential ID, followed by the public key in COSE. */
  const attested = () => {
    const { x, y } = publicKey.export({ format: 'jwk' })
    const length = Buffer.from([0, id.length])
    const key = [Buffer.from('a5010203262001215820', 'hex'), bytesOf(x), Buffer.from('225820', 'hex')]
    return Buffer.concat([Buffer.alloc(16), length, id, ...key, bytesOf(y)])
  }
  /** `{ fmt: 'none', attStmt: {}, authData }` in CBOR. */
  const attestation = (data: Buffer) =>
    Buffer.concat([
      Buffer.from([0xa3, 0x63]),
      Buffer.from('fmt'),
      Buffer.from([0x64]),
      Buffer.from('none'),
      Buffer.from([0x67]),
      Buffer.from('attStmt'),
      Buffer.from([0xa0, 0x68]),
      Buffer.from('authData'),
      Buffer.from([0x58, data.length]),
      data,
    ])

  const passkey: Passkey = {
    register: async (browser, name) => passkey.finish(browser, name, await passkey.begin(browser)),
    begin: async (browser) => (await browser.call('/account/passkeys/options', { method: 'POST' })).body,
    finish(browser, name, { challenge }) {
      const response = credential({
        clientDataJSON: clientData('webauthn.create', challenge),
        attestationObject: attestation(authenticatorData(0x45, attested())),
      })
      return browser.call('/account/passkeys', post({ name, response }))
    },
    async signIn(browser) {
      const { challenge } = (await browser.call('/sign-in/passkey/options', { method: 'POST' })).body
      return browser.call('/sign-in/passkey', post({ response: passkey.signed(challenge) }))
    },
    async confirm(browser) {
      const { challenge } = (await browser.call('/confirm/passkey/options', { method: 'POST' })).body
      return browser.call('/confirm', post({ passkey: passkey.signed(challenge) }))
    },
    signed(challenge) {
      const client = clientData('webauthn.get', challenge)
      const data = authenticatorData(0x05)
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey)
      return credential({ clientDataJSON: client, authenticatorData: data, signature })
    },
  }
  return passkey
}
