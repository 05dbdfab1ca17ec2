import type { NextStep } from '@parley/contract/console/session'
import { type PublicKeyCredentialRequestOptionsJSON, startAuthentication } from '@simplewebauthn/browser'
import { ApiError, api, wordsOf } from '../../lib/api.ts'

export const signIn = (email: string, password: string) =>
  api<NextStep>('sign-in', { method: 'POST', body: { email, password } })

export const enterCode = (code: string, kind: 'totp' | 'backup') =>
  api<NextStep>('sign-in/code', { method: 'POST', body: { code, kind } })

export async function signInWithPasskey(): Promise<NextStep> {
  const optionsJSON = await api<PublicKeyCredentialRequestOptionsJSON>('sign-in/passkey/options', { method: 'POST' })
  const response = await startAuthentication({ optionsJSON })
  return api<NextStep>('sign-in/passkey', { method: 'POST', body: { response } })
}

/** What to say when signing in did not work, never more than the service says. */
export function refusalWords(error: unknown, wrong: string): string {
  if (!(error instanceof ApiError)) return wordsOf(error)
  if (error.code === 'wrong_credentials') return wrong
  if (error.code !== 'too_many_tries') return error.message
  const seconds = Number(error.details.retry_after ?? 60)
  const wait = seconds > 90 ? `${Math.ceil(seconds / 60)} minutes` : `${seconds} seconds`
  return `Too many tries. Wait ${wait}, then try again.`
}

/** A passkey dialog that the person closed is no failure. */
export const wasCancelled = (error: unknown) =>
  error instanceof Error && (error.name === 'NotAllowedError' || error.name === 'AbortError')
