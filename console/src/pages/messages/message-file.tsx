import type { ListedMessage } from '@parley/contract/console/messages'
import { useState } from 'react'
import { download } from '../../lib/download.ts'
import { formatBytes } from '../../lib/format.ts'
import { useHere } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import { FileStateBadge, plainName } from '../../parts/file-state.tsx'
import { Button } from '../../ui/button.tsx'
import { SafeText } from '../../ui/link.tsx'
import styles from './messages.module.css'

interface MessageFileProps {
  message: Pick<ListedMessage, 'id' | 'type' | 'file'>
  /** The name of a document. */
  name?: string | null
}

/**
 * The file of an inbound message: a picture, a player, or only a download. What is shown depends on the type that the
 * service has checked; browsers get no other, and run none of them.
 */
export function MessageFile({ message: { id, type, file }, name = null }: MessageFileProps) {
  const here = useHere()
  const [isBroken, setBroken] = useState(false)
  const fileName = plainName(name ?? type)
  const save = useAction(() => download(here.api(`messages/${id}/file`), fileName))
  if (!file) return null
  if (file.kind !== 'fetched') {
    return (
      <div className={styles.file}>
        <FileStateBadge state={file} />
      </div>
    )
  }
  const kind = isBroken ? 'other' : shownAs(file.content_type)
  const source = { src: `/console/api/${here.api(`messages/${id}/media`)}`, onError: () => setBroken(true) }
  return (
    <div className={styles.file}>
      {kind === 'image' && <img className={styles.picture} loading="lazy" alt={`Received ${type}`} {...source} />}
      {kind === 'audio' && (
        <audio className={styles.player} controls preload="none" aria-label={`Received ${type}`} {...source} />
      )}
      {kind === 'video' && (
        <video className={styles.picture} controls preload="metadata" aria-label={`Received ${type}`} {...source} />
      )}
      <span className={styles.fileLine}>
        {name !== null && <SafeText className="clip">{fileName}</SafeText>}
        <span className="small quiet">
          <bdi>{file.content_type}</bdi> · {formatBytes(file.size)}
        </span>
        <Button size="s" icon="download" busy={save.isPending} onClick={() => save.run()}>
          Download
        </Button>
      </span>
    </div>
  )
}

/** Only types that a browser shows or plays without running anything. */
function shownAs(contentType: string): 'image' | 'audio' | 'video' | 'other' {
  if (/^image\/(png|jpeg|webp|gif)$/.test(contentType)) return 'image'
  if (/^audio\/(aac|mpeg|mp4|ogg|opus|wav|webm)$/.test(contentType)) return 'audio'
  return /^video\/(mp4|3gpp|webm)$/.test(contentType) ? 'video' : 'other'
}
