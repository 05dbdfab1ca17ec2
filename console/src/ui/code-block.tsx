import { useId, useState } from 'react'
import styles from './code-block.module.css'
import { CopyButton } from './copy-button.tsx'
import { type Language, tokensOf } from './highlight.ts'

interface CodeBlockProps {
  code: string
  language?: Language
  /** Above the code, in place of tabs: a file name, "Request body". */
  title?: string
  maxHeight?: number
}

/** Code with a copy button. */
export function CodeBlock({ code, language = 'plain', title, maxHeight }: CodeBlockProps) {
  return (
    <figure className={styles.block}>
      {title && (
        <figcaption className={styles.bar}>
          <span className={styles.name}>{title}</span>
          <CopyButton text={code} label={`Copy ${title}`} />
        </figcaption>
      )}
      <Code code={code} language={language} maxHeight={maxHeight} />
      {!title && (
        <div className={styles.corner}>
          <CopyButton text={code} label="Copy code" />
        </div>
      )}
    </figure>
  )
}

export interface Snippet {
  title: string
  code: string
  language?: Language
}

/** The same example in several languages. */
export function CodeTabs({ snippets, label = 'Example' }: { snippets: readonly Snippet[]; label?: string }) {
  const [chosen, setChosen] = useState(0)
  const id = useId()
  const snippet = snippets[chosen] ?? snippets[0]
  if (!snippet) return null
  const onKey = (key: string) => {
    const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    const next = (chosen + step + snippets.length) % snippets.length
    setChosen(next)
    document.getElementById(`${id}${next}`)?.focus()
  }
  return (
    <figure className={styles.block}>
      <div className={styles.bar}>
        <div role="tablist" aria-label={label} className={styles.tabs}>
          {snippets.map(({ title }, index) => (
            <button
              key={title}
              id={`${id}${index}`}
              type="button"
              role="tab"
              aria-selected={index === chosen}
              aria-controls={`${id}panel`}
              tabIndex={index === chosen ? 0 : -1}
              className={styles.tab}
              onClick={() => setChosen(index)}
              onKeyDown={(event) => onKey(event.key)}
            >
              {title}
            </button>
          ))}
        </div>
        <CopyButton text={snippet.code} label="Copy code" />
      </div>
      <div role="tabpanel" id={`${id}panel`} aria-labelledby={`${id}${chosen}`}>
        <Code code={snippet.code} language={snippet.language ?? 'plain'} />
      </div>
    </figure>
  )
}

function Code({ code, language, maxHeight }: { code: string; language: Language; maxHeight?: number | undefined }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
    <pre className={styles.code} style={{ maxHeight }} tabIndex={0}>
      <code>
        {tokensOf(code, language).map(({ kind, text }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no other key than their position
          <span key={index} className={kind && styles[kind]}>
            {text}
          </span>
        ))}
      </code>
    </pre>
  )
}
