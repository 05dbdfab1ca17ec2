import { isRawNumber, parseExactly } from '@parley/contract/exact-json'
import { type ReactNode, useState } from 'react'
import { CodeBlock } from './code-block.tsx'
import { CopyButton } from './copy-button.tsx'
import { Icon } from './icon.tsx'
import { type FieldMark, marksBelow, missingIn, pathOf } from './json-marks.ts'
import styles from './json-view.module.css'

const noMarks: readonly FieldMark[] = []

/**
 * JSON as a collapsible tree. Everything is text, so nothing in it can run. Invalid JSON is shown as it is. `marks` are
 * shown next to their fields; a field that is missing is added.
 */
export function JsonView({
  value,
  title = 'JSON',
  openDepth = 3,
  marks = noMarks,
}: {
  value: unknown
  title?: string
  openDepth?: number
  marks?: readonly FieldMark[]
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
        <Node value={parsed.json} path="" depth={0} openDepth={openDepth} marks={marks} />
      </div>
    </figure>
  )
}

interface NodeProps {
  name?: string
  value: unknown
  path: string
  depth: number
  openDepth: number
  marks: readonly FieldMark[]
}

function Node({ name, value, path, depth, openDepth, marks }: NodeProps) {
  const entries = entriesOf(value)
  const below = marksBelow(path, marks)
  const mark = path === '' ? undefined : marks.find(({ param }) => param === path)
  const [open, setOpen] = useState((depth < openDepth && (entries?.length ?? 0) <= 100) || below.length > 0)
  const label: ReactNode = name !== undefined && (
    <>
      <bdi className={styles.key}>{name}</bdi>
      <span className={styles.dim}>: </span>
    </>
  )
  if (!entries) {
    return (
      <div className={`${styles.leaf} ${mark ? styles.marked : ''}`}>
        {label}
        <Leaf value={value} />
        <MarkText mark={mark} />
      </div>
    )
  }
  const [left, right] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const missing = missingIn(
    entries.map(([key]) => pathOf(path, key)),
    below,
  )
  if (entries.length === 0 && missing.length === 0) {
    return (
      <div className={`${styles.leaf} ${mark ? styles.marked : ''}`}>
        {label}
        <span className={styles.dim}>
          {left}
          {right}
        </span>
        <MarkText mark={mark} />
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
      {mark && (
        <div className={`${styles.leaf} ${styles.marked}`}>
          <MarkText mark={mark} />
        </div>
      )}
      {open && (
        <>
          <div className={styles.inside}>
            {entries.map(([key, each]) => (
              <Node
                key={key}
                {...(Array.isArray(value) ? {} : { name: key })}
                value={each}
                path={pathOf(path, key)}
                depth={depth + 1}
                openDepth={openDepth}
                marks={below}
              />
            ))}
            {missing.map((each) => (
              <div key={each.param} className={`${styles.leaf} ${styles.marked}`}>
                <bdi className={styles.key}>{path === '' ? each.param : each.param.slice(path.length + 1)}</bdi>
                <span className={styles.dim}>: missing</span>
                <MarkText mark={each} />
              </div>
            ))}
          </div>
          <div className={`${styles.leaf} ${styles.dim}`}>{right}</div>
        </>
      )}
    </div>
  )
}

function MarkText({ mark }: { mark: FieldMark | undefined }) {
  if (!mark) return null
  return (
    <span className={styles.mark}>
      <Icon name="warning" size={11} />
      <bdi>{mark.message}</bdi>
    </span>
  )
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value === 'string') return <bdi className={styles.string}>{visible(JSON.stringify(value))}</bdi>
  return <span className={styles.word}>{isRawNumber(value) ? value.rawJSON : String(value)}</span>
}

/** Escapes invisible and direction-changing characters, so that they can be seen. */
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
