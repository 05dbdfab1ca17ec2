import type { FileState } from '@parley/contract/flow-response'
import { useState } from 'react'
import { download } from '../../lib/download.ts'
import { formatBytes } from '../../lib/format.ts'
import { useAction } from '../../lib/use-action.ts'
import { Button } from '../../ui/button.tsx'
import { SafeText } from '../../ui/link.tsx'
import { FileStateBadge, plainName } from './file-state.tsx'
import styles from './files.module.css'
import { Picture } from './picture.tsx'

interface StoredFileProps {
  state: FileState
  /** The API paths that show and download it. */
  shows: string
  downloads: string
  /** What it is, for people who do not see it: "Received image". */
  alt: string
  /** The name of the downloaded file. */
  name: string
  /** Whether the name says something, as that of a document. */
  isNamed?: boolean
  /** Stickers are small and have no frame. */
  isSticker?: boolean
}

/**
 * A stored file: a picture, a player, or only a download. What is shown depends on the type that the service has checked;
 * browsers get no other, and run none of them.
 */
export function StoredFile({
  state,
  shows,
  downloads,
  alt,
  name,
  isNamed = false,
  isSticker = false,
}: StoredFileProps) {
  const [isBroken, setBroken] = useState(false)
  const fileName = plainName(name)
  const save = useAction(() => download(downloads, fileName))
  if (state.kind !== 'fetched') {
    return (
      <div className={styles.file}>
        {isNamed && <SafeText className="clip">{fileName}</SafeText>}
        <FileStateBadge state={state} />
      </div>
    )
  }
  const kind = isBroken ? 'other' : shownAs(state.content_type)
  const source = { src: `/console/api/${shows}`, onError: () => setBroken(true) }
  return (
    <div className={styles.file}>
      {kind === 'image' && <Picture alt={alt} isSticker={isSticker} {...source} />}
      {kind === 'audio' && <audio className={styles.player} controls preload="none" aria-label={alt} {...source} />}
      {kind === 'video' && <video className={styles.video} controls preload="metadata" aria-label={alt} {...source} />}
      {isBroken && <span className="small quiet">Your browser cannot show this file. Download it to open it.</span>}
      {(!isSticker || isBroken) && (
        <span className={styles.line}>
          {isNamed && <SafeText className="clip">{fileName}</SafeText>}
          <span className="small quiet">
            <bdi>{state.content_type}</bdi> · {formatBytes(state.size)}
          </span>
          <Button size="s" icon="download" busy={save.isPending} onClick={() => save.run()}>
            Download
          </Button>
        </span>
      )}
    </div>
  )
}

/** Only types that a browser shows or plays without running anything. */
function shownAs(contentType: string): 'image' | 'audio' | 'video' | 'other' {
  if (/^image\/(png|jpeg|webp|gif)$/.test(contentType)) return 'image'
  if (/^audio\/(aac|mpeg|mp4|ogg|opus|wav|webm)$/.test(contentType)) return 'audio'
  return /^video\/(mp4|3gpp|webm)$/.test(contentType) ? 'video' : 'other'
}
