import { receivedEventSchemas } from '@parley/contract/events'
import { useHere } from '../../lib/session.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { PageLink } from '../../ui/link.tsx'
import styles from './docs.module.css'

/** Every event type: when it fires and an example payload. */
export function EventsList() {
  const here = useHere()
  return (
    <div className={styles.text}>
      <p>
        Every event has an <code>id</code>, a <code>type</code>, a <code>created_at</code> time and <code>data</code>.
        Choose the events for each webhook under <PageLink to={here.path('webhooks')}>Webhooks</PageLink>. Ignore event
        types and fields you don’t know: new ones may be added.
      </p>
      {Object.entries(receivedEventSchemas).map(([type, schema]) => {
        // JSON Schema keywords that TypeBox's static types do not include.
        const { description, examples } = schema as { description?: string; examples?: unknown[] }
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
