import { useHere } from '../../lib/session.ts'
import { python, sdk, typescript, typescriptUse } from '../../parts/verify-snippets.ts'
import { CodeBlock, CodeTabs } from '../../ui/code-block.tsx'
import { PageLink } from '../../ui/link.tsx'
import { Notice } from '../../ui/states.tsx'
import styles from './docs.module.css'
import { SdkSource } from './sdk-source.tsx'
import { go, php, ruby } from './verifiers.ts'

/** The format of a delivery, how to verify its signature, and the delivery rules. */
export function WebhooksGuide() {
  const here = useHere()
  return (
    <div className={styles.text}>
      <p>
        Each event is sent as a POST request to the URL of every webhook subscribed to it. Anyone can send requests to a
        public URL, so verify the signature of every delivery and respond with a non-2xx status if it is invalid.
      </p>

      <h2>Request format</h2>
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
        <dd>The time of signing, in Unix seconds.</dd>
        <dt>
          <code>v1</code>
        </dt>
        <dd>
          The HMAC-SHA256 of <code>{'<t>.<raw body>'}</code> in lowercase hex. The key is the webhook’s full signing
          secret, including <code>whsec_</code>.
        </dd>
      </dl>

      <h2>Verify the signature</h2>
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
      <Notice tone="warn" title="Use the raw body.">
        The signature covers the exact bytes of the request body. Parsing and re-serializing JSON changes whitespace,
        key order or escapes, and verification fails. Read the raw body before any JSON parser does.
      </Notice>
      <ul>
        <li>Compare signatures in constant time, as in the code above. Other comparisons allow timing attacks.</li>
        <li>Reject timestamps more than 300 seconds in the past or future to prevent replay attacks.</li>
        <li>Keep your server’s clock in sync.</li>
      </ul>
      <p>
        A complete receiver in Node.js, next to the TypeScript code above in the file <code>verify-delivery.ts</code>:
      </p>
      <CodeBlock title="receiver.ts" language="js" code={typescriptUse} />
      <p>With the SDK it is one line, for Express, Fastify, Hono and any Fetch API server:</p>
      <CodeBlock language="js" code={sdk} />
      <SdkSource />

      <h2>Delivery rules</h2>
      <ul>
        <li>
          Respond with any 2xx status within <strong>10 seconds</strong>. Process the event after responding.
        </li>
        <li>
          An event may arrive <strong>more than once</strong>, always with the same <code>id</code>, which is also in{' '}
          <code>Service-Delivery</code>. Skip IDs you have already processed.
        </li>
        <li>
          Order is not guaranteed: “delivered” may arrive after “read”. Sort by <code>data.occurred_at</code>.
        </li>
        <li>
          A failed delivery is retried immediately, then after 10 seconds, 1 minute, 5 minutes, 30 minutes, 2 hours and
          6 hours. <PageLink to={here.path('deliveries')}>Deliveries</PageLink> shows every attempt with your response.
        </li>
        <li>
          After 20 consecutive failures, the webhook is disabled and its deliveries are held. Fix the cause and enable
          it under <PageLink to={here.path('webhooks')}>Webhooks</PageLink> to send them.
        </li>
        <li>
          A replay sends past events to a webhook again, or for the first time, with their own IDs. Its deliveries have
          the header <code>Service-Replay</code>.
        </li>
        <li>
          Rotating the secret takes effect immediately: deliveries that failed within the last hour are retried, signed
          with the new secret. In a staged rotation there are two <code>v1</code> signatures, with the old and the new
          secret, until you activate the new one. Accept a delivery if one of them matches.
        </li>
        <li>
          After five consecutive failures an endpoint gets one attempt at a time, two seconds apart, until one succeeds.
        </li>
      </ul>
    </div>
  )
}
