import { useHere } from '../../lib/session.ts'
import { go, php, python, ruby, sdk, typescript, typescriptUse } from '../../parts/verify-snippets.ts'
import { CodeBlock, CodeTabs } from '../../ui/code-block.tsx'
import { PageLink } from '../../ui/link.tsx'
import { Notice } from '../../ui/states.tsx'
import styles from './docs.module.css'

/** How deliveries look, and how a receiver knows that they are ours. */
export function WebhooksGuide() {
  const here = useHere()
  return (
    <div className={styles.text}>
      <p>
        An event is posted to each endpoint that listens to it. Anybody can post to a public address: verify the
        signature of every delivery, and answer with something other than 2xx when it does not hold.
      </p>

      <h2>What arrives</h2>
      <CodeBlock
        language="http"
        code={`POST /hooks/parley HTTP/1.1
Content-Type: application/json
Service-Signature: t=1786000000,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd
Service-Event: message.delivered
Service-Delivery: 2f1e0d9c-8b7a-4695-8473-625140fedcba`}
      />
      <dl className={styles.facts}>
        <dt>
          <code>t</code>
        </dt>
        <dd>When it was signed, in Unix seconds.</dd>
        <dt>
          <code>v1</code>
        </dt>
        <dd>
          The lowercase hex HMAC-SHA256 of <code>{'<t>.<raw body>'}</code>, keyed with the endpoint’s signing secret,
          all of it, <code>whsec_</code> included.
        </dd>
      </dl>

      <h2>Verify it</h2>
      <CodeTabs
        label="Verify a delivery"
        snippets={[
          { title: 'TypeScript', code: typescript, language: 'js' },
          { title: 'Python', code: python, language: 'python' },
          { title: 'PHP', code: php, language: 'js' },
          { title: 'Go', code: go, language: 'js' },
          { title: 'Ruby', code: ruby, language: 'python' },
        ]}
      />
      <Notice tone="warn" title="The raw body.">
        The signature is over the bytes that came. A body that was parsed and written again differs in spaces, order or
        escapes, and does not verify. Read it before any JSON parser does.
      </Notice>
      <ul>
        <li>
          Compare in constant time, as the code above does; a plain comparison tells an attacker how far they got.
        </li>
        <li>Refuse what was signed more than 300 seconds ago or ahead, so that nobody replays an old delivery.</li>
        <li>Keep the receiver’s clock right.</li>
      </ul>
      <CodeBlock title="A whole receiver, in Node" language="js" code={typescriptUse} />
      <p>With the SDK it is one line, for Express, Fastify, Hono and anything that speaks fetch:</p>
      <CodeBlock language="js" code={sdk} />

      <h2>Rules of delivery</h2>
      <ul>
        <li>
          Answer any 2xx within <strong>ten seconds</strong>, first of all; work on the event afterwards.
        </li>
        <li>
          The same event may come <strong>more than once</strong>, always under the same <code>id</code>, which is also
          in <code>Service-Delivery</code>. Skip an id you have seen.
        </li>
        <li>
          Order is not guaranteed: “delivered” may come after “read”. Go by <code>data.occurred_at</code>.
        </li>
        <li>
          A delivery that fails is tried again at once, then after 10 seconds, 1 minute, 5 minutes, 30 minutes, 2 hours
          and 6 hours. Every attempt is under <PageLink to={here.path('deliveries')}>Deliveries</PageLink>, with your
          answer.
        </li>
        <li>
          After twenty failures in a row the endpoint is disabled and its deliveries are held. Enable it under{' '}
          <PageLink to={here.path('webhooks')}>Webhooks</PageLink> once the cause is gone; they go out then.
        </li>
        <li>
          A new secret replaces the old one at once. What failed meanwhile is tried again, signed with the new one.
        </li>
      </ul>
    </div>
  )
}
