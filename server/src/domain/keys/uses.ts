import type { RecordedKeys } from '../requests/recorder.ts'
import { keysWithHints, saveUses } from './keys.sql.ts'

/** Rejected requests do not count as a use of the key. Its plot by day and the API errors page show them. */
const rejectedCodes: ReadonlySet<string> = new Set([
  'invalid_key',
  'key_revoked',
  'key_expired',
  'workspace_suspended',
  'ip_not_allowed',
])

export const recordedKeys: RecordedKeys = {
  isUse: (code) => code === null || !rejectedCodes.has(code),
  saveUses,
  withHints: keysWithHints,
}
