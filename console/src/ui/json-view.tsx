import { isRawNumber, parseExactly } from '@parley/contract/exact-json'
import { type ReactNode, useState } from 'react'
import { CodeBlock } from './code-block.tsx'
import { CopyButton } from './copy-button.tsx'
import { Icon } from './icon.tsx'
import styles from './json-view.module.css'

/** JSON as a collapsible tree. Everything is text, so nothing in it can run. Invalid JSON is shown as it is. */
export function JsonView({
  value,
  title = 'JSON',
  openDepth = 3,
}: {
  value: unknown
  title?: string
  openDepth?: number
}) {
  const parsed = typeof value === 'string' ? parse(value) : { json: value }
  if (!parsed) return <CodeBlock code={String(value)} title={title} maxHeight={480} />
  const text = JSON.stringify(parsed.json, null, 2) ?? 'undefined'
  if (text.length > 100_000) return <CodeBlock code={text} title={title} maxHeight={480} />
  return (
    <figure className={styles.view}>
      <figcaption className={styles.bar}>
        <span>{title}</span>
        <CopyButton text={text} label={`Copy ${title}`} />
      </figcaption>
      <div className={`${styles.tree} mono`}>
        <Node value={parsed.json} depth={0} openDepth={openDepth} />
      </div>
    </figure>
  )
}

function Node({ name, value, depth, openDepth }: { name?: string; value: unknown; depth: number; openDepth: number }) {
  const entries = entriesOf(value)
  const [open, setOpen] = useState(depth < openDepth && (entries?.length ?? 0) <= 100)
  const label: ReactNode = name !== undefined && (
    <>
      <bdi className={styles.key}>{name}</bdi>
      <span className={styles.dim}>: </span>
    </>
  )
  if (!entries) {
    return (
      <div className={styles.leaf}>
        {label}
        <Leaf value={value} />
      </div>
    )
  }
  const [left, right] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  if (entries.length === 0) {
    return (
      <div className={styles.leaf}>
        {label}
        <span className={styles.dim}>
          {left}
          {right}
        </span>
      </div>
    )
  }
  return (
    <div>
      <button type="button" className={styles.fold} aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? 'chevronDown' : 'chevronRight'} size={11} className={styles.arrow} />
        {label}
        <span className={styles.dim}>{open ? left : `${left} ${entries.length} ${right}`}</span>
      </button>
      {open && (
        <>
          <div className={styles.inside}>
            {entries.map(([key, each]) => (
              <Node
                key={key}
                {...(Array.isArray(value) ? {} : { name: key })}
                value={each}
                depth={depth + 1}
                openDepth={openDepth}
              />
            ))}
          </div>
          <div className={`${styles.leaf} ${styles.dim}`}>{right}</div>
        </>
      )}
    </div>
  )
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value === 'string') return <bdi className={styles.string}>{visible(JSON.stringify(value))}</bdi>
  return <span className={styles.word}>{isRawNumber(value) ? value.rawJSON : String(value)}</span>
}

/** Escapes invisible characters and those that change the text direction, so that they can be seen. */
function visible(text: string): string {
  return text.replace(
    /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function entriesOf(value: unknown): [string, unknown][] | null {
  return typeof value === 'object' && value !== null && !isRawNumber(value) ? Object.entries(value) : null
}

function parse(text: string): { json: unknown } | null {
  try {
    return { json: parseExactly(text) }
  } catch {
    return null
  }
}
