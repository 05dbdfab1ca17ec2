import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser'
import type { Send } from './api.ts'

/** Asks the browser for a signature by a passkey. `options` is the path of the challenge. */
export async function signByPasskey(send: Send, options: string) {
  const [{ startAuthentication }, optionsJSON] = await Promise.all([
    // Loaded when it is needed: few sign in with a passkey.
    import('@simplewebauthn/browser'),
    send<PublicKeyCredentialRequestOptionsJSON>('POST', options),
  ])
  return startAuthentication({ optionsJSON })
}

/** Closing the browser's passkey dialog is not an error. */
export const wasCancelled = (error: unknown) =>
  error instanceof Error && (error.name === 'NotAllowedError' || error.name === 'AbortError')

export interface PasskeyObstacle {
  reason: string
  /** The address at which passkeys work, if there is one. */
  url: string | null
}

/**
 * Why passkeys cannot be used here, or null. They are for one host name, that of PUBLIC_URL, and browsers allow them only
 * with HTTPS or on localhost.
 */
export function passkeyObstacle(
  publicUrl: string,
  { origin = location.origin, isSupported = 'PublicKeyCredential' in globalThis } = {},
): PasskeyObstacle | null {
  const { hostname, protocol, origin: right } = new URL(publicUrl)
  if (/^[\d.]+$|^\[/.test(hostname)) {
    const example = right.replace(hostname, 'localhost')
    return {
      reason: `Passkeys need a host name, and this console runs at ${hostname}. Ask the operator to set PUBLIC_URL to an address with a host name, such as ${example}.`,
      url: null,
    }
  }
  if (protocol !== 'https:' && hostname !== 'localhost' && !hostname.endsWith('.localhost')) {
    return { reason: 'Passkeys need HTTPS. Ask the operator to set it up.', url: null }
  }
  if (origin !== right) return { reason: 'Passkeys work only at another address of this console:', url: right }
  if (!isSupported) {
    return { reason: 'This browser does not support passkeys. Try a newer browser or another device.', url: null }
  }
  return null
}
