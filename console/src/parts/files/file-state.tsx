import { type FileLoss, type FileState, quotaExceeded } from '@parley/contract/flow-response'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { TimeAgo } from '../../ui/time.tsx'

const losses: Readonly<Record<FileLoss, string>> = {
  missing: 'Deleted by WhatsApp',
  wrong_hash: 'Checksum mismatch',
  too_large: 'Too large to store',
  too_late: 'Download timed out',
  quota_exceeded: 'Storage quota exceeded',
  retention: 'Deleted after the retention period',
}

/** Why a file cannot be shown. Nothing for a file that is stored. */
export function FileStateBadge({ state }: { state: FileState }) {
  if (state.kind === 'fetched') return null
  if (state.kind === 'gone') return <StatusBadge status="gone" word={losses[state.why]} tone="bad" />
  if (state.last_error === quotaExceeded) {
    return (
      <span className="small quiet">
        <StatusBadge status="pending" word="Storage quota exceeded" tone="warn" /> downloaded when there is space
      </span>
    )
  }
  return (
    <span className="small quiet">
      <StatusBadge status="pending" word="Downloading" /> {state.attempts > 0 && <>next attempt </>}
      {state.attempts > 0 && <TimeAgo at={state.next_try_at} />}
    </span>
  )
}

/** Without path separators, control and format characters, which could disguise the name. */
export const plainName = (name: string) => name.replaceAll(/[\p{Cc}\p{Cf}]/gu, '').replaceAll(/[/\\]/g, '_') || 'file'
