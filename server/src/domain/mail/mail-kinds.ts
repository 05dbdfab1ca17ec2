/** The emails that Parley sends, with what their texts need. IDs are those of the API and the console. */
interface OfWorkspace {
  workspace_id: string
  /** Its name. */
  workspace: string
}

export interface MailData {
  invitation: { workspace: string; inviter: string; role: string; expires_at: string }
  password_reset: { expires_at: string }
  webhook_failing: OfWorkspace & { webhook_id: string; name: string; failures: number; failing_since: string | null }
  webhook_disabled: OfWorkspace & { webhook_id: string; name: string; reason: string }
  credits_low: OfWorkspace & { balance: number; threshold: number }
  key_expiring: OfWorkspace & { key_id: string; name: string; expires_at: string }
  token_expiring: OfWorkspace & { connection_id: string; waba_id: string; expires_at: string }
}

export type MailKind = keyof MailData

/** Of other kinds, which a newer version may add, the rows are left to processes of that version. */
export const mailKinds = [
  'invitation',
  'password_reset',
  'webhook_failing',
  'webhook_disabled',
  'credits_low',
  'key_expiring',
  'token_expiring',
] as const satisfies readonly MailKind[]

export type MailContent = { [Kind in MailKind]: { kind: Kind; data: MailData[Kind] } }[MailKind]
