import type { ListedMessage } from '@parley/contract/console/messages'
import { useHere } from '../../lib/session.ts'
import { StoredFile } from './stored-file.tsx'

interface MessageFileProps {
  message: Pick<ListedMessage, 'id' | 'type' | 'file' | 'preview'>
  /** The name of a document. */
  name?: string | null
  /** Whether it is a voice message. */
  isVoice?: boolean
}

/** The file of an inbound message. */
export function MessageFile({ message: { id, type, file, preview }, name = null, isVoice = false }: MessageFileProps) {
  const here = useHere()
  if (!file) return null
  const kind = isVoice ? 'voice message' : type
  const caption = type === 'image' || type === 'video' ? preview : name
  return (
    <StoredFile
      state={file}
      shows={here.api(`messages/${id}/media`)}
      downloads={here.api(`messages/${id}/file`)}
      alt={caption ? `Received ${kind}: ${caption}` : `Received ${kind}`}
      name={name ?? type}
      isNamed={name !== null}
      isSticker={type === 'sticker'}
    />
  )
}
