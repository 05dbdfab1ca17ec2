import { useState } from 'react'
import { Dialog } from '../../ui/dialog.tsx'
import styles from './files.module.css'

interface PictureProps {
  src: string
  alt: string
  isSticker?: boolean
  onError?: () => void
}

/** A thumbnail of fixed height, so that nothing moves when it is loaded. A click opens the picture in a dialog. */
export function Picture({ src, alt, isSticker = false, onError }: PictureProps) {
  const [isOpen, setOpen] = useState(false)
  if (isSticker) return <img className={styles.sticker} loading="lazy" src={src} alt={alt} onError={onError} />
  return (
    <>
      <button
        type="button"
        className={styles.thumbnail}
        aria-label={`Open larger: ${alt}`}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        <img loading="lazy" src={src} alt={alt} onError={onError} />
      </button>
      {isOpen && (
        <Dialog title={alt} size="l" onClose={() => setOpen(false)}>
          <img className={styles.large} src={src} alt={alt} />
        </Dialog>
      )}
    </>
  )
}
