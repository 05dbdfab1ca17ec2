import { useEffect, useState } from 'react'
import { Button, IconButton } from './button.tsx'
import styles from './copy-button.module.css'
import { announce } from './live-region.tsx'

/** Copies `text`; an icon alone, or a button when it has words. It says "Copied" to eyes and ears. */
export function CopyButton({ text, label = 'Copy', children }: { text: string; label?: string; children?: string }) {
  const [copied, copy] = useCopy(text)
  if (children) {
    return (
      <Button icon={copied ? 'check' : 'copy'} onClick={copy}>
        {copied ? 'Copied' : children}
      </Button>
    )
  }
  return <IconButton icon={copied ? 'check' : 'copy'} label={copied ? 'Copied' : label} onClick={copy} />
}

/** An id in mono that is copied by a press on it; shortened in the middle where `short`. */
export function CopyId({ id, short = false }: { id: string; short?: boolean }) {
  const [copied, copy] = useCopy(id)
  const shown = short && id.length > 16 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id
  return (
    <button
      type="button"
      className={`${styles.id} mono`}
      title={copied ? 'Copied' : `Copy ${id}`}
      onClick={(event) => {
        event.stopPropagation()
        copy()
      }}
    >
      {copied ? 'Copied' : shown}
    </button>
  )
}

function useCopy(text: string): [boolean, () => void] {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1600)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = () => {
    writeToClipboard(text).then(
      () => {
        setCopied(true)
        announce('Copied')
      },
      () => announce('Could not copy; select the text and copy it by hand'),
    )
  }
  return [copied, copy]
}

/** The clipboard of the browser needs https or localhost; elsewhere a hidden field does it. */
async function writeToClipboard(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const field = document.createElement('textarea')
  field.value = text
  field.style.position = 'fixed'
  field.style.opacity = '0'
  const host = document.querySelector('[role="dialog"]') ?? document.body
  host.append(field)
  field.select()
  const done = document.execCommand('copy')
  field.remove()
  if (!done) throw new Error('not copied')
}
