import { eventSchemas, eventTypes } from '@parley/contract/events'
import { useHere } from '../../lib/session.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { PageLink } from '../../ui/link.tsx'
import styles from './docs.module.css'

/** Every event, when it fires, and how it looks. */
export function EventsList() {
  const here = useHere()
  return (
    <div className={styles.text}>
      <p>
        Every event has an <code>id</code>, a <code>type</code>, the time it was <code>created_at</code>, and{' '}
        <code>data</code>. Which of them an endpoint gets is chosen under{' '}
        <PageLink to={here.path('webhooks')}>Webhooks</PageLink>. Ignore types and fields you do not know: both can be
        added.
      </p>
      {eventTypes.map((type) => {
        // Schemas carry their words and samples as JSON Schema does; the types do not tell.
        const { description, examples } = eventSchemas[type] as { description?: string; examples?: unknown[] }
        return (
          <section key={type} id={type} className={styles.entry} aria-labelledby={`${type}-title`}>
            <h3 id={`${type}-title`} className="mono">
              {type}
            </h3>
            <p>{description}</p>
            <CodeBlock language="json" code={JSON.stringify(examples?.[0], null, 2)} maxHeight={420} />
          </section>
        )
      })}
    </div>
  )
}
