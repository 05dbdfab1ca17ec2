import { type ErrorCode, errorCatalogue, errorCodes } from '@parley/contract/errors'
import { useLocation } from '@tanstack/react-router'
import { useState } from 'react'
import { useHere } from '../../lib/session.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CopyId } from '../../ui/copy-button.tsx'
import { PageLink } from '../../ui/link.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { HttpBadge } from '../../ui/status-badge.tsx'
import styles from './docs.module.css'

const sample = {
  error: {
    type: 'permission_error',
    code: 'insufficient_scope',
    message: "This key lacks the scope 'webhooks:read'.",
    request_id: 'req_0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d',
    doc_url: '…/docs/errors#insufficient_scope',
    details: { required_scope: 'webhooks:read', granted_scopes: ['messages:send'] },
  },
}

/** Every error code with its cause and fix. */
export function ErrorsList() {
  const here = useHere()
  const { hash } = useLocation()
  const [text, setText] = useState('')
  const found = errorCodes.filter((code) => matches(code, text))
  return (
    <div className={styles.text}>
      <p>
        Every error response has this shape. Branch on <code>code</code>: its meaning never changes.{' '}
        <code>message</code> is for people and may change. <PageLink to={here.path('api-errors')}>API errors</PageLink>{' '}
        groups the failed requests of this workspace by code.
      </p>
      <CodeBlock language="json" code={JSON.stringify(sample, null, 2)} />
      <SearchInput label="Search error codes" value={text} onChange={setText} placeholder="Code, status or text" />
      <div>
        {found.map((code) => {
          const { status, title, cause, remedy } = errorCatalogue[code]
          return (
            <section
              key={code}
              id={code}
              className={`${styles.entry} ${hash === code ? styles.here : ''}`}
              aria-labelledby={`${code}-title`}
            >
              <h3 id={`${code}-title`}>
                <CopyId id={code} /> <HttpBadge status={status} />
              </h3>
              <p>
                <strong>{title}.</strong> {cause}
              </p>
              <p>{remedy}</p>
            </section>
          )
        })}
        {found.length === 0 && <p className="quiet">No error codes match “{text}”.</p>}
      </div>
    </div>
  )
}

function matches(code: ErrorCode, text: string): boolean {
  const { status, title, cause, remedy } = errorCatalogue[code]
  return `${code} ${status} ${title} ${cause} ${remedy}`.toLowerCase().includes(text.trim().toLowerCase())
}
