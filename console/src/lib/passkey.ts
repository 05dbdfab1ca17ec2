import { type PublicKeyCredentialRequestOptionsJSON, startAuthentication } from '@simplewebauthn/browser'
import type { Send } from './api.ts'

/** Asks the browser for a signature by a passkey. `options` is the path of the challenge. */
export const signByPasskey = async (send: Send, options: string) =>
  startAuthentication({ optionsJSON: await send<PublicKeyCredentialRequestOptionsJSON>('POST', options) })

/** Closing the browser's passkey dialog is not an error. */
export const wasCancelled = (error: unknown) =>
  error instanceof Error && (error.name === 'NotAllowedError' || error.name === 'AbortError')
