import type { ListedMessage } from '@parley/contract/console/messages'
import { useHere } from '../../lib/session.ts'
import { StoredFile } from './stored-file.tsx'

interface MessageFileProps {
  message: Pick<ListedMessage, 'id' | 'type' | 'file' | 'preview' | 'direction'>
  /** The name of a document. */
  name?: string | null
  /** Whether it is a voice message. */
  isVoice?: boolean
}

/** The file of a message. Of sent ones, only uploaded files are stored. */
export function MessageFile({ message, name = null, isVoice = false }: MessageFileProps) {
  const here = useHere()
  const { id, type, file, preview, direction } = message
  if (!file) return null
  const verb = direction === 'sent' ? 'Sent' : 'Received'
  const kind = isVoice ? 'voice message' : type
  const caption = type === 'image' || type === 'video' ? preview : name
  return (
    <StoredFile
      state={file}
      shows={here.api(`messages/${id}/media`)}
      downloads={here.api(`messages/${id}/file`)}
      alt={caption ? `${verb} ${kind}: ${caption}` : `${verb} ${kind}`}
      name={name ?? type}
      isNamed={name !== null}
      isSticker={type === 'sticker'}
    />
  )
}
