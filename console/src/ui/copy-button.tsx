import { useEffect, useState } from 'react'
import { toast } from '../lib/toasts.ts'
import { Button, IconButton } from './button.tsx'
import styles from './copy-button.module.css'
import { announce } from './live-region.tsx'

/** Copies `text`. An icon, or with children a button. Shows and announces "Copied". */
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

/** An ID that is copied when clicked; `short` shortens it in the middle, `shown` is what people read instead. */
export function CopyId({ id, short = false, shown }: { id: string; short?: boolean; shown?: string }) {
  const [copied, copy] = useCopy(id)
  const text = shown ?? (short && id.length > 16 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id)
  return (
    <button
      type="button"
      className={`${styles.id} ${shown === undefined ? 'mono' : 'numbers'}`}
      title={copied ? 'Copied' : `Copy ${id}`}
      onClick={(event) => {
        event.stopPropagation()
        copy()
      }}
    >
      {copied ? 'Copied' : text}
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
      () => toast.failed('Copying failed. Select the text and copy it yourself.'),
    )
  }
  return [copied, copy]
}

/** The Clipboard API needs HTTPS or localhost. Elsewhere, copy from a hidden field. */
async function writeToClipboard(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const field = document.createElement('textarea')
  field.value = text
  field.style.position = 'fixed'
  field.style.opacity = '0'
  const host = [...document.querySelectorAll('[aria-modal="true"]')].at(-1) ?? document.body
  host.append(field)
  field.select()
  const done = document.execCommand('copy')
  field.remove()
  if (!done) throw new Error('not copied')
}
