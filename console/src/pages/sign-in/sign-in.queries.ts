import type { NextStep, SignInReply } from '@parley/contract/console/session'
import { ApiError, errorMessage } from '../../lib/api.ts'
import { signByPasskey } from '../../lib/passkey.ts'
import { useData } from '../../lib/query.ts'
import { useAction } from '../../lib/use-action.ts'

/** Whether there is an account, the address that passkeys are for, and whether emails are sent. */
export const useSignInPage = () => useData<SignInReply>('sign-in', { staleTime: 60_000 })

export const useSignIn = () =>
  useAction((send, credentials: { email: string; password: string }) => send<NextStep>('POST', 'sign-in', credentials))

export const useAskForReset = () => useAction((send, email: string) => send('POST', 'sign-in/reset', { email }))

export const useEnterCode = () =>
  useAction((send, code: { code: string; kind: 'totp' | 'backup' }) => send<NextStep>('POST', 'sign-in/code', code))

export const useSignInWithPasskey = () =>
  useAction(async (send) => {
    const response = await signByPasskey(send, 'sign-in/passkey/options')
    return send<NextStep>('POST', 'sign-in/passkey', { response })
  })

/** The message for a failed sign-in. It reveals no more than the server's response does. */
export function signInError(error: unknown, wrong: string): string {
  if (!(error instanceof ApiError)) return errorMessage(error)
  if (error.code === 'wrong_credentials') return wrong
  if (error.code !== 'too_many_attempts') return error.message
  const seconds = Number(error.details.retry_after ?? 60)
  const wait = seconds > 90 ? `${Math.ceil(seconds / 60)} minutes` : `${seconds} seconds`
  return `Too many attempts. Try again in ${wait}.`
}
