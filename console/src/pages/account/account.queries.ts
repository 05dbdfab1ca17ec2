import type { PasskeyRow, SessionRow } from '@parley/contract/console/session'
import { type PublicKeyCredentialCreationOptionsJSON, startRegistration } from '@simplewebauthn/browser'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'
import type { List } from '../../lib/query.ts'

const paths = {
  twoFactor: 'account/two-factor',
  passkeys: 'account/passkeys',
  devices: 'account/sessions',
}

export const useTwoFactor = () =>
  useQuery({
    queryKey: [paths.twoFactor],
    queryFn: ({ signal }) => api<{ enabled: boolean; backup_codes_left: number }>(paths.twoFactor, { signal }),
  })

export const usePasskeys = () =>
  useQuery({
    queryKey: [paths.passkeys],
    queryFn: ({ signal }) => api<List<PasskeyRow>>(paths.passkeys, { signal }),
  })

export const useDevices = () =>
  useQuery({
    queryKey: [paths.devices],
    queryFn: ({ signal }) => api<List<SessionRow>>(paths.devices, { signal }),
  })

/** Asks anew for what a change may have touched, and who is signed in with it. */
export function useRenewAccount(): () => Promise<void> {
  const client = useQueryClient()
  return async () => {
    await Promise.all(
      [...Object.values(paths), 'session'].map((path) => client.invalidateQueries({ queryKey: [path] })),
    )
  }
}

export const rename = (name: string) => api<{ name: string }>('account', { method: 'PATCH', body: { name } })

export const changePassword = (current: string, next: string) =>
  api('account/password', { method: 'POST', body: { current, next } })

export interface NewAuthenticator {
  uri: string
  secret: string
  backup_codes: string[]
}

export const beginAuthenticator = () => api<NewAuthenticator>('account/totp', { method: 'POST' })
export const verifyAuthenticator = (code: string) => api('account/totp/verify', { method: 'POST', body: { code } })
export const endAuthenticator = () => api('account/totp/disable', { method: 'POST' })
export const renewBackupCodes = () => api<{ backup_codes: string[] }>('account/backup-codes', { method: 'POST' })

export async function addPasskey(name: string): Promise<PasskeyRow> {
  const optionsJSON = await api<PublicKeyCredentialCreationOptionsJSON>('account/passkeys/options', { method: 'POST' })
  const response = await startRegistration({ optionsJSON })
  return api<PasskeyRow>(paths.passkeys, { method: 'POST', body: { name, response } })
}

export const removePasskey = (id: string) => api(`${paths.passkeys}/${id}`, { method: 'DELETE' })
export const endDevice = (id: string) => api(`${paths.devices}/${id}`, { method: 'DELETE' })
export const endOtherDevices = () => api<{ ended: number }>(`${paths.devices}/revoke-others`, { method: 'POST' })
