import type { MailChoice, MailChoices } from '@parley/contract/console/notifications'
import type { PasskeyRow, SessionRow } from '@parley/contract/console/session'
import { type PublicKeyCredentialCreationOptionsJSON, startRegistration } from '@simplewebauthn/browser'
import type { Send } from '../../lib/api.ts'
import { plural } from '../../lib/format.ts'
import { type List, useData } from '../../lib/query.ts'
import { useAction } from '../../lib/use-action.ts'

const passkeys = 'account/passkeys'
const devices = 'account/sessions'

export const useTwoFactor = () => useData<{ enabled: boolean; backup_codes_left: number }>('account/two-factor')
export const usePasskeys = () => useData<List<PasskeyRow>>(passkeys)
export const useDevices = () => useData<List<SessionRow>>(devices)

/** An action on your own account. Refetches the account and the session, which holds the name and two-factor status. */
const useAccountAction = <Input = void, Result = unknown>(
  perform: (send: Send, input: Input) => Promise<Result>,
  done?: string | ((result: Result) => string),
) => useAction(perform, { refetch: ['account', 'session'], ...(done ? { done } : {}) })

export const useNotifications = () => useData<MailChoices>('account/notifications')

export const useChangeNotification = () =>
  useAccountAction((send, choice: MailChoice) => send<MailChoices>('PATCH', 'account/notifications', choice))

export const useRename = () =>
  useAccountAction((send, name: string) => send<{ name: string }>('PATCH', 'account', { name }), 'Name saved')

export const useChangeTimeZone = () =>
  useAccountAction(
    (send, timeZone: string | null) => send('PUT', 'account/time-zone', { time_zone: timeZone }),
    'Time zone saved',
  )

export const useChangePassword = () =>
  useAccountAction(
    (send, passwords: { current: string; next: string }) => send('POST', 'account/password', passwords),
    'Password changed. Your other devices were signed out.',
  )

export interface NewAuthenticator {
  uri: string
  secret: string
  backup_codes: string[]
}

export const useBeginAuthenticator = () => useAction((send) => send<NewAuthenticator>('POST', 'account/totp'))

export const useVerifyAuthenticator = () =>
  useAccountAction((send, code: string) => send('POST', 'account/totp/verify', { code }))

export const useEndAuthenticator = () =>
  useAccountAction((send) => send('POST', 'account/totp/disable'), 'Authenticator app turned off')

export const useRenewBackupCodes = () =>
  useAccountAction((send) => send<{ backup_codes: string[] }>('POST', 'account/backup-codes'))

export const useAddPasskey = () =>
  useAccountAction(async (send, name: string) => {
    const optionsJSON = await send<PublicKeyCredentialCreationOptionsJSON>('POST', `${passkeys}/options`)
    const response = await startRegistration({ optionsJSON })
    return send<PasskeyRow>('POST', passkeys, { name, response })
  }, 'Passkey added')

export const useRemovePasskey = () =>
  useAccountAction((send, id: string) => send('DELETE', `${passkeys}/${id}`), 'Passkey removed')

export const useEndDevice = () =>
  useAccountAction((send, id: string) => send('DELETE', `${devices}/${id}`), 'Device signed out')

export const useEndOtherDevices = () =>
  useAccountAction(
    (send) => send<{ ended: number }>('POST', `${devices}/revoke-others`),
    ({ ended }) => `${plural(ended, 'device')} signed out`,
  )
